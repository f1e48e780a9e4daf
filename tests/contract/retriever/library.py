"""A small ingestor for the retriever's tests: it writes the catalog and Chroma as the real one does."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection

from services.shared.catalog import documents, indexes
from services.shared.catalog.documents import Draft, NewChunk, Published
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, IndexId, SpaceId, VersionId
from services.shared.index.chroma import VectorIndex, VectorItem
from services.shared.models.embedder import Embedder

MAIN = SpaceId("main")


@dataclass(frozen=True)
class Text:
    """A document of one chunk for each paragraph."""

    id: str
    text: str
    type: str | None = None
    tags: tuple[str, ...] = ()


class Library:
    """Publishes and removes documents of one catalog."""

    def __init__(self, catalog: Catalog, chroma_url: str, embedder: Embedder) -> None:
        self.catalog = catalog
        self._chroma_url = chroma_url
        self._embedder = embedder

    def index(self, space: SpaceId = MAIN, spec: indexes.EmbedderSpec | None = None) -> indexes.IndexRow:
        """The space's index, made when there is none."""
        with self.catalog.write() as tx:
            return indexes.create(
                tx, space, id=IndexId(uuid.uuid4().hex), embedder=spec or self._embedder.spec, now=datetime.now(UTC)
            )

    def publish(self, *texts: Text, space: SpaceId = MAIN) -> None:
        """Make the documents live, vectors first."""
        row = self.index(space)
        with self.catalog.write() as tx:
            staged = [self._stage(tx, space, text) for text in texts]
        pieces = [(text, version, chunk) for text, version, _, chunks in staged for chunk in chunks]
        vectors = self._embedder.embed_documents([chunk.search_text for _, _, chunk in pieces])
        items = [
            VectorItem(chunk.id(version), DocumentId(text.id), version, text.type, text.tags, chunk.kind)
            for text, version, chunk in pieces
        ]
        VectorIndex(self._chroma_url, row).upsert(items, vectors)
        with self.catalog.write() as tx:
            for text, version, revision, _ in staged:
                done = documents.publish(tx, space, DocumentId(text.id), version, revision, datetime.now(UTC))
                assert isinstance(done, Published)

    def remove(self, *ids: str, space: SpaceId = MAIN) -> None:
        """Delete from the catalog only: the vectors stay, as they do until a worker sweeps them."""
        with self.catalog.write() as tx:
            for id in ids:
                assert documents.remove(tx, space, DocumentId(id), datetime.now(UTC)) is not None

    def _stage(self, tx: Connection, space: SpaceId, text: Text) -> tuple[Text, VersionId, int, Sequence[NewChunk]]:
        now = datetime.now(UTC)
        draft = Draft(
            document_id=DocumentId(text.id),
            blob_sha256=hashlib.sha256(text.text.encode()).hexdigest(),
            filename=None,
            media_type="text/markdown",
            size_bytes=len(text.text.encode()),
            title=None,
            type=text.type,
            tags=list(text.tags),
            source=None,
            metadata={},
            origin=None,
        )
        submitted = documents.submit(tx, space, draft, now)
        assert submitted.revision is not None
        chunks = _chunks(text.text)
        version = documents.save_version(
            tx,
            space,
            draft,
            title=text.id,
            type=text.type,
            tags=list(text.tags),
            source=None,
            metadata={},
            language="en",
            text=text.text,
            chunks=chunks,
            now=now,
        )
        return text, version, submitted.revision, chunks


def _chunks(text: str) -> list[NewChunk]:
    chunks, at = [], 0
    for ordinal, paragraph in enumerate(text.split("\n\n")):
        chunks.append(
            NewChunk(
                ordinal=ordinal,
                text=paragraph,
                lead=0,
                start=at,
                end=at + len(paragraph),
                section="",
                kind="fact",
                search_text=paragraph,
            )
        )
        at += len(paragraph) + 2
    return chunks
