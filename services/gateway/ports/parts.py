"""The state of everything that the gateway works with."""

from typing import Protocol

from services.shared.contracts.health import PartHealth


class Parts(Protocol):
    """The state of everything that the gateway works with."""

    async def look(self) -> dict[str, PartHealth]:
        """Each part by its name."""
        ...
