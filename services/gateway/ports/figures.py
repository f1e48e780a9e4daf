"""What is counted in the catalog for whoever watches the system run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from services.shared.contracts.health import PartHealth
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobKind, JobState, Queue


@dataclass(frozen=True)
class Waiting:
    """Jobs of one queue that no worker has begun."""

    jobs: int
    oldest_s: float
    """For how long the oldest of them has waited."""


@dataclass(frozen=True)
class Figures:
    """Numbers of all spaces together at one moment."""

    jobs: Mapping[tuple[JobState, JobKind], int]
    waiting: Mapping[Queue, Waiting]
    spaces: int
    documents: int
    chunks: int
    lag: Mapping[IndexPhase, int]


class FigureBook(Protocol):
    """The catalog's numbers."""

    async def figures(self) -> Figures:
        """As they are now. Raises RagstoneError (catalog_unavailable)."""
        ...


@dataclass(frozen=True)
class Overview:
    """One look at the whole system: every part, and the catalog's numbers unless it did not give them."""

    parts: Mapping[str, PartHealth]
    figures: Figures | None
