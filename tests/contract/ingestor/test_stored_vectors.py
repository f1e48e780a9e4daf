"""The reconciler's view of a real Chroma: what is unusable is told apart from what is away."""

import uuid
from dataclasses import dataclass

import chromadb
import numpy as np
import pytest

from services.ingestor.adapters.stored_vectors import ChromaStoredVectors
from services.ingestor.ports.housekeeping import StoredIndex
from services.ingestor.wiring import now
from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec, IndexRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, IndexId, VersionId, chunk_id
from services.shared.index.chroma import NOBODYS, VectorIndex, VectorItem
from tests.contract.ingestor.site import Site

SPEC = EmbedderSpec("small", "0" * 64, 4, "", "", 100)
OLD, NEW = VersionId("old"), VersionId("new")


@dataclass(frozen=True)
class Scene:
    url: str
    row: IndexRow
    stored: StoredIndex
    vectors: ChromaStoredVectors

    @property
    def client(self) -> "chromadb.ClientAPI":
        return chromadb.HttpClient(host="127.0.0.1", port=int(self.url.rsplit(":", 1)[1]))

    def fill(self) -> None:
        items = [
            VectorItem(chunk_id(version, n), DocumentId("d"), version, None, [], "fact")
            for version, chunks in ((OLD, 2), (NEW, 1))
            for n in range(chunks)
        ]
        VectorIndex(self.url, self.row).upsert(items, np.eye(3, 4, dtype=np.float32))


@pytest.fixture
def scene(site: Site) -> Scene:
    row = _index(site.catalog, site)
    return Scene(
        site.chroma_url,
        row,
        StoredIndex(row.id, row.space_id, row.collection, level=True),
        ChromaStoredVectors(site.chroma_url, site.catalog, site.folder / "chroma"),
    )


def _index(catalog: Catalog, site: Site) -> IndexRow:
    with catalog.write() as tx:
        return indexes.create(tx, site.space, id=IndexId(uuid.uuid4().hex), embedder=SPEC, now=now())


def test_a_sound_collection_is_counted_by_version(scene: Scene) -> None:
    assert scene.vectors.fault(scene.stored) is None, "there is none yet, which is no fault"
    scene.fill()
    assert scene.vectors.fault(scene.stored) is None
    assert scene.vectors.count(scene.stored) == 3
    assert scene.vectors.sizes(scene.stored) == {OLD: 2, NEW: 1}
    scene.vectors.delete_versions(scene.stored, [OLD])
    assert scene.vectors.sizes(scene.stored) == {NEW: 1}


def test_vectors_that_somebody_else_put_there_are_counted_and_can_be_deleted(scene: Scene) -> None:
    scene.fill()
    collection = scene.client.get_collection(scene.row.collection, embedding_function=None)
    collection.add(ids=["x", "y"], embeddings=[[1.0, 0.0, 0.0, 0.0]] * 2)
    collection.add(ids=["z"], embeddings=[[1.0, 0.0, 0.0, 0.0]], metadatas=[{"mine": "no"}])
    assert scene.vectors.sizes(scene.stored) == {OLD: 2, NEW: 1, NOBODYS: 3}
    scene.vectors.delete_versions(scene.stored, [NOBODYS])
    assert scene.vectors.sizes(scene.stored) == {OLD: 2, NEW: 1}


def test_another_metric_and_another_width_are_told(scene: Scene) -> None:
    identity = {"embedder": "small", "revision": "0" * 64, "dimension": 4, "query_prompt": "", "document_prompt": ""}
    client = scene.client
    client.create_collection(scene.row.collection, configuration={"hnsw": {"space": "l2"}}, metadata=identity)
    assert "measures by 'l2'" in (scene.vectors.fault(scene.stored) or "")
    client.delete_collection(scene.row.collection)
    narrow = client.create_collection(
        scene.row.collection, configuration={"hnsw": {"space": "cosine"}}, metadata=identity, embedding_function=None
    )
    narrow.add(ids=["x"], embeddings=[[1.0, 0.0]])
    assert "have the width 2, not 4" in (scene.vectors.fault(scene.stored) or "")
    scene.vectors.drop(scene.stored)
    assert scene.vectors.fault(scene.stored) is None
    scene.fill()
    assert scene.vectors.count(scene.stored) == 3


def test_dropping_twice_is_no_error_and_what_was_opened_is_opened_anew(scene: Scene) -> None:
    scene.fill()
    assert scene.vectors.count(scene.stored) == 3
    scene.vectors.drop(scene.stored)
    scene.vectors.drop(scene.stored)
    assert scene.vectors.count(scene.stored) == 0


def test_collections_of_nobody_are_found_by_name(scene: Scene) -> None:
    scene.fill()
    client = scene.client
    stray = f"ragstone-{uuid.uuid4().hex}"
    client.create_collection(stray)
    client.create_collection(f"other-{uuid.uuid4().hex}")
    found = scene.vectors.strays({scene.row.collection})
    assert stray in found
    assert scene.row.collection not in found
    assert all(name.startswith("ragstone-") for name in found)


def test_a_server_that_is_away_is_no_fault_of_a_collection(site: Site, scene: Scene) -> None:
    away = ChromaStoredVectors("http://127.0.0.1:9", site.catalog, site.folder)
    for ask in (lambda: away.fault(scene.stored), lambda: away.drop(scene.stored), lambda: away.strays([])):
        with pytest.raises(RagstoneError) as caught:
            ask()
        assert caught.value.code is ErrorCode.VECTOR_STORE_UNAVAILABLE
