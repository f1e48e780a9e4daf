"""Between the catalog's records and this room's."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from services.ingestor.domain.documents import Incoming, Prepared, StoredChunk, VectorItem
from services.ingestor.ports.content import Switched, Target
from services.ingestor.ports.jobs import PARSE, ClaimedJob
from services.shared.catalog import documents, indexes, spaces, staging
from services.shared.catalog.chunks import LiveChunk
from services.shared.catalog.document_rows import SavedChunk
from services.shared.catalog.documents import Draft, NewChunk
from services.shared.catalog.jobs import JobRow
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId
from services.shared.contracts.jobs import JobKind
from services.shared.kit.logs import get_logger

log = get_logger(__name__)


def claimed_of(row: JobRow) -> ClaimedJob:
    """The job; its document is None when the payload cannot be read."""
    draft = _draft_in(row) if row.kind == JobKind.DOCUMENT else None
    return ClaimedJob(
        id=row.id,
        space=row.space_id,
        kind=row.kind,
        queue=row.queue,
        attempts=row.attempts,
        request_id=row.request_id,
        revision=row.revision,
        incoming=None if draft is None else incoming_of(draft),
        version_id=None if draft is None else draft.version_id,
        payload=row.payload,
        begun=row.stage is not None,
        slow=row.kind == JobKind.DOCUMENT and row.stage == PARSE,
    )


def incoming_of(draft: Draft) -> Incoming:
    """The draft as the flow knows it."""
    return Incoming(**{field.name: getattr(draft, field.name) for field in fields(Incoming)})


def draft_of(incoming: Incoming) -> Draft:
    """The draft as the catalog knows it."""
    return Draft(**asdict(incoming))


def stored_chunk_of(chunk: LiveChunk) -> StoredChunk:
    """The chunk as its vector is made from it."""
    item = VectorItem(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        version_id=chunk.version_id,
        type=chunk.type,
        tags=chunk.tags,
        kind=chunk.kind,
    )
    return StoredChunk(item, chunk.search_text)


def check_serving(tx: Connection, target: Target) -> None:
    """Raises Switched unless the target serves its space, and goes on doing so until the transaction ends."""
    spaces.lock(tx, target.space)
    row = indexes.serving(tx, target.space)
    if row is None or row.id != target.index_id:
        raise Switched


def save_and_publish(
    tx: Connection, space: SpaceId, prepared: Prepared, revision: int, now: datetime
) -> documents.Published | documents.Superseded:
    """Write a version with its chunks and make it live.

    Both in one transaction: between them nothing can take the chunks away again (a newer version that
    replaces this one while it is live through another job), and a crash leaves nothing staged behind.
    """
    version = save(tx, space, prepared, revision, now)
    return publish_saved(tx, space, prepared.incoming.document_id, version, revision, now)


def publish_saved(
    tx: Connection, space: SpaceId, document_id: DocumentId, version: VersionId, revision: int, now: datetime
) -> documents.Published | documents.Superseded:
    """Make a version live that is saved already; one that may not go live any more is discarded."""
    outcome = documents.publish(tx, space, document_id, version, revision, now)
    if isinstance(outcome, documents.Superseded):
        documents.discard_version(tx, space, document_id, version)
    return outcome


def save(tx: Connection, space: SpaceId, prepared: Prepared, revision: int, now: datetime) -> VersionId:
    """Write a version with its chunks beside what is live."""
    return documents.save_version(
        tx,
        space,
        draft_of(prepared.incoming),
        revision=revision,
        title=prepared.title,
        type=prepared.type,
        tags=prepared.tags,
        source=prepared.source,
        metadata=prepared.metadata,
        language=prepared.language,
        warning=prepared.warning,
        text=prepared.text,
        chunks=[
            NewChunk(**{field.name: getattr(chunk, field.name) for field in fields(NewChunk)})
            for chunk in prepared.chunks
        ],
        now=now,
    )


def staged_chunks(tx: Connection, space: SpaceId, document_id: DocumentId, version: VersionId) -> list[StoredChunk]:
    """The chunks of a version that is saved, live or not, as their vectors are made from them."""
    return [
        StoredChunk(_item(chunk, document_id, version), chunk.search_text)
        for chunk in staging.saved_chunks(tx, space, document_id, version)
    ]


def _item(chunk: SavedChunk, document_id: DocumentId, version: VersionId) -> VectorItem:
    return VectorItem(
        chunk_id=chunk.id,
        document_id=document_id,
        version_id=version,
        type=chunk.type,
        tags=chunk.tags,
        kind=chunk.kind,
    )


def _draft_in(row: JobRow) -> Draft | None:
    if not row.payload:
        # Emptied by the deletion of its document, which asked it to cancel as well.
        return None
    try:
        payload: dict[str, Any] = row.payload["draft"]
        draft = Draft.from_payload(payload)
        return draft if draft.version_id else None
    except (KeyError, TypeError, AttributeError) as error:
        log.error("job_payload_unreadable", job_id=row.id, why=repr(error))
        return None
