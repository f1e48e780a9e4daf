"""Jobs: making, finding, listing, cancelling, retrying. This module is the room's door for jobs.

The catalog is the queue of record; a message in Redis only rings the bell, and a bell that was lost is
rung again for what ``unrung`` finds.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from services.shared.catalog import cursors, schema
from services.shared.catalog.job_items import add_items, drop_item, item_counts, items, last_item, set_item
from services.shared.catalog.job_rows import ACTIVE, COLUMNS, FINAL, JobRow, from_row
from services.shared.catalog.job_wishes import request_cancel, retry
from services.shared.catalog.leases import (
    CANCELLED_ON_REQUEST,
    Reaped,
    cancelled,
    claim,
    fail,
    fresh_waits,
    heartbeat,
    held,
    progress,
    put_off,
    reap,
    release,
    running_owners,
    succeed,
)
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import JobKind, JobState, Queue

__all__ = [
    "CANCELLED_ON_REQUEST",
    "JobRow",
    "Reaped",
    "add_items",
    "cancelled",
    "claim",
    "counts",
    "create",
    "drop_item",
    "fail",
    "failed",
    "find",
    "fresh_waits",
    "get",
    "heartbeat",
    "held",
    "item_counts",
    "items",
    "last_item",
    "list_jobs",
    "of_kind",
    "progress",
    "prune",
    "put_off",
    "reap",
    "release",
    "request_cancel",
    "retry",
    "rung",
    "running_owners",
    "set_item",
    "settled",
    "succeed",
    "unrung",
    "waits",
]

_j = schema.jobs.c


def create(
    tx: Connection,
    *,
    id: JobId,
    space: SpaceId,
    kind: JobKind,
    queue: Queue,
    document_id: DocumentId | None,
    revision: int | None,
    payload: dict[str, Any],
    request_id: str,
    now: datetime,
    state: JobState = JobState.QUEUED,
    result: dict[str, Any] | None = None,
    total: int | None = None,
) -> JobRow:
    """Writes a job down. One with nothing to do may be born final, with its result."""
    job = JobRow(
        id=id,
        space_id=space,
        kind=kind,
        queue=queue,
        state=state,
        stage=None,
        done=0,
        total=total,
        attempts=0,
        reason=None,
        warning=None,
        document_id=document_id,
        revision=revision,
        payload=payload,
        result=result,
        lease_owner=None,
        lease_until=None,
        cancel_requested=False,
        request_id=request_id,
        created_at=now,
        updated_at=now,
    )
    tx.execute(insert(schema.jobs), {column.name: getattr(job, column.name) for column in COLUMNS})
    return job


def get(tx: Connection, space: SpaceId, id: JobId) -> JobRow | None:
    """A job of this space."""
    job = find(tx, id)
    return job if job is not None and job.space_id == space else None


def find(tx: Connection, id: JobId) -> JobRow | None:
    """A job of any space, for workers."""
    row = tx.execute(select(*COLUMNS).where(_j.id == id)).one_or_none()
    return None if row is None else from_row(row)


def list_jobs(
    tx: Connection,
    space: SpaceId,
    *,
    states: Sequence[JobState] | None,
    kinds: Sequence[JobKind] | None = None,
    document_id: DocumentId | None = None,
    limit: int,
    cursor: str | None,
) -> tuple[list[JobRow], str | None]:
    """A page of the space's jobs, newest first, and the next cursor; INVALID_REQUEST for a bad cursor."""
    query = select(*COLUMNS).where(_j.space_id == space)
    if states is not None:
        query = query.where(_j.state.in_(list(states)))
    if kinds is not None:
        query = query.where(_j.kind.in_(list(kinds)))
    if document_id is not None:
        query = query.where(_j.document_id == document_id)
    if cursor is not None:
        at, id = cursors.decode_moment("jobs", cursor)
        query = query.where(or_(_j.created_at < at, and_(_j.created_at == at, _j.id < id)))
    query = query.order_by(_j.created_at.desc(), _j.id.desc()).limit(limit + 1)
    found = [from_row(row) for row in tx.execute(query)]
    page = found[:limit]
    more = len(found) > limit
    return page, cursors.encode("jobs", page[-1].created_at.isoformat(), page[-1].id) if more else None


def of_kind(tx: Connection, space: SpaceId, kind: JobKind, *, since: datetime) -> list[JobRow]:
    """The space's jobs of a kind that wait, run, or ended after ``since``, newest first."""
    query = select(*COLUMNS).where(_j.space_id == space, _j.kind == kind)
    query = query.where(or_(_j.state.in_(ACTIVE), _j.updated_at > since))
    return [from_row(row) for row in tx.execute(query.order_by(_j.created_at.desc(), _j.id.desc()))]


def counts(tx: Connection, space: SpaceId) -> dict[JobState, int]:
    """The space's jobs by state, every state present."""
    found = tx.execute(select(_j.state, func.count()).where(_j.space_id == space).group_by(_j.state))
    return dict.fromkeys(JobState, 0) | {JobState(state): number for state, number in found}


def waits(tx: Connection, queue: Queue) -> bool:
    """Does a job of any space wait in this queue?"""
    return tx.execute(select(_j.id).where(_j.state == JobState.QUEUED, _j.queue == queue).limit(1)).first() is not None


def failed(tx: Connection, space: SpaceId, kind: JobKind | None) -> list[JobId]:
    """The space's failed jobs, of one kind or all, in the order that they came in."""
    query = select(_j.id).where(_j.space_id == space, _j.state == JobState.FAILED)
    if kind is not None:
        query = query.where(_j.kind == kind)
    return list(tx.execute(query.order_by(_j.created_at, _j.id)).scalars())


def settled(tx: Connection, id: JobId, result: dict[str, Any], now: datetime) -> bool:
    """Ends a job that still waits, because somebody else did its work; False when a worker has it already."""
    ended = {"state": JobState.SUCCEEDED, "result": result, "reason": None, "updated_at": now}
    return tx.execute(update(schema.jobs).where(_j.id == id, _j.state == JobState.QUEUED).values(ended)).rowcount > 0


def unrung(tx: Connection, *, queue: Queue | None = None, older_than: datetime, limit: int) -> list[JobRow]:
    """Waiting jobs whose bell was never rung, or last before ``older_than``; oldest first."""
    query = select(*COLUMNS).where(_j.state == JobState.QUEUED, or_(_j.rung_at.is_(None), _j.rung_at < older_than))
    if queue is not None:
        query = query.where(_j.queue == queue)
    return [from_row(row) for row in tx.execute(query.order_by(_j.created_at, _j.id).limit(limit))]


def rung(tx: Connection, job_ids: Sequence[JobId], now: datetime) -> None:
    """Notes that the bell of these jobs was rung."""
    tx.execute(update(schema.jobs).where(_j.id.in_(list(job_ids))).values(rung_at=now))


def prune(tx: Connection, *, older_than: datetime, now: datetime, kind: JobKind | None = None) -> int:
    """Forgets jobs, of one kind or all, that ended before ``older_than``, with their items; how many."""
    ended = delete(schema.jobs).where(_j.state.in_(FINAL), _j.updated_at < min(older_than, now))
    return tx.execute(ended if kind is None else ended.where(_j.kind == kind)).rowcount
