"""The catalog's jobs for the public routes."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

from anyio.to_thread import run_sync
from sqlalchemy import Connection

from services.shared.catalog import asked, job_items, jobs
from services.shared.catalog.engine import Catalog
from services.shared.catalog.job_rows import JobRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import Job, JobItemList, JobKind, JobList, JobState

AT_ONCE = 100
"""Jobs that are queued again in one transaction."""


class CatalogJobs:
    """A job of another space is as unknown as one that never was."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def page(
        self,
        space: SpaceId,
        *,
        states: Sequence[JobState] | None,
        kinds: Sequence[JobKind] | None,
        document_id: DocumentId | None,
        limit: int,
        cursor: str | None,
    ) -> JobList:
        """Newest first, with the counts of all of the space's jobs."""

        def read() -> JobList:
            with self._catalog.read() as tx:
                rows, following = jobs.list_jobs(
                    tx, space, states=states, kinds=kinds, document_id=document_id, limit=limit, cursor=cursor
                )
                return JobList(items=[row.view() for row in rows], next_cursor=following, counts=jobs.counts(tx, space))

        return await run_sync(read)

    async def one(self, space: SpaceId, job_id: JobId, *, only_of: str | None = None) -> Job:
        """The job as it is now."""

        def read() -> Job:
            with self._catalog.read() as tx:
                return _known(tx, space, job_id, only_of).view()

        return await run_sync(read)

    async def items(self, space: SpaceId, job_id: JobId, *, limit: int, cursor: str | None) -> JobItemList:
        """The lines of a batch."""

        def read() -> JobItemList:
            with self._catalog.read() as tx:
                _known(tx, space, job_id)
                found, following = job_items.items(tx, job_id, limit=limit, cursor=cursor)
                return JobItemList(items=found, next_cursor=following, counts=job_items.item_counts(tx, job_id))

        return await run_sync(read)

    async def cancel(self, space: SpaceId, job_id: JobId, *, only_of: str | None = None) -> Job:
        """Cancel a waiting job, or ask a running one to stop."""

        def change() -> Job:
            with self._catalog.write() as tx:
                _known(tx, space, job_id, only_of)
                return jobs.request_cancel(tx, space, job_id, datetime.now(UTC)).view()

        return await run_sync(change)

    async def retry(self, space: SpaceId, job_id: JobId) -> Job:
        """Queue a failed or cancelled job again."""

        def change() -> Job:
            with self._catalog.write() as tx:
                return jobs.retry(tx, space, job_id, datetime.now(UTC)).view()

        return await run_sync(change)

    async def retry_failed(self, space: SpaceId, kind: JobKind | None) -> tuple[list[Job], int]:
        """All failed ones that can be, some in each transaction so that nobody waits for long."""

        def change() -> tuple[list[Job], int]:
            with self._catalog.read() as tx:
                failed = jobs.failed(tx, space, kind)
            again: list[Job] = []
            for begin in range(0, len(failed), AT_ONCE):
                with self._catalog.write() as tx:
                    for id in failed[begin : begin + AT_ONCE]:
                        # Somebody else may have retried it, or forgotten it, since it was looked up.
                        with suppress(RagstoneError):
                            again.append(jobs.retry(tx, space, id, datetime.now(UTC)).view())
            return again, len(failed) - len(again)

        return await run_sync(change)


def _known(tx: Connection, space: SpaceId, job_id: JobId, only_of: str | None = None) -> JobRow:
    row = jobs.get(tx, space, job_id)
    if row is not None and only_of is not None:
        theirs = row.kind is JobKind.ASK and asked.order_of(row).key_id == only_of
        row = row if theirs else None
    if row is None:
        detail = f"There is no job {job_id[:80]!r} in this space; GET /v1/jobs lists those that there are."
        raise RagstoneError(ErrorCode.JOB_NOT_FOUND, detail)
    return row
