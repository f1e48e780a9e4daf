"""Making a version live: it is saved beside the old one, then one step replaces the old one.

Until that step nothing of the new version can be found; after it nothing of the old one can.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, delete, exists, insert, or_, select, update

from services.shared.catalog import changes, golden_spans, schema, spaces
from services.shared.catalog.blob_use import claim
from services.shared.catalog.document_rows import Draft, NewChunk, Published, SavedChunk, SavedVersion, Superseded
from services.shared.catalog.job_rows import ACTIVE
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId
from services.shared.contracts.jobs import JobKind

_documents, _versions, _chunks, _jobs = schema.documents.c, schema.versions.c, schema.chunks.c, schema.jobs.c

_THIS_DOCUMENT = (_documents.space_id == bindparam("space"), _documents.id == bindparam("document"))
_THIS_VERSION = (
    _versions.space_id == bindparam("space"),
    _versions.document_id == bindparam("document"),
    _versions.id == bindparam("version"),
)
_STANDING = select(
    _documents.last_revision, _documents.live_revision, _documents.live_version_id, _documents.deleted_revision
).where(*_THIS_DOCUMENT)
_GO_LIVE = update(schema.versions).where(*_THIS_VERSION, _versions.has_chunks).values(published_at=bindparam("now"))
_POINT = (
    update(schema.documents)
    .where(*_THIS_DOCUMENT)
    .values(
        live_version_id=bindparam("version"),
        live_revision=bindparam("revision"),
        updated_at=bindparam("now"),
    )
)
_CONFIRM = update(schema.documents).where(*_THIS_DOCUMENT).values(live_revision=bindparam("revision"))
_DELETE_CHUNKS = delete(schema.chunks).where(
    _chunks.space_id == bindparam("space"), _chunks.version_id == bindparam("version")
)
_RETIRE = update(schema.versions).where(*_THIS_VERSION).values(has_chunks=False)
_INSERT_CHUNKS = insert(schema.chunks)
_SAVED = select(_versions.id).where(*_THIS_VERSION)
_INSERT_VERSION = insert(schema.versions)
_SAVED_VERSION = select(_versions.chunk_count, _versions.warning).where(*_THIS_VERSION, _versions.has_chunks)
_SAVED_CHUNKS = (
    select(_chunks.id, _chunks.kind, _chunks.search_text, _versions.type, _versions.tags)
    .join_from(
        schema.chunks,
        schema.versions,
        and_(
            _versions.space_id == _chunks.space_id,
            _versions.document_id == _chunks.document_id,
            _versions.id == _chunks.version_id,
        ),
    )
    .where(*_THIS_VERSION, _chunks.space_id == bindparam("space"), _chunks.version_id == bindparam("version"))
    .order_by(_chunks.ordinal)
)
_ACTIVE_JOB = exists().where(
    _jobs.space_id == _versions.space_id,
    # A batch names none of its documents.
    or_(_jobs.document_id == _versions.document_id, _jobs.kind == JobKind.BATCH),
    _jobs.state.in_(ACTIVE),
)
_IDLE = (
    select(_versions.space_id, _versions.document_id, _versions.id)
    .join(
        schema.documents,
        and_(_documents.space_id == _versions.space_id, _documents.id == _versions.document_id),
    )
    .where(_versions.has_chunks, ~_ACTIVE_JOB)
    .where(or_(_documents.live_version_id.is_(None), _documents.live_version_id != _versions.id))
)
"""Versions that are staged, and that nobody is about to make live."""


def save_version(
    tx: Connection,
    space: SpaceId,
    draft: Draft,
    *,
    revision: int | None = None,
    title: str,
    type: str | None,
    tags: list[str],
    source: str | None,
    metadata: dict[str, Any],
    language: str | None,
    warning: str | None = None,
    text: str,
    chunks: Sequence[NewChunk],
    now: datetime,
) -> VersionId:
    """Writes a version and its chunks beside what is live; running it again replaces what it wrote.

    Nothing is written when that version is live already, and nothing of a document that was deleted since, or since
    ``revision`` (``publish`` will refuse it anyway). Raises DOCUMENT_NOT_FOUND when it was never submitted.
    """
    version = draft.version_id
    this = {"space": space, "document": draft.document_id, "version": version}
    spaces.lock(tx, space)
    claim(tx)
    standing = tx.execute(_STANDING, this).one_or_none()
    if standing is None:
        detail = f"document {draft.document_id!r} was never submitted to space {space!r}; submit it first"
        raise RagstoneError(ErrorCode.DOCUMENT_NOT_FOUND, detail)
    if standing.live_version_id == version or standing.deleted_revision >= (revision or standing.last_revision):
        return version
    described = {
        "blob_sha256": draft.blob_sha256,
        "filename": draft.filename,
        "media_type": draft.media_type,
        "size_bytes": draft.size_bytes,
        "title": title,
        "type": type,
        "tags": tags,
        "source": source,
        "metadata": metadata,
        "language": language,
        "warning": warning,
        "text": text,
        "chunk_count": len(chunks),
        "has_chunks": True,
        "created_at": now,
    }
    if tx.execute(_SAVED, this).first() is None:
        key = {"space_id": space, "document_id": draft.document_id, "id": version}
        tx.execute(_INSERT_VERSION, key | described)
    else:
        # An update, not a new row: if the version answered once before, old citations keep opening.
        tx.execute(update(schema.versions).where(*_THIS_VERSION).values(**described), this)
        tx.execute(_DELETE_CHUNKS, this)
    if chunks:
        tx.execute(_INSERT_CHUNKS, [_chunk_row(space, draft.document_id, version, chunk) for chunk in chunks])
    return version


def saved(tx: Connection, space: SpaceId, document_id: DocumentId, version_id: VersionId) -> SavedVersion | None:
    """The version, staged or live, as long as its chunks are there."""
    row = tx.execute(_SAVED_VERSION, {"space": space, "document": document_id, "version": version_id}).one_or_none()
    return None if row is None else SavedVersion(row.chunk_count, row.warning)


def saved_chunks(tx: Connection, space: SpaceId, document_id: DocumentId, version_id: VersionId) -> list[SavedChunk]:
    """The chunks of a version, staged or live, in their order. They are for making vectors, never for showing."""
    rows = tx.execute(_SAVED_CHUNKS, {"space": space, "document": document_id, "version": version_id})
    return [SavedChunk(*row) for row in rows]


def publish(
    tx: Connection, space: SpaceId, document_id: DocumentId, version_id: VersionId, revision: int, now: datetime
) -> Published | Superseded:
    """Makes a saved version the one that answers, in one step, unless something newer was said since.

    Publishing what is live already changes nothing but the revision it answers for. Raises
    VERSION_NOT_FOUND when the version's chunks are not there (never saved, or discarded).
    """
    this = {"space": space, "document": document_id, "version": version_id}
    seq = spaces.lock(tx, space)
    standing = tx.execute(_STANDING, this).one_or_none()
    if seq is None or standing is None or standing.deleted_revision > revision:
        return Superseded("deleted")
    live_revision, live_version = standing.live_revision, standing.live_version_id
    if live_revision is not None and live_revision > revision:
        return Superseded("newer")
    if live_version == version_id:
        if live_revision != revision:
            tx.execute(_CONFIRM, this | {"revision": revision})
        return Published(seq, None)
    if not tx.execute(_GO_LIVE, this | {"now": now}).rowcount:
        raise RagstoneError(
            ErrorCode.VERSION_NOT_FOUND,
            f"version {version_id} of document {document_id!r} is not saved; ingest the document again",
        )
    if live_version is not None:
        _drop_chunks(tx, space, document_id, live_version)
    tx.execute(_POINT, this | {"revision": revision, "now": now})
    golden_spans.follow_live(tx, space, document_id)
    seq = changes.record(tx, space, "publish", document_id, version_id=version_id, old_version_id=live_version, now=now)
    return Published(seq, live_version)


def discard_version(tx: Connection, space: SpaceId, document_id: DocumentId, version_id: VersionId) -> None:
    """Forgets a staged version whose job failed; a live one is left alone.

    A version that answered once before keeps its row and text: old citations still open.
    """
    spaces.lock(tx, space)
    this = {"space": space, "document": document_id, "version": version_id}
    standing = tx.execute(_STANDING, this).one_or_none()
    if standing is None or standing.live_version_id == version_id:
        return
    _drop_chunks(tx, space, document_id, version_id)
    tx.execute(delete(schema.versions).where(*_THIS_VERSION, _versions.published_at.is_(None)), this)


def discard_stale(tx: Connection, *, older_than: datetime, limit: int = 100) -> int:
    """Discards staged versions that a dead worker left behind, saved before ``older_than``; how many.

    A version of a document with a queued or running job is left to that job, and so are all while a batch is at work.
    """
    stale = _IDLE.where(_versions.created_at < older_than).order_by(_versions.space_id, _versions.document_id)
    return _discard(tx, stale.limit(limit))


def discard_idle(tx: Connection, space: SpaceId, document_id: DocumentId | None) -> int:
    """Discards at once what is staged of a document whose job is over; how many versions.

    Without a document: of all that a batch of the space may have left so. What another job or a batch at work may be
    about to make live is left alone.
    """
    spaces.lock(tx, space)
    idle = _IDLE.where(_versions.space_id == space)
    if document_id is not None:
        return _discard(tx, idle.where(_versions.document_id == document_id))
    live = _documents.live_version_id
    # Told by the documents, whose rows are short, before any version is looked at.
    unpublished = select(_documents.id).where(
        _documents.space_id == space,
        _documents.last_version_id.is_not(None),
        or_(live.is_(None), live != _documents.last_version_id),
    )
    named = list(tx.execute(unpublished).scalars())
    parts = (named[begin : begin + 500] for begin in range(0, len(named), 500))
    return sum(_discard(tx, idle.where(_versions.document_id.in_(part))) for part in parts)


def _discard(tx: Connection, idle: Select[Any]) -> int:
    found = tx.execute(idle).all()
    for space, document_id, version_id in found:
        discard_version(tx, SpaceId(space), DocumentId(document_id), VersionId(version_id))
    return len(found)


def under_way(tx: Connection, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
    """Those of the versions that a document is to become, by a job of its own or by a batch, that waits or runs."""
    d, j = schema.documents.c, schema.jobs.c
    of_document = and_(j.kind == JobKind.DOCUMENT, j.document_id == d.id)
    at_work = exists().where(j.space_id == d.space_id, j.state.in_(ACTIVE), or_(of_document, j.kind == JobKind.BATCH))
    wanted = list(versions)
    found: set[VersionId] = set()
    for begin in range(0, len(wanted), 500):
        named = d.last_version_id.in_(wanted[begin : begin + 500])
        found.update(tx.execute(select(d.last_version_id).where(d.space_id == space, named, at_work)).scalars())
    return found


def _drop_chunks(tx: Connection, space: SpaceId, document_id: DocumentId, version_id: VersionId) -> None:
    this = {"space": space, "document": document_id, "version": version_id}
    tx.execute(_DELETE_CHUNKS, this)
    tx.execute(_RETIRE, this)


def _chunk_row(space: SpaceId, document_id: DocumentId, version: VersionId, chunk: NewChunk) -> dict[str, Any]:
    return {
        "space_id": space,
        "id": chunk.id(version),
        "document_id": document_id,
        "version_id": version,
        "ordinal": chunk.ordinal,
        "text": chunk.text,
        "lead": chunk.lead,
        "start": chunk.start,
        "end": chunk.end,
        "section": chunk.section,
        "kind": chunk.kind,
        "search_text": chunk.search_text,
        "places": [[place.start, place.label] for place in chunk.places] or None,
    }
