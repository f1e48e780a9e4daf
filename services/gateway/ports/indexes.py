"""The indexes of a space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.shared.contracts.ids import IndexId, JobId, SpaceId
from services.shared.contracts.indexes import Index, IndexList, NewIndex


@dataclass(frozen=True)
class Changed:
    """The index as it is now; ``jobs`` are new and have to be rung for."""

    index: Index
    jobs: Sequence[JobId]


class IndexBook(Protocol):
    """The catalog's indexes. What names one raises RagstoneError (index_not_found)."""

    async def page(self, space: SpaceId) -> IndexList:
        """The serving one first, then the newest first."""
        ...

    async def one(self, space: SpaceId, id: IndexId) -> Index: ...
    async def standby(self, space: SpaceId) -> IndexId:
        """The one that served before; raises RagstoneError (index_state_conflict) when none is kept."""
        ...

    async def start(self, space: SpaceId, wanted: NewIndex, request_id: str) -> Changed:
        """Writes an index down with the job that builds it.

        Raises RagstoneError (invalid_request: nothing ingested, index_state_conflict: one is being built).
        """
        ...

    async def promote(self, space: SpaceId, id: IndexId, *, force: bool, request_id: str) -> Changed:
        """Lets it serve at once where it is level, else as soon as a job has brought it level.

        Raises RagstoneError (index_state_conflict: not built, index_worse: measures worse or was not compared).
        """
        ...

    async def remove(self, space: SpaceId, id: IndexId, request_id: str) -> Changed:
        """Retires it; raises RagstoneError (index_state_conflict) for the one that serves."""
        ...
