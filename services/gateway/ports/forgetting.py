"""What forgetting a document needs from outside, beyond the catalog's own transaction."""

from dataclasses import dataclass
from typing import Protocol

from services.shared.contracts.forgetting import ForgetRequest, ForgetResponse
from services.shared.contracts.ids import DocumentId, JobId, SpaceId


@dataclass(frozen=True)
class EmptiedBodies:
    """``to_ring``: batches that go on with another body; ``complete``: none holds the document any more."""

    to_ring: list[JobId]
    complete: bool


class Bodies(Protocol):
    """Bodies of batches, each of many documents."""

    async def hold(self, space: SpaceId, document_id: DocumentId) -> bool:
        """May a batch under way, or one that could be retried, still bring the document in? Raises RagstoneError."""
        ...

    async def empty(self, space: SpaceId, document_id: DocumentId) -> EmptiedBodies:
        """Take the document out of those that may be read again; raises RagstoneError."""
        ...


class Indexes(Protocol):
    """Where vectors and postings lie."""

    async def forget(self, request: ForgetRequest) -> ForgetResponse:
        """Raises RagstoneError when not all of it could be taken out within a few seconds."""
        ...


class AnswerMemory(Protocol):
    """Answers of the last hours."""

    async def forget(self, space: SpaceId, document_id: DocumentId) -> int:
        """Forget those that rest on a document; how many. Raises RagstoneError (queue_unavailable)."""
        ...
