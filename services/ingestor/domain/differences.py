"""What an examination of the stores finds: where they differ from the catalog, and what was done about it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from services.shared.contracts.ids import SpaceId

Store = Literal["jobs", "vectors", "keywords", "originals", "catalog"]


@dataclass(frozen=True)
class Difference:
    """One kind of difference in one store."""

    store: Store
    space: SpaceId | None
    found: str
    """A sentence with its number, for a person."""
    repair: str
    """What puts it right, or why it cannot be."""
    repaired: bool
    """It was put right, or work that does so has begun."""

    def record(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)
