"""What noting unanswered questions and dealing with them needs from outside."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.gateway.domain.gaps import OpenQuestion
from services.shared.contracts.gaps import Gap, GapList, GapState
from services.shared.contracts.ids import DocumentId, JobId, SpaceId


@dataclass(frozen=True)
class Head:
    """A gap by the question that stands for it."""

    id: str
    question: str


class GapBook(Protocol):
    """The catalog's gaps. Raise RagstoneError (gap_not_found, gap_state_conflict, catalog_unavailable)."""

    async def known(self, space: SpaceId, key: str) -> str | None:
        """The gap that has the wording of this key."""
        ...

    async def heads(self, space: SpaceId) -> list[Head]:
        """Every gap of the space."""
        ...

    async def note(self, noted: OpenQuestion, key: str, gap: str | None) -> str | None:
        """Counts the question for this gap, or for a new one; which, or None where nothing can be noted."""
        ...

    async def page(
        self, space: SpaceId, *, states: Sequence[GapState] | None, limit: int, cursor: str | None
    ) -> GapList:
        """Those of the greatest weight first."""
        ...

    async def one(self, space: SpaceId, id: str) -> Gap:
        """One gap."""
        ...

    async def answered(self, space: SpaceId, id: str, document_id: DocumentId, job_id: JobId) -> Gap:
        """Notes the fact that was added."""
        ...

    async def dismiss(self, space: SpaceId, id: str) -> Gap:
        """Nothing is to be done about it."""
        ...

    async def reopen(self, space: SpaceId, id: str) -> Gap:
        """Something is to be done after all."""
        ...


class Likeness(Protocol):
    """How near questions are to each other."""

    async def similarities(self, space: SpaceId, question: str, others: Sequence[str]) -> list[float]:
        """Of each of the others, on the common scale of embedders. Raises RagstoneError (retriever_unavailable)."""
        ...


class Marks(Protocol):
    """Who asked what within the last hour, in no record. Raise RagstoneError (queue_unavailable)."""

    async def first(self, space: SpaceId, client: str, what: str) -> bool:
        """Is it the first time within the hour?"""
        ...

    async def few(self, space: SpaceId, client: str) -> bool:
        """Is it one of not too many questions within the hour?"""
        ...
