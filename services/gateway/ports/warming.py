"""What has a model to load."""

from typing import Protocol

from services.shared.contracts.health import PartHealth


class Warmed(Protocol):
    """One service with models."""

    async def warm_up(self) -> PartHealth:
        """Have them loaded, however long that takes; how the part stands then. Raises RagstoneError."""
        ...
