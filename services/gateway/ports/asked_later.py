"""What answering a question later needs from outside: its job, its lease, and where the answer is kept."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from services.gateway.domain.callers import Payer
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import Job


@dataclass(frozen=True)
class Sender:
    """Who asked (the key's id, None without keys), who pays, and whether they want nothing that was given before."""

    key_id: str | None
    payer: Payer
    fresh: bool


@dataclass(frozen=True)
class LaterQuestion:
    """A question under this process's lease; ``asked`` is None when a deletion took it out."""

    id: JobId
    space: SpaceId
    asked: AskRequest | None
    sender: Sender
    request_id: str


class Ending(Enum):
    """What became of an answer: kept, overtaken by a deletion (to be asked again), or not this process's any more."""

    KEPT = auto()
    OVERTAKEN = auto()
    LOST = auto()


class Lease(Protocol):
    """A job under this process's lease, as last seen."""

    def keeps(self, job_id: JobId) -> bool:
        """Still ours, and nobody asked to cancel it."""
        ...


class LaterBook(Protocol):
    """Where questions are written down that are answered later."""

    async def order(
        self, space: SpaceId, questions: Sequence[AskRequest], sender: Sender, request_id: str
    ) -> list[Job]:
        """One job each, all or none, in their order; raises RagstoneError."""
        ...


class AskLedger(Protocol):
    """The jobs of questions, as the process sees them that answers. Raise RagstoneError (catalog_unavailable).

    What ends a job changes nothing when the lease is somebody else's.
    """

    async def claim(self, job_id: JobId | None) -> LaterQuestion | None:
        """The named question, or the oldest, if it still waits; what follows runs for the request that asked it."""
        ...

    def hold(self, job_id: JobId) -> AbstractContextManager[Lease]:
        """Keep the job's lease alive while the block runs."""
        ...

    async def change_number(self, space: SpaceId) -> int:
        """How far the space's content is now."""
        ...

    async def stage(self, job_id: JobId, stage: str) -> None:
        """Show how far the answer is; one that cannot be noted is no error."""
        ...

    async def answered(self, job_id: JobId, answer: Answer, documents: Collection[DocumentId], since: int) -> Ending:
        """Keep the answer with what it rests on, unless one of that was deleted after change ``since``."""
        ...

    async def fail(self, job_id: JobId, reason: str) -> None:
        """End it with a reason that a person reads."""
        ...

    async def put_off(self, job_id: JobId, reason: str) -> None:
        """Put it back for a later attempt, with this one counted; the last one fails with the reason."""
        ...

    async def drop(self, job_id: JobId) -> None:
        """End it as cancelled if somebody asked for that, else leave it alone."""
        ...

    async def release(self, question: LaterQuestion) -> None:
        """Put it back without counting the attempt, and ring for it."""
        ...
