"""A small ingestor for the retriever's tests: it writes the catalog and Chroma as the real one does."""

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection, delete, insert, update

from services.shared.catalog import chunks, documents, indexes, schema
from services.shared.catalog.documents import Draft, NewChunk, Published
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import IndexRow
from services.shared.contracts.ids import DocumentId, IndexId, SpaceId, VersionId
from services.shared.contracts.indexes import IndexPhase
from services.shared.index.chroma import VectorIndex, VectorItem
from services.shared.index.collections import drop
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

    def beside(self, embedder: Embedder, state: IndexPhase = IndexPhase.READY, space: SpaceId = MAIN) -> IndexRow:
        """Another index of everything that is live, by another embedder."""
        id = IndexId(uuid.uuid4().hex)
        values = {
            "id": id,
            "space_id": space,
            "state": state,
            "embedder": asdict(embedder.spec),
            "collection": f"ragstone-{id}",
            "created_at": datetime.now(UTC),
        }
        with self.catalog.write() as tx:
            tx.execute(insert(schema.indexes), values)
            row = indexes.find(tx, id)
            live = list(chunks.iter_live(tx, space))
        assert row is not None
        items = [VectorItem(one.id, one.document_id, one.version_id, one.type, one.tags, one.kind) for one in live]
        VectorIndex(self._chroma_url, row).upsert(items, embedder.embed_documents([one.search_text for one in live]))
        return row

    def promote(self, row: IndexRow) -> None:
        """The index serves from here on, and the one that did stands by."""
        of_space = update(schema.indexes).where(schema.indexes.c.space_id == row.space_id)
        serving = schema.indexes.c.state == IndexPhase.SERVING
        with self.catalog.write() as tx:
            tx.execute(of_space.where(serving).values(state=IndexPhase.STANDBY))
            tx.execute(of_space.where(schema.indexes.c.id == row.id).values(state=IndexPhase.SERVING))

    def retire(self, row: IndexRow) -> None:
        """The index's vectors are deleted, and then itself."""
        drop(self._chroma_url, row.collection)
        with self.catalog.write() as tx:
            tx.execute(delete(schema.indexes).where(schema.indexes.c.id == row.id))

    def publish(self, *texts: Text, space: SpaceId = MAIN) -> None:
        """Make the documents live, vectors first."""
        row = self.index(space)
        with self.catalog.write() as tx:
            staged = [self._stage(tx, space, text) for text in texts]
        pieces = [(text, version, chunk) for text, version, _, cut in staged for chunk in cut]
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
        cut = _chunks(text.text)
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
            chunks=cut,
            now=now,
        )
        return text, version, submitted.revision, cut


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
