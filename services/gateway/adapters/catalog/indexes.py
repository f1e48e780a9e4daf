"""The catalog's indexes for the public routes."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime

from anyio.to_thread import run_sync
from sqlalchemy import Connection

from services.gateway.ports.indexes import Changed
from services.shared.catalog import index_building, index_views, switching
from services.shared.catalog.engine import Catalog
from services.shared.catalog.index_rows import StoredIndex, WantedEmbedder
from services.shared.catalog.job_rows import JobRow
from services.shared.contracts.ids import IndexId, JobId, SpaceId
from services.shared.contracts.indexes import Index, IndexList, NewIndex


class CatalogIndexes:
    """Each method is one transaction."""

    def __init__(self, catalog: Catalog, configured: str) -> None:
        self._catalog = catalog
        self._configured = configured

    async def page(self, space: SpaceId) -> IndexList:
        """All of them: they are few."""

        def read() -> IndexList:
            with self._catalog.read() as tx:
                return IndexList(items=index_views.all_of(tx, space), next_cursor=None, configured=self._configured)

        return await run_sync(read)

    async def one(self, space: SpaceId, id: IndexId) -> Index:
        """The index as it is now."""

        def read() -> Index:
            with self._catalog.read() as tx:
                return index_views.view(tx, switching.found(tx, space, id))

        return await run_sync(read)

    async def standby(self, space: SpaceId) -> IndexId:
        """The one that served before."""

        def read() -> IndexId:
            with self._catalog.read() as tx:
                return switching.standby(tx, space).id

        return await run_sync(read)

    async def start(self, space: SpaceId, wanted: NewIndex, request_id: str) -> Changed:
        """An index without vectors, and its job."""
        embedder = WantedEmbedder(wanted.embedder.strip(), wanted.query_prompt, wanted.document_prompt)

        def ordered(tx: Connection) -> tuple[StoredIndex, tuple[JobRow | None, ...]]:
            index, job = index_building.order(
                tx,
                space,
                embedder,
                id=IndexId(uuid.uuid4().hex),
                job_id=_new_job(),
                promote=wanted.promote,
                request_id=request_id,
                now=datetime.now(UTC),
            )
            return index, (job,)

        return await self._changed(ordered)

    async def promote(self, space: SpaceId, id: IndexId, *, force: bool, request_id: str) -> Changed:
        """Serves from here on, or as soon as it is level."""

        def asked(tx: Connection) -> tuple[StoredIndex, tuple[JobRow | None, ...]]:
            ids = switching.NewIds(_new_job(), _new_job())
            found = switching.ask(tx, space, id, force=force, ids=ids, request_id=request_id, now=datetime.now(UTC))
            return found.index, found.jobs

        return await self._changed(asked)

    async def remove(self, space: SpaceId, id: IndexId, request_id: str) -> Changed:
        """Nothing leads back to it from here on."""

        def retired(tx: Connection) -> tuple[StoredIndex, tuple[JobRow | None, ...]]:
            index, job = switching.retire(
                tx, space, id, job_id=_new_job(), request_id=request_id, now=datetime.now(UTC)
            )
            return index, (job,)

        return await self._changed(retired)

    async def _changed(self, change: Callable[[Connection], tuple[StoredIndex, tuple[JobRow | None, ...]]]) -> Changed:
        def write() -> Changed:
            with self._catalog.write() as tx:
                index, jobs = change(tx)
                return Changed(index_views.view(tx, index), [job.id for job in jobs if job is not None])

        return await run_sync(write)


def _new_job() -> JobId:
    return JobId(uuid.uuid4().hex)
