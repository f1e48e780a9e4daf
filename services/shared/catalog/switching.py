"""Which index serves: asked for, changed in one step, taken back.

Whoever changes it holds the space, in which nothing is published meanwhile: at no moment two indexes of a space
serve, and none only before its first.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, update

from services.shared.catalog import calibrations, indexes, schema, spaces
from services.shared.catalog.index_rows import Promotion, StoredIndex
from services.shared.catalog.job_rows import JobRow
from services.shared.contracts.calibration import CalibrationRequest
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId, JobId, SpaceId
from services.shared.contracts.indexes import IndexComparison, IndexPhase

UNCOMPARED = "it was not compared with the one that serves"
NOT_CALIBRATED = (
    "Its thresholds are not calibrated yet, and the product's own values hold; job {job} fits them to this index."
)

_i = schema.indexes.c


@dataclass(frozen=True)
class NewIds:
    """Ids for jobs that a change may make."""

    index_job: JobId
    calibration_job: JobId


@dataclass(frozen=True)
class Switched:
    """``index`` serves; ``jobs`` are to be rung for."""

    index: StoredIndex
    jobs: tuple[JobRow, ...]


@dataclass(frozen=True)
class Waiting:
    """``index`` is to serve as soon as it is level; ``jobs`` are to be rung for."""

    index: StoredIndex
    jobs: tuple[JobRow, ...]


def ask(
    tx: Connection, space: SpaceId, id: IndexId, *, force: bool, ids: NewIds, request_id: str, now: datetime
) -> Switched | Waiting:
    """Have an index serve: at once where it is level, else by a job that brings it level first.

    Asking again changes nothing. Raises RagstoneError (index_not_found, index_state_conflict, index_worse).
    """
    spaces.lock(tx, space)
    index = found(tx, space, id)
    if index.state is IndexPhase.SERVING:
        return Switched(index, ())
    _check_promotable(index, force=force)
    promotion: Promotion = "forced" if force or index.promotion == "forced" else "asked"
    tx.execute(update(schema.indexes).where(_i.id == id).values(promotion=promotion))
    switched = flip(tx, found(tx, space, id), ids=ids, request_id=request_id, now=now)
    if switched is not None:
        return switched
    job = indexes.begin_following(tx, index, id=ids.index_job, request_id=request_id, now=now)
    return Waiting(found(tx, space, id), () if job is None else (job,))


def standby(tx: Connection, space: SpaceId) -> StoredIndex:
    """The index that served before; raises RagstoneError (index_state_conflict) when none is kept."""
    for index in indexes.of_space(tx, space):
        if index.state is IndexPhase.STANDBY:
            return index
    detail = "No index that served before is kept, so nothing leads back; GET /v1/indexes lists those that there are."
    raise RagstoneError(ErrorCode.INDEX_STATE_CONFLICT, detail)


def flip(tx: Connection, index: StoredIndex, *, ids: NewIds, request_id: str, now: datetime) -> Switched | None:
    """Let the index serve in place of the one that does, if it is level; None, and nothing changed, if it is not.

    The one that served stands by, the one that stood by is retired. Others that are ready were compared with what
    served before, so that they are to be compared again. The caller holds the space.
    """
    space = index.space_id
    seq = spaces.lock(tx, space) or 0
    if index.seq < seq:
        return None
    former = indexes.serving(tx, space)
    others = update(schema.indexes).where(_i.space_id == space)
    # In this order: never are two of them serving, not even between two statements.
    tx.execute(
        others.where(_i.state == IndexPhase.STANDBY, _i.id != index.id).values(state=IndexPhase.RETIRED, promotion=None)
    )
    tx.execute(others.where(_i.state == IndexPhase.SERVING).values(state=IndexPhase.STANDBY, seq=seq, reason=None))
    tx.execute(
        others.where(_i.id == index.id).values(
            state=IndexPhase.SERVING, promotion=None, promoted_at=now, reason=None, built_to=None
        )
    )
    tx.execute(others.where(_i.state == IndexPhase.READY).values(comparison=None, reason=None))
    job = None if former is None else _calibrate(tx, space, former.id, index.id, ids, request_id, now)
    return Switched(found(tx, space, index.id), () if job is None else (job,))


def refuse(tx: Connection, index_id: IndexId, reason: str) -> None:
    """It is not promoted after all, and says why."""
    tx.execute(update(schema.indexes).where(_i.id == index_id).values(promotion=None, reason=reason))


def retire(
    tx: Connection, space: SpaceId, id: IndexId, *, job_id: JobId, request_id: str, now: datetime
) -> tuple[StoredIndex, JobRow | None]:
    """Nothing leads back to the index from here on; the job that is at it, or a new one, deletes its vectors.

    Raises RagstoneError (index_not_found, index_state_conflict for the serving one).
    """
    spaces.lock(tx, space)
    index = found(tx, space, id)
    if index.state is IndexPhase.SERVING:
        detail = f"Index {id} serves this space and cannot be removed; promote another one first."
        raise RagstoneError(ErrorCode.INDEX_STATE_CONFLICT, detail)
    tx.execute(update(schema.indexes).where(_i.id == id).values(state=IndexPhase.RETIRED, promotion=None))
    job = indexes.begin_following(tx, index, id=job_id, request_id=request_id, now=now)
    return found(tx, space, id), job


def found(tx: Connection, space: SpaceId, id: IndexId) -> StoredIndex:
    """An index of this space; raises RagstoneError (index_not_found)."""
    index = indexes.get(tx, space, id)
    if index is None:
        detail = f"There is no index {id[:80]!r} in this space; GET /v1/indexes lists those that there are."
        raise RagstoneError(ErrorCode.INDEX_NOT_FOUND, detail)
    return index


def may_serve(index: StoredIndex, *, force: bool) -> str | None:
    """Why it is not to serve unless it is forced to, as the end of a sentence; None when it may."""
    if force or index.state is IndexPhase.STANDBY:
        return None
    if index.comparison is None:
        return UNCOMPARED
    return f"it finds less: {figures(index.comparison)}" if index.comparison.worse else None


def figures(comparison: IndexComparison) -> str:
    """What a comparison found, for people."""
    return (
        f"{comparison.metric} {comparison.candidate:.3f} against {comparison.serving:.3f} of the "
        f"serving one over {comparison.questions} questions (difference {comparison.difference:+.3f}, 95 % interval "
        f"{comparison.low:+.3f} to {comparison.high:+.3f})"
    )


def _check_promotable(index: StoredIndex, *, force: bool) -> None:
    if index.state not in (IndexPhase.READY, IndexPhase.STANDBY):
        what = "is not built to its end" if index.state is IndexPhase.BUILDING else f"is {index.state}"
        detail = f"Index {index.id} {what}, so it cannot serve; GET /v1/indexes/{index.id} says how far it is."
        raise RagstoneError(ErrorCode.INDEX_STATE_CONFLICT, detail)
    why = may_serve(index, force=force)
    if why is not None:
        detail = f"Index {index.id} is not promoted: {why}. Send force: true to promote it all the same."
        raise RagstoneError(ErrorCode.INDEX_WORSE, detail)


def _calibrate(
    tx: Connection,
    space: SpaceId,
    former: IndexId,
    index: IndexId,
    ids: NewIds,
    request_id: str,
    now: datetime,
) -> JobRow | None:
    """Thresholds belong to an index: where the former one was calibrated, the new one is to be."""
    before = calibrations.current(tx, space, former)
    if before is None or calibrations.current(tx, space, index) is not None:
        return None
    job = None
    with suppress(RagstoneError):
        # One that runs asks the index that serves, from here on the new one, everything anew.
        request = CalibrationRequest(risk=before.risk)
        job = calibrations.order(tx, space, request, id=ids.calibration_job, request_id=request_id, now=now)
    said = NOT_CALIBRATED.format(job=job.id) if job else None
    tx.execute(update(schema.indexes).where(_i.id == index).values(reason=said))
    return job
