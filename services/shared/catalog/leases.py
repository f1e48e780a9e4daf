"""Work under a lease: who holds a job, for how long, and what becomes of it when the holder is gone.

A step of a worker whose lease was lost changes nothing: every function names the owner.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, update

from services.shared.catalog import schema
from services.shared.catalog.job_rows import COLUMNS, JobRow, from_row
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobKind, JobState, Queue

CANCELLED_ON_REQUEST = "cancelled on request"

_j = schema.jobs.c

_FRESH = and_(_j.attempts == 0, _j.stage.is_(None))
"""Nobody began it: neither an attempt that broke off nor a time slice in which it got somewhere."""


def claim(
    tx: Connection,
    *,
    owner: str,
    queue: Queue,
    lease_s: float,
    now: datetime,
    job_id: JobId | None = None,
    also: int = 0,
    kind: JobKind | None = None,
) -> list[JobRow]:
    """Takes the named job if it still waits, and up to ``also`` more of the queue, oldest first.

    The further ones are documents (or of ``kind``) that nobody began, and none are taken beside a named job of
    another kind, or one that was begun, which needs its worker for itself. Two workers never get the same job.
    """
    wanted = kind or JobKind.DOCUMENT
    taken: list[JobId] = []
    if job_id is not None:
        named = select(_j.id, _j.kind, _FRESH.label("fresh")).where(_j.id == job_id, _j.state == JobState.QUEUED)
        if kind is not None:
            named = named.where(_j.kind == kind)
        # Waits for the row's lock: whoever holds it may only be noting that the bell was rung.
        found = tx.execute(named.with_for_update()).one_or_none()
        if found is not None:
            taken.append(found.id)
            also = also if found.kind == wanted and found.fresh else 0
    if also > 0:
        waiting = select(_j.id).where(_j.state == JobState.QUEUED, _j.queue == queue, _j.kind == wanted)
        # One that was begun before goes on alone, when its own bell is rung.
        waiting = waiting.where(_FRESH)
        if taken:
            waiting = waiting.where(_j.id.not_in(taken))
        waiting = waiting.order_by(_j.created_at, _j.id).limit(also).with_for_update(skip_locked=True)
        taken += tx.execute(waiting).scalars()
    if not taken:
        return []
    lease = {
        "state": JobState.RUNNING,
        "attempts": _j.attempts + 1,
        "lease_owner": owner,
        "lease_until": now + timedelta(seconds=lease_s),
        "updated_at": now,
    }
    rows = tx.execute(update(schema.jobs).where(_j.id.in_(taken)).values(lease).returning(*COLUMNS))
    jobs = {job.id: job for job in map(from_row, rows)}
    return [jobs[id] for id in taken]


def fresh_waits(tx: Connection) -> bool:
    """Does a document of any space wait that nobody began?"""
    waiting = select(_j.id).where(_j.state == JobState.QUEUED, _j.kind == JobKind.DOCUMENT, _FRESH)
    return tx.execute(waiting.limit(1)).first() is not None


def heartbeat(tx: Connection, job_ids: Iterable[JobId], owner: str, lease_s: float, now: datetime) -> set[JobId]:
    """Renews the leases; the jobs that are still the owner's and not asked to cancel. Others must be stopped."""
    rows = tx.execute(
        update(schema.jobs)
        .where(_j.id.in_(list(job_ids)), *_held_by(owner))
        .values(lease_until=now + timedelta(seconds=lease_s))
        .returning(_j.id, _j.cancel_requested)
    )
    return {id for id, cancel_requested in rows if not cancel_requested}


def held(tx: Connection, job_ids: Iterable[JobId], owner: str) -> set[JobId]:
    """Those of the jobs that are the owner's and not asked to cancel; renews nothing."""
    kept = select(_j.id).where(_j.id.in_(list(job_ids)), *_held_by(owner), _j.cancel_requested.is_(False))
    return set(tx.execute(kept).scalars())


def progress(
    tx: Connection, job_id: JobId, owner: str, *, stage: str | None, done: int, total: int | None, now: datetime
) -> None:
    """Shows how far the work is."""
    _step(tx, job_id, owner, {"stage": stage, "done": done, "total": total, "updated_at": now})


def succeed(
    tx: Connection, job_id: JobId, owner: str, *, result: dict[str, Any] | None, warning: str | None, now: datetime
) -> bool:
    """Ends the job well, its work all done; False when the lease is no longer the owner's, whose result is dropped."""
    ended = {"state": JobState.SUCCEEDED, "result": result, "warning": warning, "reason": None}
    return _finish(tx, job_id, owner, now, ended | {"stage": None, "done": func.coalesce(_j.total, _j.done)})


def fail(tx: Connection, job_id: JobId, owner: str, *, reason: str, now: datetime) -> bool:
    """Ends the job with the reason a person reads; False when the lease is no longer the owner's.

    One that was asked to cancel meanwhile ends as cancelled, for the reason that was given then.
    """
    state = case((_j.cancel_requested, JobState.CANCELLED.value), else_=JobState.FAILED.value)
    return _finish(tx, job_id, owner, now, {"state": state, "reason": _why(reason)})


def cancelled(tx: Connection, job_id: JobId, owner: str, *, reason: str | None, now: datetime) -> bool:
    """Ends the job as cancelled; False when the lease is no longer the owner's.

    Who asked for it first has the last word on the reason: that of a deletion repeats nothing of the document.
    """
    why = _why(CANCELLED_ON_REQUEST if reason is None else reason)
    return _finish(tx, job_id, owner, now, {"state": JobState.CANCELLED, "reason": why})


def release(tx: Connection, job_id: JobId, owner: str, now: datetime) -> bool:
    """Puts the job back without counting the attempt: its time slice is over, or it was never begun.

    It counts as just rung: the caller rings, and a second bell for each time slice would only make a queue of them.
    One that was asked to cancel meanwhile ends instead. False when the lease is no longer the owner's.
    """
    back = {
        "state": case((_j.cancel_requested, JobState.CANCELLED.value), else_=JobState.QUEUED.value),
        "reason": _why(_j.reason),
        "attempts": _j.attempts - 1,
        "rung_at": now,
    }
    return _finish(tx, job_id, owner, now, back)


def put_off(tx: Connection, job_id: JobId, owner: str, *, reason: str, max_attempts: int, now: datetime) -> bool:
    """Puts the job back with its attempt counted and the reason shown; after ``max_attempts`` it fails instead.

    It counts as just rung, so that nobody takes it up again at once. One that was asked to cancel
    meanwhile ends as cancelled. False when the lease is no longer the owner's.
    """
    state = case(
        (_j.cancel_requested, JobState.CANCELLED.value),
        (_j.attempts >= max_attempts, JobState.FAILED.value),
        else_=JobState.QUEUED.value,
    )
    return _finish(tx, job_id, owner, now, {"state": state, "reason": _why(reason), "rung_at": now})


class Reaped(NamedTuple):
    """What became of jobs that were taken back from workers that are gone."""

    queued: list[JobRow]
    failed: list[JobRow]
    cancelled: list[JobRow]
    """They had been asked to cancel."""


def reap(tx: Connection, *, max_attempts: int, now: datetime, dead_owners: Collection[str] = ()) -> Reaped:
    """Takes back the jobs whose lease ran out or whose owner is known dead, to be done again or ended for good."""
    gone = or_(_j.lease_until < now, _j.lease_owner.in_(list(dead_owners)))
    lost = (
        select(*COLUMNS)
        .where(_j.state == JobState.RUNNING, gone)
        .order_by(_j.created_at, _j.id)
        .with_for_update(skip_locked=True)
    )
    reaped = Reaped([], [], [])
    for job in map(from_row, tx.execute(lost).all()):
        reason = job.reason
        if job.cancel_requested:
            state, reason = JobState.CANCELLED, job.reason or CANCELLED_ON_REQUEST
        elif job.attempts >= max_attempts:
            name = job.document_id or f"{job.kind} {job.id}"
            state = JobState.FAILED
            reason = f"{name}: given up after {job.attempts} attempts: the worker died or hung each time"
        else:
            state = JobState.QUEUED
        change = {"state": state, "reason": reason, "lease_owner": None, "lease_until": None, "updated_at": now}
        tx.execute(update(schema.jobs).where(_j.id == job.id).values(change | {"rung_at": None}))
        kept = {JobState.QUEUED: reaped.queued, JobState.FAILED: reaped.failed}.get(state, reaped.cancelled)
        kept.append(replace(job, state=state, reason=reason, lease_owner=None, lease_until=None, updated_at=now))
    return reaped


def running_owners(tx: Connection) -> set[str]:
    """Everybody who holds a running job."""
    query = select(_j.lease_owner).where(_j.state == JobState.RUNNING, _j.lease_owner.is_not(None)).distinct()
    return set(tx.execute(query).scalars())


def _why(reason: str | ColumnElement[str | None]) -> ColumnElement[str | None]:
    """The reason, unless the job was asked to cancel: then the one that was written down with that."""
    return case((_j.cancel_requested, func.coalesce(_j.reason, CANCELLED_ON_REQUEST)), else_=reason)


def _held_by(owner: str) -> tuple[ColumnElement[bool], ...]:
    return _j.lease_owner == owner, _j.state == JobState.RUNNING


def _finish(tx: Connection, job_id: JobId, owner: str, now: datetime, values: dict[str, Any]) -> bool:
    freed = {"lease_owner": None, "lease_until": None, "cancel_requested": False, "updated_at": now}
    return _step(tx, job_id, owner, freed | values)


def _step(tx: Connection, job_id: JobId, owner: str, values: dict[str, Any]) -> bool:
    return tx.execute(update(schema.jobs).where(_j.id == job_id, *_held_by(owner)).values(values)).rowcount > 0
