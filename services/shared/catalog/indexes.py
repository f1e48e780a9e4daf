"""The indexes of a space: which one serves, which ones stand beside it, and what is to be done about them.

This module is the room's door for indexes; ``index_building`` makes one, ``switching`` changes which one serves.
"""

from dataclasses import asdict
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, insert, or_, select, update

from services.shared.catalog import changes, jobs, schema, spaces
from services.shared.catalog.index_rows import (
    SERVING,
    SHORT,
    WHOLE,
    EmbedderSpec,
    IndexRow,
    StoredIndex,
    collection_of,
    from_row,
    short,
    stored_from_row,
)
from services.shared.catalog.job_rows import ACTIVE, JobRow
from services.shared.contracts.ids import IndexId, JobId, SpaceId
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState

__all__ = [
    "SERVING",
    "EmbedderSpec",
    "IndexRow",
    "StoredIndex",
    "all_serving",
    "begin_following",
    "create",
    "find",
    "forget",
    "from_row",
    "get",
    "lag",
    "lagging",
    "of_space",
    "order_job",
    "retired",
    "serving",
    "stored",
    "with_collection",
]

REST = timedelta(seconds=30)
"""Between two jobs that bring an index level: each change by itself would be a job of its own."""

REST_AFTER_FAILURE = timedelta(minutes=10)
"""What stopped the last job would most likely stop the next one as well."""

_i, _j = schema.indexes.c, schema.jobs.c
_ALL = select(*SHORT)
_SERVING = _ALL.where(_i.state == SERVING)
_WHOLE = select(*WHOLE)


def serving(tx: Connection, space: SpaceId) -> IndexRow | None:
    """The index that answers for the space; None until something was ingested into it."""
    row = tx.execute(_SERVING.where(_i.space_id == space)).one_or_none()
    return None if row is None else from_row(row)


def find(tx: Connection, id: IndexId) -> IndexRow | None:
    """An index by its id, whatever its state; None when it was taken out, and before its embedder was loaded once."""
    found = stored(tx, id)
    return None if found is None else short(found)


def create(tx: Connection, space: SpaceId, *, id: IndexId, embedder: EmbedderSpec, now: datetime) -> IndexRow:
    """Makes the space's first index, or returns the one that serves already: compare its embedder."""
    spaces.make_and_lock(tx, space, now)
    existing = serving(tx, space)
    if existing is not None:
        return existing
    row = {
        "id": id,
        "space_id": space,
        "state": SERVING,
        "embedder": asdict(embedder),
        "collection": collection_of(id),
        "created_at": now,
    }
    tx.execute(insert(schema.indexes), row)
    return IndexRow(id, space, embedder, collection_of(id), now)


def all_serving(tx: Connection) -> list[IndexRow]:
    """The serving index of every space, by space."""
    return [from_row(row) for row in tx.execute(_SERVING.order_by(_i.space_id))]


def stored(tx: Connection, id: IndexId) -> StoredIndex | None:
    """Everything about an index of any space."""
    row = tx.execute(_WHOLE.where(_i.id == id)).one_or_none()
    return None if row is None else stored_from_row(row)


def get(tx: Connection, space: SpaceId, id: IndexId) -> StoredIndex | None:
    """Everything about an index of this space."""
    found = stored(tx, id)
    return found if found is not None and found.space_id == space else None


def of_space(tx: Connection, space: SpaceId) -> list[StoredIndex]:
    """All indexes of the space: the serving one first, then the newest first."""
    rows = tx.execute(_WHOLE.where(_i.space_id == space).order_by(_i.created_at.desc(), _i.id))
    return sorted(map(stored_from_row, rows), key=lambda index: index.state is not IndexPhase.SERVING)


def with_collection(tx: Connection, space: SpaceId | None = None) -> list[IndexRow]:
    """The indexes of a space, or of all, that hold vectors or may: the serving one first, no retired ones."""
    query = _WHOLE.where(_i.state != IndexPhase.RETIRED)
    if space is not None:
        query = query.where(_i.space_id == space)
    rows = [short(stored_from_row(row)) for row in tx.execute(query.order_by(_i.space_id, _i.created_at, _i.id))]
    loaded = [row for row in rows if row is not None]
    return sorted(loaded, key=lambda row: (row.space_id, row.state is not IndexPhase.SERVING))


def retired(tx: Connection) -> list[StoredIndex]:
    """Those whose collections are to be deleted, and then themselves by ``forget``; none that a job is at."""
    query = _WHOLE.where(_i.state == IndexPhase.RETIRED, ~_at_work()).order_by(_i.created_at, _i.id)
    return [stored_from_row(row) for row in tx.execute(query)]


def forget(tx: Connection, id: IndexId) -> bool:
    """Takes the row of a retired index out, once its collection is gone; False when it was not there."""
    gone = delete(schema.indexes).where(_i.id == id, _i.state == IndexPhase.RETIRED)
    return bool(tx.execute(gone).rowcount)


def lagging(tx: Connection, now: datetime) -> list[IndexRow]:
    """Those that want a job: behind the content, to be compared or to be promoted, and no job is at them.

    Not soon after the last job, unless somebody waits for the promotion; and not for a while after a failed one.
    A build that failed is not among them: its own job is to be retried.
    """
    behind = and_(_i.seq < schema.spaces.c.seq, _ended_before(now - REST))
    uncompared = and_(_i.state == IndexPhase.READY, _i.comparison.is_(None), _i.reason.is_(None))
    failed = (JobState.FAILED, JobState.CANCELLED)
    recent = exists().where(_j.id == _i.job_id, _j.state.in_(failed), _j.updated_at > now - REST_AFTER_FAILURE)
    query = (
        _ALL.join(schema.spaces, schema.spaces.c.id == _i.space_id)
        .where(_i.state.in_((IndexPhase.READY, IndexPhase.STANDBY)), ~_at_work(), ~recent)
        .where(or_(behind, uncompared, _i.promotion.is_not(None)))
        .order_by(_i.space_id, _i.created_at, _i.id)
    )
    return [from_row(row) for row in tx.execute(query)]


def begin_following(
    tx: Connection, row: IndexRow | StoredIndex, *, id: JobId, request_id: str, now: datetime
) -> JobRow | None:
    """A job that brings the index to where it should be; None when one is at it already, or the index is gone."""
    spaces.lock(tx, row.space_id)
    here = tx.execute(select(_i.id).where(_i.id == row.id, ~_at_work())).first()
    return None if here is None else order_job(tx, row.space_id, row.id, id=id, request_id=request_id, now=now)


def order_job(
    tx: Connection, space: SpaceId, index_id: IndexId, *, id: JobId, request_id: str, now: datetime
) -> JobRow:
    """Writes a job for the index down, as the one that is at it. The caller holds the space."""
    job = jobs.create(
        tx,
        id=id,
        space=space,
        kind=JobKind.REEMBED,
        queue=QUEUE_OF[JobKind.REEMBED],
        document_id=None,
        revision=None,
        payload={"index_id": index_id},
        request_id=request_id,
        now=now,
    )
    tx.execute(update(schema.indexes).where(_i.id == index_id).values(job_id=id))
    return job


def lag(tx: Connection, index: StoredIndex) -> int:
    """Changes of the content that the index has not followed yet."""
    if index.state is IndexPhase.SERVING:
        return 0
    return max(0, changes.current_seq(tx, index.space_id) - index.seq)


def _at_work() -> ColumnElement[bool]:
    return exists().where(_j.id == _i.job_id, _j.state.in_(ACTIVE))


def _ended_before(moment: datetime) -> ColumnElement[bool]:
    """No job has been at it since."""
    return ~exists().where(_j.id == _i.job_id, _j.updated_at > moment)
