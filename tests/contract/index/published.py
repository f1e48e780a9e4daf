"""Documents published straight into a catalog, without a worker."""

import hashlib
from datetime import UTC, datetime

from services.shared.catalog import documents
from services.shared.catalog.documents import Draft, NewChunk
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId

SPACE = SpaceId("main")


def publish(
    catalog: Catalog,
    id: str,
    text: str = "text",
    *,
    type: str | None = None,
    tags: list[str] | None = None,
    chunks: int = 2,
) -> VersionId:
    """Makes a document of so many chunks live."""
    now = datetime.now(UTC)
    draft = Draft(
        document_id=DocumentId(id),
        blob_sha256=hashlib.sha256(text.encode()).hexdigest(),
        filename=None,
        media_type="text/plain",
        size_bytes=len(text),
        title=None,
        type=type,
        tags=tags or [],
        source=None,
        metadata={},
        origin=None,
    )
    cut = [
        NewChunk(ordinal=n, text=text, lead=0, start=0, end=len(text), section="", kind="fact", search_text=text)
        for n in range(chunks)
    ]
    with catalog.write() as tx:
        submitted = documents.submit(tx, SPACE, draft, now)
        assert submitted.revision is not None
        version = documents.save_version(
            tx,
            SPACE,
            draft,
            title=id,
            type=type,
            tags=tags or [],
            source=None,
            metadata={},
            language=None,
            text=text,
            chunks=cut,
            now=now,
        )
        documents.publish(tx, SPACE, DocumentId(id), version, submitted.revision, now)
    return version


def remove(catalog: Catalog, id: str) -> None:
    """Takes a document out."""
    with catalog.write() as tx:
        assert documents.remove(tx, SPACE, DocumentId(id), datetime.now(UTC)) is not None
