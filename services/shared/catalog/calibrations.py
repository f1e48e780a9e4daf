"""Calibrations: one for each index at most, when it is outdated, and the questions of one that is under way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, select, update

from services.shared.catalog import chunks, golden_spans, indexes, jobs, measuring, schema, spaces
from services.shared.catalog.job_rows import JobRow
from services.shared.contracts.calibration import Calibration, CalibrationRequest
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, IndexId, JobId, SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind

_c, _k = measuring.calibrations.c, measuring.calibration_cases.c
_SEQ, _CHUNKS = "seq", "chunks"
"""In a job's payload beside the request: where the catalog was when it was asked for."""


@dataclass(frozen=True)
class StoredCase:
    """A question of a calibration under way; ``seen`` is None until it was asked."""

    n: int
    asked: dict[str, Any]
    seen: dict[str, Any] | None


def current(tx: Connection, space: SpaceId, index: IndexId) -> Calibration | None:
    """The calibration of this index; None where the product's own values hold."""
    stored = tx.execute(select(_c.content).where(_c.space_id == space, _c.index_id == index)).scalar_one_or_none()
    return None if stored is None else Calibration.model_validate(stored)


def in_force(tx: Connection, space: SpaceId) -> Calibration | None:
    """The calibration of the index that serves the space."""
    serving = indexes.serving(tx, space)
    return None if serving is None else current(tx, space, serving.id)


def store(tx: Connection, space: SpaceId, calibration: Calibration) -> bool:
    """Puts it in the place of its index's last one; False when that index is not there any more."""
    spaces.lock(tx, space)
    here = select(schema.indexes.c.id).where(
        schema.indexes.c.id == calibration.index_id, schema.indexes.c.space_id == space
    )
    if tx.execute(here).first() is None:
        return False
    forget(tx, space, calibration.index_id)
    row = {
        "space_id": space,
        "index_id": calibration.index_id,
        "content": calibration.model_dump(mode="json"),
        "created_at": calibration.created_at,
    }
    tx.execute(insert(measuring.calibrations), row)
    return True


def forget(tx: Connection, space: SpaceId, index: IndexId) -> bool:
    """Back to the product's own values; False when they held already."""
    gone = delete(measuring.calibrations).where(_c.space_id == space, _c.index_id == index)
    return bool(tx.execute(gone).rowcount)


def changed_share(tx: Connection, space: SpaceId, seq: int, before: int) -> float:
    """How much of the content changed since change number ``seq``, when it had ``before`` live chunks.

    The larger of what came and what went, by chunks, as a share of what there was: an edited document counts once.
    """
    _, now = chunks.counts(tx, space)
    d, v, ch = schema.documents.c, schema.versions.c, schema.changes.c
    later = select(ch.version_id).where(ch.space_id == space, ch.seq > seq, ch.version_id.is_not(None))
    same = and_(v.space_id == d.space_id, v.document_id == d.id, v.id == d.live_version_id)
    query = select(func.coalesce(func.sum(v.chunk_count), 0)).join_from(schema.documents, schema.versions, same)
    came = int(tx.execute(query.where(d.space_id == space, d.live_version_id.in_(later))).scalar_one())
    went = max(0, before - (now - came))
    return max(came, went) / max(1, before)


def stale(tx: Connection, space: SpaceId, calibration: Calibration, again_share: float) -> str | None:
    """Why it should be made anew, as a sentence; None while it fits."""
    share = changed_share(tx, space, calibration.seq, calibration.chunks)
    if share <= again_share:
        return None
    return f"Content worth {share:.0%} of what the calibration was made of has come or gone since."


def order(
    tx: Connection, space: SpaceId, request: CalibrationRequest, *, id: JobId, request_id: str, now: datetime
) -> JobRow:
    """Writes the job down. Raises RagstoneError when nothing was ingested, or one waits or runs already."""
    seq = spaces.lock(tx, space)
    if seq is None or indexes.serving(tx, space) is None:
        detail = (
            "Nothing has been ingested into this space, so there is nothing to calibrate by; ingest documents first."
        )
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    busy = [job for job in jobs.of_kind(tx, space, JobKind.CALIBRATION, since=now) if not job.state.final]
    if busy:
        detail = (
            f"Job {busy[0].id} calibrates this space already; GET /v1/jobs/{busy[0].id}/events tells when it is over."
        )
        raise RagstoneError(ErrorCode.JOB_STATE_CONFLICT, detail)
    there = {_SEQ: seq, _CHUNKS: chunks.counts(tx, space)[1]}
    return jobs.create(
        tx,
        id=id,
        space=space,
        kind=JobKind.CALIBRATION,
        queue=QUEUE_OF[JobKind.CALIBRATION],
        document_id=None,
        revision=None,
        payload=request.model_dump(mode="json") | there,
        request_id=request_id,
        now=now,
    )


def due(tx: Connection, space: SpaceId, again_share: float) -> Calibration | None:
    """The calibration in force, if it should be made anew by itself.

    Not while a job does that; and after any job, whatever became of it, not before as much has changed once more:
    content that was too little to calibrate by, or a job that somebody cancelled, is not tried again and again.
    """
    calibration = in_force(tx, space)
    if calibration is None or stale(tx, space, calibration, again_share) is None:
        return None
    tried = jobs.of_kind(tx, space, JobKind.CALIBRATION, since=calibration.created_at)
    if any(not job.state.final for job in tried):
        return None
    later = [job.payload for job in tried if int(job.payload.get(_SEQ, 0)) > calibration.seq]
    if later and changed_share(tx, space, int(later[0][_SEQ]), int(later[0].get(_CHUNKS, 0))) <= again_share:
        return None
    return calibration


def keep_cases(tx: Connection, job_id: JobId, asked: Sequence[Mapping[str, Any]]) -> None:
    """Writes down what is to be asked, numbered from 0, in place of what was planned before.

    What was made of a document that was deleted meanwhile is left out.
    """
    forget_cases(tx, job_id)
    deleted = _deleted(tx, job_id, [one for one in (case.get("document_id") for case in asked) if one])
    kept = [one for one in asked if one.get("document_id") not in deleted]
    if kept:
        tx.execute(
            insert(measuring.calibration_cases),
            [{"job_id": job_id, "n": n, "asked": dict(one), "seen": None} for n, one in enumerate(kept)],
        )


def _deleted(tx: Connection, job_id: JobId, named: Sequence[DocumentId]) -> set[DocumentId]:
    """Those of the documents of the job's space that do not answer any more."""
    space = tx.execute(select(schema.jobs.c.space_id).where(schema.jobs.c.id == job_id)).scalar_one_or_none()
    if space is None:
        return set(named)
    return set(named) - golden_spans.live(tx, space, set(named))


def cases(tx: Connection, job_id: JobId) -> list[StoredCase]:
    """Everything that is to be asked, in order."""
    rows = tx.execute(select(_k.n, _k.asked, _k.seen).where(_k.job_id == job_id).order_by(_k.n))
    return [StoredCase(row.n, row.asked, row.seen) for row in rows]


def note_seen(tx: Connection, job_id: JobId, n: int, seen: Mapping[str, Any]) -> None:
    """What the retriever made of one question."""
    tx.execute(update(measuring.calibration_cases).where(_k.job_id == job_id, _k.n == n).values(seen=dict(seen)))


def forget_cases(tx: Connection, job_id: JobId) -> None:
    """The questions have served their purpose."""
    tx.execute(delete(measuring.calibration_cases).where(_k.job_id == job_id))


def state(tx: Connection, space: SpaceId, again_share: float) -> tuple[Calibration | None, str | None]:
    """What is in force, and why it should be made anew."""
    calibration = in_force(tx, space)
    return calibration, None if calibration is None else stale(tx, space, calibration, again_share)
