"""Documents: sending one, finding it, and forgetting it. This module is the room's door for documents.

Every submission and every deletion takes the document's next revision number; what carries the higher
number wins, whatever finishes first.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, insert, select, update

from services.shared.catalog import changes, cursors, forgetting, schema, spaces
from services.shared.catalog.blob_use import blob_in_use, claim
from services.shared.catalog.document_rows import (
    ChunkKind,
    Draft,
    LiveDocument,
    NewChunk,
    Published,
    Removed,
    StoredVersion,
    Submitted,
    Superseded,
)
from services.shared.catalog.job_rows import ACTIVE
from services.shared.catalog.staging import (
    discard_idle,
    discard_stale,
    discard_version,
    publish,
    save_version,
    under_way,
)
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import JobKind

__all__ = [
    "ChunkKind",
    "Draft",
    "LiveDocument",
    "NewChunk",
    "Published",
    "Removed",
    "StoredVersion",
    "Submitted",
    "Superseded",
    "blob_in_use",
    "discard_idle",
    "discard_stale",
    "discard_version",
    "get",
    "list_live",
    "publish",
    "remove",
    "save_version",
    "submit",
    "under_way",
    "version",
]

_d, _v, _j = schema.documents.c, schema.versions.c, schema.jobs.c

_THIS = (_d.space_id == bindparam("space"), _d.id == bindparam("document"))
_FIND = select(
    _d.last_revision,
    _d.last_version_id,
    _d.live_revision,
    _d.live_version_id,
    _d.deleted_revision,
    _d.origin,
    _d.last_sent_at,
).where(*_THIS)
_INSERT = insert(schema.documents)
_NEXT_REVISION = (
    update(schema.documents)
    .where(*_THIS)
    .values(last_revision=bindparam("revision"), last_version_id=bindparam("version"))
)
_DESCRIBE = update(schema.documents).where(*_THIS)
_JOIN_LIVE = and_(_v.space_id == _d.space_id, _v.document_id == _d.id, _v.id == _d.live_version_id)
_LIVE = select(
    _d.id,
    _d.live_version_id,
    _v.title,
    _v.type,
    _v.tags,
    _v.source,
    _d.origin,
    _v.filename,
    _v.media_type,
    _v.size_bytes,
    _v.blob_sha256,
    _v.chunk_count,
    _v["metadata"],
    _v.warning,
    _d.created_at,
    _d.updated_at,
).join_from(schema.documents, schema.versions, _JOIN_LIVE)


def submit(
    tx: Connection, space: SpaceId, draft: Draft, now: datetime, *, said_at: datetime | None = None
) -> Submitted:
    """Decides what sending this document means; makes the space and the document at first sight.

    ``unchanged``: it answers already. ``pending_job``: it is on its way already, return that job. Else
    ``revision`` is the number under which the caller makes a job, in this same transaction.
    ``said_at`` is when the sender said it, for a line of a batch that is read later than it was sent:
    what was sent or deleted after that stands, and the line is ``superseded``.
    """
    version = draft.version_id
    moment = said_at or now
    this = {"space": space, "document": draft.document_id}
    spaces.make_and_lock(tx, space, now)
    claim(tx)
    row = tx.execute(_FIND, this).one_or_none()
    if row is None:
        said = {"last_revision": 1, "last_version_id": version, "origin": draft.origin, "last_sent_at": moment}
        tx.execute(_INSERT, _unsent(space, draft.document_id, now) | said)
        return Submitted(draft.document_id, version, 1, False, None)
    if said_at is not None and row.last_sent_at is not None and row.last_sent_at > said_at:
        return Submitted(draft.document_id, version, None, False, None, superseded=True)
    if row.deleted_revision == row.last_revision:
        tx.execute(_DESCRIBE.values(origin=draft.origin, created_at=now, updated_at=now), this)
    elif draft.origin is not None and draft.origin != row.origin:
        tx.execute(_DESCRIBE.values(origin=draft.origin), this)
    if row.last_sent_at is None or row.last_sent_at < moment:
        tx.execute(_DESCRIBE.values(last_sent_at=moment), this)
    if row.live_version_id == version and not _newer_under_way(tx, space, draft.document_id, row):
        return Submitted(draft.document_id, version, None, True, None)
    if row.last_version_id == version:
        pending = _active_job(tx, space, draft.document_id, row.last_revision)
        if pending is not None:
            return Submitted(draft.document_id, version, None, False, pending)
    revision = row.last_revision + 1
    tx.execute(_NEXT_REVISION, this | {"revision": revision, "version": version})
    return Submitted(draft.document_id, version, revision, False, None)


def remove(
    tx: Connection, space: SpaceId, document_id: DocumentId, now: datetime, *, coming: bool = False
) -> Removed | None:
    """Forgets a document: versions, chunks, pending work, and its words wherever the catalog repeats them.

    Only a tombstone with its id and numbers stays. None when there is nothing to forget. ``blobs_orphaned`` are
    originals that nothing needs any more; the caller deletes them once this transaction has committed.
    ``coming``: a batch that was sent already may bring it in, so that the deletion is written down all the same.
    """
    this = {"space": space, "document": document_id}
    spaces.lock(tx, space)
    row = tx.execute(_FIND, this).one_or_none()
    if not coming and (row is None or row.deleted_revision == row.last_revision):
        return None
    if row is None:
        tx.execute(_INSERT, _unsent(space, document_id, now))
        row = tx.execute(_FIND, this).one()
    of_document = (_v.space_id == space, _v.document_id == document_id)
    described = select(_v.id, _v.blob_sha256, _v.title).where(*of_document)
    stored = tx.execute(described.order_by(_v.created_at, _v.id)).all()
    chunks = tx.execute(
        delete(schema.chunks).where(
            schema.chunks.c.space_id == space, schema.chunks.c.version_id.in_([one.id for one in stored])
        )
    ).rowcount
    tx.execute(delete(schema.versions).where(*of_document))
    tx.execute(
        _DESCRIBE.values(
            last_revision=row.last_revision + 1,
            deleted_revision=row.last_revision + 1,
            last_version_id=None,
            live_revision=None,
            live_version_id=None,
            origin=None,
            updated_at=now,
            last_sent_at=now,
        ),
        this,
    )
    traces = forgetting.take_out(tx, space, document_id, {one.title for one in stored}, now)
    candidates = dict.fromkeys([*(one.blob_sha256 for one in stored), *traces.blobs])
    # Vectors of a version that was on its way in may be there already.
    pending = [] if row.last_version_id is None else [row.last_version_id]
    seq = changes.record(tx, space, "remove", document_id, version_id=None, old_version_id=row.live_version_id, now=now)
    return Removed(
        versions=len(stored),
        chunks=chunks,
        blobs_orphaned=[sha256 for sha256 in candidates if not blob_in_use(tx, sha256)],
        version_ids=[VersionId(id) for id in dict.fromkeys([*(one.id for one in stored), *pending])],
        cancelled_jobs=traces.cancelled_jobs,
        reports=traces.reports,
        answers=traces.answers,
        seq=seq,
    )


def get(tx: Connection, space: SpaceId, document_id: DocumentId) -> LiveDocument | None:
    """The document, when a version of it is live."""
    row = tx.execute(_LIVE.where(*_THIS), {"space": space, "document": document_id}).one_or_none()
    return None if row is None else _read(row)


def list_live(
    tx: Connection,
    space: SpaceId,
    *,
    limit: int,
    cursor: str | None,
    origin: str | None = None,
    type: str | None = None,
) -> tuple[list[LiveDocument], str | None]:
    """A page of live documents by id, and the cursor of the next one; raises INVALID_REQUEST for a bad cursor."""
    query = _LIVE.where(_d.space_id == space).order_by(_d.id).limit(limit + 1)
    if cursor is not None:
        query = query.where(_d.id > cursors.decode_text("documents", cursor))
    if origin is not None:
        query = query.where(_d.origin == origin)
    if type is not None:
        query = query.where(_v.type == type)
    found = [_read(row) for row in tx.execute(query)]
    page = found[:limit]
    return page, cursors.encode("documents", page[-1].id) if len(found) > limit else None


def version(
    tx: Connection, space: SpaceId, document_id: DocumentId, version_id: VersionId | None
) -> StoredVersion | None:
    """The live version (``version_id`` None) or one that was live once, of a document that is live.

    A version that is only staged is not found, and nothing of a deleted document is.
    """
    query = (
        select(
            _v.document_id,
            _v.id,
            _v.blob_sha256,
            _v.filename,
            _v.media_type,
            _v.size_bytes,
            _v.title,
            _v.type,
            _v.tags,
            _v.source,
            _v.text,
            (_v.id == _d.live_version_id).label("live"),
        )
        .join_from(schema.documents, schema.versions, and_(_v.space_id == _d.space_id, _v.document_id == _d.id))
        .where(*_THIS, _d.live_version_id.is_not(None), _v.published_at.is_not(None))
        .where(_v.id == (_d.live_version_id if version_id is None else version_id))
    )
    row: Sequence[Any] | None = tx.execute(query, {"space": space, "document": document_id}).one_or_none()
    return None if row is None else StoredVersion(*row)


def _unsent(space: SpaceId, document_id: DocumentId, now: datetime) -> dict[str, Any]:
    """The row of a document of which nobody said anything yet."""
    return {
        "space_id": space,
        "id": document_id,
        "last_revision": 0,
        "last_version_id": None,
        "deleted_revision": 0,
        "origin": None,
        "created_at": now,
        "updated_at": now,
        "last_sent_at": now,
    }


def _read(row: Sequence[Any]) -> LiveDocument:
    return LiveDocument(*row)


def _newer_under_way(tx: Connection, space: SpaceId, document_id: DocumentId, row: Any) -> bool:
    if row.last_revision == row.live_revision:
        return False
    mine = (_j.space_id == space, _j.document_id == document_id, _j.revision > row.live_revision)
    newer = tx.execute(select(_j.revision, _j.state).where(*mine)).all()
    if any(state in ACTIVE for _, state in newer):
        return True
    if any(revision == row.last_revision for revision, _ in newer):
        return False
    # A batch takes revisions without a job for each: while one is at work, the revision may be its.
    batch = (_j.space_id == space, _j.kind == JobKind.BATCH, _j.state.in_(ACTIVE))
    return tx.execute(select(_j.id).where(*batch).limit(1)).first() is not None


def _active_job(tx: Connection, space: SpaceId, document_id: DocumentId, revision: int) -> JobId | None:
    query = select(_j.id).where(
        _j.space_id == space,
        _j.document_id == document_id,
        _j.revision == revision,
        _j.kind == JobKind.DOCUMENT,
        _j.state.in_(ACTIVE),
        ~_j.cancel_requested,
    )
    found: JobId | None = tx.execute(query).scalars().first()
    return found
