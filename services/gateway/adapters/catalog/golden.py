"""The space's golden questions for the public routes."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

from anyio.to_thread import run_sync

from services.shared.catalog import golden, jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import (
    GoldenImport,
    GoldenImported,
    GoldenList,
    GoldenMakeRequest,
    GoldenOrigin,
    GoldenState,
)
from services.shared.contracts.ids import JobId, SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind


class CatalogGolden:
    """Each method is one transaction."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def put(self, space: SpaceId, sent: GoldenImport) -> GoldenImported:
        """Add and replace questions on the owner's word."""

        def write() -> GoldenImported:
            with self._catalog.write() as tx:
                return golden.put(tx, space, sent.items, GoldenOrigin.OWNER, datetime.now(UTC))

        return await run_sync(write)

    async def page(
        self,
        space: SpaceId,
        *,
        states: Sequence[GoldenState] | None,
        flagged: bool | None,
        limit: int,
        cursor: str | None,
    ) -> GoldenList:
        """By id, with the counts of the whole set."""

        def read() -> GoldenList:
            with self._catalog.read() as tx:
                return golden.page(tx, space, states=states, flagged=flagged, limit=limit, cursor=cursor)

        return await run_sync(read)

    async def remove(self, space: SpaceId, id: str) -> None:
        """Forget a question."""

        def write() -> None:
            with self._catalog.write() as tx:
                if not golden.remove(tx, space, id):
                    detail = f"There is no golden question {id[:80]!r} in this space; GET /v1/golden lists them."
                    raise RagstoneError(ErrorCode.GOLDEN_NOT_FOUND, detail)

        await run_sync(write)

    async def make(self, space: SpaceId, wanted: GoldenMakeRequest, request_id: str) -> JobId:
        """A job that reads the documents and proposes."""

        def write() -> JobId:
            with self._catalog.write() as tx:
                return jobs.create(
                    tx,
                    id=JobId(uuid.uuid4().hex),
                    space=space,
                    kind=JobKind.GOLDEN,
                    queue=QUEUE_OF[JobKind.GOLDEN],
                    document_id=None,
                    revision=None,
                    payload=wanted.model_dump(mode="json"),
                    request_id=request_id,
                    now=datetime.now(UTC),
                ).id

        return await run_sync(write)
