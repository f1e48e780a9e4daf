"""The story of a deletion: the catalog first, then everything else that repeats the document, and at last the receipt.

From the moment of the catalog's transaction nothing can answer from the document. What follows is made up for by the
clean-up job, which that transaction wrote down too, when this process dies or a part does not answer in time.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from services.gateway.ports.documents import Documents, Forgotten, Originals
from services.gateway.ports.forgetting import AnswerMemory, Bodies, EmptiedBodies, Indexes
from services.gateway.ports.jobs import Bell
from services.shared.contracts.documents import DeletionReceipt
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.forgetting import ForgetRequest, ForgetResponse
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind

T = TypeVar("T")

CLEANUPS = QUEUE_OF[JobKind.CLEANUP]


class ForgetFlow:
    """Forgets documents."""

    def __init__(
        self,
        *,
        documents: Documents,
        originals: Originals,
        bodies: Bodies,
        indexes: Indexes,
        answers: AnswerMemory,
        bell: Bell,
    ) -> None:
        self._documents = documents
        self._originals = originals
        self._bodies = bodies
        self._indexes = indexes
        self._answers = answers
        self._bell = bell

    async def forget(self, space: SpaceId, document_id: DocumentId, request_id: str) -> DeletionReceipt:
        """Forget a document; when this returns, nothing can answer from it. Raises RagstoneError."""
        gone = await self._removed(space, document_id, request_id)
        blobs, bodies, answers, indexes = await asyncio.gather(
            _tried(self._originals.discard_orphans(gone.orphaned)),
            _tried(self._bodies.empty(space, document_id)),
            _tried(self._answers.forget(space, document_id)),
            _tried(self._indexes.forget(ForgetRequest(space=space, versions=list(gone.version_ids)))),
        )
        # Last: what the steps before deleted from the catalog stands in its log until then.
        settled = await _tried(self._documents.settle())
        # A Redis that forgot no answers takes no ring either: the reconciler rings when it is back.
        rings = answers is not None
        if rings:
            await self._ring(gone, bodies, request_id)
        done = None not in (blobs, answers, indexes) and bodies is not None and bodies.complete and settled
        cleaned = bool(done) and bool(await _tried(self._documents.cleaned(gone.cleanup_job)))
        if rings and not cleaned:
            await self._bell.ring(CLEANUPS, [gone.cleanup_job], request_id)
        return _receipt(gone, blobs or 0, answers or 0, indexes, cleaned=cleaned)

    async def _removed(self, space: SpaceId, document_id: DocumentId, request_id: str) -> Forgotten:
        """The catalog's part, also for a document that a batch has not brought in yet."""
        try:
            return await self._documents.remove(space, document_id, request_id)
        except RagstoneError as error:
            unknown = error.code is ErrorCode.DOCUMENT_NOT_FOUND
            if not unknown or not await self._bodies.hold(space, document_id):
                raise
        return await self._documents.remove(space, document_id, request_id, coming=True)

    async def _ring(self, gone: Forgotten, bodies: EmptiedBodies | None, request_id: str) -> None:
        """Ring for what goes on without the document: batches, and reports that are made anew."""
        if bodies is not None and bodies.to_ring:
            await self._bell.ring(QUEUE_OF[JobKind.BATCH], bodies.to_ring, request_id)
        if gone.reports_job is not None:
            await self._bell.ring(CLEANUPS, [gone.reports_job], request_id)


async def _tried(step: Awaitable[T]) -> T | None:
    """What the step gives; None when it could not be done now, and the clean-up job has to."""
    try:
        return await step
    except RagstoneError:
        return None


def _receipt(
    gone: Forgotten, blobs: int, answers: int, indexes: ForgetResponse | None, *, cleaned: bool
) -> DeletionReceipt:
    return DeletionReceipt(
        document_id=gone.document_id,
        versions=gone.versions,
        chunks=gone.chunks,
        vectors=0 if indexes is None else indexes.vectors,
        postings=0 if indexes is None else indexes.postings,
        blobs=blobs,
        cached_answers=answers + gone.answers,
        cancelled_jobs=list(gone.cancelled_jobs),
        cleanup_job=None if cleaned else gone.cleanup_job,
    )
