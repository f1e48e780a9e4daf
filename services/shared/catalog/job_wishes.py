"""What people ask of a job: to stop it, or to do it again."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from services.shared.catalog import schema, spaces, staging
from services.shared.catalog.job_rows import COLUMNS, JobRow, from_row
from services.shared.catalog.leases import CANCELLED_ON_REQUEST
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import JobId, SpaceId
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import JobKind, JobState

_d, _i, _j = schema.documents.c, schema.indexes.c, schema.jobs.c


def request_cancel(tx: Connection, space: SpaceId, id: JobId, now: datetime) -> JobRow:
    """Cancels a waiting job at once; a running one is asked to stop, which its worker sees at its next heartbeat.

    What earlier time slices of a waiting one staged goes with it. Raises JOB_NOT_FOUND, or JOB_STATE_CONFLICT when
    the job is over.
    """
    before = _job(tx, space, id, lock=False)
    staged = before.stage is not None and before.kind in (JobKind.DOCUMENT, JobKind.BATCH)
    if staged and before.state is JobState.QUEUED:
        # The space before the job, as everywhere.
        spaces.lock(tx, space)
    job = _job(tx, space, id, lock=True)
    if job.state.final:
        raise RagstoneError(
            ErrorCode.JOB_STATE_CONFLICT, f"job {id} is {job.state} already; there is nothing to cancel"
        )
    if job.state is not JobState.QUEUED:
        return _changed(tx, id, now, cancel_requested=True, reason=CANCELLED_ON_REQUEST)
    cancelled = _changed(tx, id, now, state=JobState.CANCELLED, reason=CANCELLED_ON_REQUEST)
    if staged and before.state is JobState.QUEUED:
        staging.discard_idle(tx, space, job.document_id)
    return cancelled


def retry(tx: Connection, space: SpaceId, id: JobId, now: datetime) -> JobRow:
    """Queues a failed or cancelled job again with its attempts counted anew.

    Raises JOB_NOT_FOUND, or JOB_STATE_CONFLICT when the job is not over, succeeded, or what it was for is not to be
    had any more: its document was sent again or deleted since, its index was removed.
    """
    # Looked at first without a lock: a job that runs may hold its space and wait for nobody.
    _check_over(_job(tx, space, id, lock=False))
    spaces.lock(tx, space)
    job = _job(tx, space, id, lock=True)
    _check_over(job)
    _check_document(tx, job)
    _check_index(tx, job)
    return _changed(
        tx,
        id,
        now,
        state=JobState.QUEUED,
        stage=None,
        done=0,
        attempts=0,
        reason=None,
        warning=None,
        result=None,
        cancel_requested=False,
        rung_at=None,
    )


def _check_over(job: JobRow) -> None:
    if job.state not in (JobState.FAILED, JobState.CANCELLED):
        raise RagstoneError(
            ErrorCode.JOB_STATE_CONFLICT, f"job {job.id} is {job.state}; only a failed or cancelled job can be retried"
        )


def _check_document(tx: Connection, job: JobRow) -> None:
    """Nothing newer was said of the job's document."""
    if job.revision is None:
        return
    of_document = (_d.space_id == job.space_id, _d.id == job.document_id)
    row = tx.execute(select(_d.last_revision, _d.deleted_revision).where(*of_document)).one_or_none()
    if row is None or row.last_revision > job.revision:
        deleted = row is None or row.deleted_revision == row.last_revision
        what = "was deleted" if deleted else "was sent again"
        raise RagstoneError(
            ErrorCode.JOB_STATE_CONFLICT,
            f"document {job.document_id!r} {what} after job {job.id}; send the document again instead",
        )


def _check_index(tx: Connection, job: JobRow) -> None:
    """The index that the job is for was not removed. What is left of one that was goes without this job."""
    if job.kind is not JobKind.REEMBED:
        return
    index_id = str(job.payload.get("index_id"))
    state = tx.execute(select(_i.state).where(_i.id == index_id)).scalar_one_or_none()
    if state is None or state == IndexPhase.RETIRED:
        raise RagstoneError(
            ErrorCode.JOB_STATE_CONFLICT,
            f"index {index_id}, which job {job.id} is for, was removed; POST /v1/indexes begins another one",
        )


def _job(tx: Connection, space: SpaceId, id: JobId, *, lock: bool) -> JobRow:
    query = select(*COLUMNS).where(_j.id == id, _j.space_id == space)
    row = tx.execute(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise RagstoneError(
            ErrorCode.JOB_NOT_FOUND, f"there is no job {id} in space {space!r}; it never was, or it was pruned"
        )
    return from_row(row)


def _changed(tx: Connection, id: JobId, now: datetime, **values: Any) -> JobRow:
    change = update(schema.jobs).where(_j.id == id).values(**values, updated_at=now).returning(*COLUMNS)
    return from_row(tx.execute(change).one())
