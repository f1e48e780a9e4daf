"""Plays the worker: publishes what was submitted, straight in the catalog."""

from datetime import UTC, datetime

from services.shared.catalog import documents, jobs
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.documents import Draft, NewChunk, Published
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import ChunkId, DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import Queue
from services.shared.contracts.search import Passage


def ingest(catalog: Catalog, blobs: Blobs, space: str, job_id: str) -> Passage:
    """Run one document's job to its end with the whole text as one chunk; that chunk as a passage."""
    now = datetime.now(UTC)
    with catalog.write() as tx:
        row = jobs.claim(tx, owner="w1", queue=Queue.INGEST, lease_s=60, now=now, job_id=JobId(job_id))[0]
        draft = Draft.from_payload(row.payload["draft"])
        text = blobs.read(draft.blob_sha256).decode()
        chunk = NewChunk(0, text, 0, 0, len(text), "", "fact", text)
        title = draft.title or draft.document_id
        version = documents.save_version(
            tx,
            SpaceId(space),
            draft,
            title=title,
            type=draft.type,
            tags=draft.tags or [],
            source=draft.source,
            metadata=draft.metadata,
            language=None,
            text=text,
            chunks=[chunk],
            now=now,
        )
        assert row.revision is not None
        published = documents.publish(tx, SpaceId(space), draft.document_id, version, row.revision, now)
        assert isinstance(published, Published)
        assert jobs.succeed(
            tx, row.id, "w1", result={"version": version, "chunks": 1, "unchanged": False}, warning=None, now=now
        )
    return _passage(draft.document_id, version, chunk, title)


def _passage(document_id: DocumentId, version: VersionId, chunk: NewChunk, title: str) -> Passage:
    return Passage(
        chunk_id=ChunkId(chunk.id(version)),
        document_id=document_id,
        version=version,
        title=title,
        section="",
        type=None,
        text=chunk.text,
        lead=0,
        start=0,
        end=chunk.end,
        source=None,
        tags=[],
        kind="fact",
        score=0.03,
        distance=0.1,
        bm25=None,
        critic=None,
        ranks={},
    )
