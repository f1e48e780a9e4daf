"""Everything beside the vectors that may repeat a deleted document: files, Redis, and the retriever's postings."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from services.shared.catalog import blob_use, bodies, evaluations
from services.shared.catalog.blob_store import BlobStore
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import Evaluation
from services.shared.contracts.forgetting import ForgetRequest, ForgetResponse
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.remembered import AnswerEraser

BODIES_WITHIN_S = 120.0
SETTLE_WITHIN_S = 20.0
FORGET_WITHIN_S = 60.0


class StoredTraces:
    """The port ``Traces``."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        answers: AnswerEraser,
        retriever_url: str,
        now: Callable[[], datetime],
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._answers = answers
        self._retriever_url = retriever_url
        self._now = now

    def discard(self, blobs: Sequence[str]) -> int:
        return blob_use.discard(self._catalog, self._blobs, blobs)

    def empty_bodies(self, space: SpaceId, document_id: DocumentId) -> list[JobId]:
        done = bodies.empty(self._catalog, self._blobs, space, document_id, self._now, within_s=BODIES_WITHIN_S)
        if not done.complete:
            detail = "the bodies of the space's batches could not all be looked through in time; it goes on later"
            raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, detail)
        return done.to_ring

    def forget_answers(self, space: SpaceId, document_id: DocumentId) -> int:
        return self._answers.forget(space, document_id)

    def forget_postings(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        asyncio.run(self._forget_postings(ForgetRequest(space=space, versions=list(versions))))

    async def _forget_postings(self, request: ForgetRequest) -> None:
        client = ServiceClient(
            name="retriever",
            base_url=self._retriever_url,
            unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
            timeout_s=FORGET_WITHIN_S,
        )
        try:
            await client.post("/forget", request, ForgetResponse)
        finally:
            await client.close()

    def settle(self) -> bool:
        return self._catalog.settle(SETTLE_WITHIN_S)

    def finished(self, space: SpaceId, evaluation_id: str) -> Evaluation | None:
        with self._catalog.read() as tx:
            return evaluations.get(tx, space, evaluation_id)

    def store_reports(self, evaluation: Evaluation, markdown: str, html: str) -> bool:
        with self._catalog.write() as tx:
            return evaluations.store_reports(tx, evaluation, markdown, html)
