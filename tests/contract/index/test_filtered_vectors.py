"""Filtered searches find exactly what a scan of everything finds, by whichever of their three ways they go."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId, chunk_id
from services.shared.contracts.search import Filters
from services.shared.index import filtered, kept
from services.shared.index.chroma import VectorIndex, VectorItem, Vectors
from services.shared.index.chroma_read import VectorHit
from services.shared.index.filtered import LiveVectors
from services.shared.index.filters import Wanted, wanted
from services.shared.index.live import Members

from .vectors import reader, row

WIDTH = 16
DOCUMENTS = 400
A_DOCUMENT = 3
DEAD = 10
"""Documents of the index that are not live any more."""


@dataclass
class Listed:
    """Stands for the live versions of a catalog, which has tests of its own."""

    items: Sequence[VectorItem]

    def passing(self, wish: Wanted) -> Members:
        live = self.items[DEAD * A_DOCUMENT :]
        versions = [item.version_id for item in live if wish.fits(item.document_id, item.type, item.tags)]
        counts = {version: versions.count(version) for version in dict.fromkeys(versions)}
        return Members(counts, len(versions), len(live))


@dataclass(frozen=True)
class World:
    """An index of a few clusters, what is in it, and the search over it."""

    index: VectorIndex
    items: list[VectorItem]
    vectors: Vectors
    asked: Vectors

    def search(self) -> LiveVectors:
        return LiveVectors(reader(self.index), Listed(self.items))  # type: ignore[arg-type]

    def scan(self, asked: Vectors, k: int, wish: Wanted, without: Sequence[ChunkId] = ()) -> list[list[ChunkId]]:
        """The exact answer."""
        fits = [
            n
            for n, item in enumerate(self.items)
            if n >= DEAD * A_DOCUMENT
            and wish.fits(item.document_id, item.type, item.tags)
            and item.chunk_id not in without
        ]
        near = self.vectors[fits] @ (asked / np.linalg.norm(asked, axis=1, keepdims=True)).T
        return [[self.items[fits[n]].chunk_id for n in np.argsort(-column)[:k]] for column in near.T]


@pytest.fixture(scope="module")
def world(chroma_url: str) -> World:
    random = np.random.default_rng(57)
    centres = random.normal(size=(8, WIDTH))
    vectors = centres[random.integers(0, 8, size=DOCUMENTS * A_DOCUMENT)]
    vectors = vectors + random.normal(scale=0.3, size=vectors.shape)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    items = []
    for n in range(DOCUMENTS):
        version = VersionId(f"{n:032x}")
        kind = "rare" if n % 40 == 0 else "some" if n % 5 == 0 else "most"
        items += [
            VectorItem(chunk_id(version, place), DocumentId(f"d{n}"), version, kind, [f"t{n % 2}"], "fact")
            for place in range(A_DOCUMENT)
        ]
    index = VectorIndex(chroma_url, row(EmbedderSpec("m", "r", WIDTH, "", "", 256)))
    index.upsert(items, vectors)
    asked = np.concatenate([vectors[:8], random.normal(size=(6, WIDTH))]).astype(np.float32)
    return World(index, items, vectors, asked)


FILTERS = [
    Filters(),
    Filters(type="rare"),
    Filters(type="some"),
    Filters(type="most"),
    Filters(type=["rare", "most"]),
    Filters(tags=["t1"]),
    Filters(tags=["t0"], type="some"),
    Filters(document_id=["d20", "d21"]),
]


def ways() -> dict[str, Callable[[pytest.MonkeyPatch], None]]:
    def kept_here(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(kept, "AT_ONCE", 5000)

    def asked_for_more(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(filtered, "EXACT", 0)

    def by_chroma(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(filtered, "EXACT", 0)
        patch.setattr(filtered, "WIDEST", 0)

    return {"kept": kept_here, "more": asked_for_more, "chroma": by_chroma}


def found(hits: Sequence[Sequence[VectorHit]]) -> list[list[ChunkId]]:
    return [[hit.chunk_id for hit in one] for one in hits]


@pytest.mark.parametrize("way", ways())
def test_every_way_finds_what_a_scan_finds(world: World, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    ways()[way](monkeypatch)
    search = world.search()
    for filters in FILTERS:
        wish = wanted(filters)
        few, many = search.query(world.asked, 5, wish), search.query(world.asked, 50, wish)
        assert found(many) == world.scan(world.asked, 50, wish), filters
        assert few == [hits[:5] for hits in many]


@pytest.mark.parametrize("way", ways())
def test_chunks_left_out(world: World, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    ways()[way](monkeypatch)
    search = world.search()
    for filters in (Filters(), Filters(type="some")):
        wish = wanted(filters)
        without = [hit.chunk_id for hits in search.query(world.asked[:4], 8, wish) for hit in hits]
        assert found(search.query(world.asked[:4], 5, wish, without)) == world.scan(world.asked[:4], 5, wish, without)


def test_vectors_of_dead_documents_are_passed_over(world: World) -> None:
    dead = world.vectors[: DEAD * A_DOCUMENT]
    hits = world.search().query(dead, 5, Wanted())
    assert found(hits) == world.scan(dead, 5, Wanted())


def test_a_crowd_of_dead_chunks_does_not_hide_the_living(chroma_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filtered, "SPARE", 0)
    index = VectorIndex(chroma_url, row(EmbedderSpec("m", "r", WIDTH, "", "", 256)))
    items = [
        VectorItem(chunk_id(VersionId(f"{n:032x}"), 0), DocumentId(f"d{n}"), VersionId(f"{n:032x}"), None, [], "fact")
        for n in range(1200)
    ]
    vectors = np.random.default_rng(1).normal(scale=0.01, size=(1200, WIDTH)).astype(np.float32)
    vectors[:, 0] = 1
    vectors[-3:, 0] = -1
    index.upsert(items, vectors)

    class LastThree(Listed):
        def passing(self, wish: Wanted) -> Members:
            return Members({item.version_id: 1 for item in items[-3:]}, 3, 3)

    (hits,) = LiveVectors(reader(index), LastThree(items)).query(vectors[:1], 100, Wanted())  # type: ignore[arg-type]
    assert {hit.chunk_id for hit in hits} == {item.chunk_id for item in items[-3:]}


def test_many_vectors_are_read_beside_the_searches_and_used_afterwards(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "AT_ONCE", 10)
    search, wish = world.search(), wanted(Filters(type="some"))
    first = search.query(world.asked, 5, wish)
    reading = search._kept._reading
    assert reading is not None
    reading.join(30)
    monkeypatch.setattr(search._reader, "query", lambda *_: pytest.fail("Chroma was asked"))
    assert found(search.query(world.asked, 5, wish)) == found(first) == world.scan(world.asked, 5, wish)


def test_what_was_not_used_for_longest_is_let_go(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "KEPT_BYTES", 4 * A_DOCUMENT * WIDTH * 4)
    search = world.search()
    for n in range(20, 30):
        wish = wanted(Filters(document_id=f"d{n}"))
        assert found(search.query(world.asked, 5, wish)) == world.scan(world.asked, 5, wish)
    assert list(search._kept._blocks) == [VersionId(f"{n:032x}") for n in range(26, 30)]
    assert search._kept._bytes == 4 * A_DOCUMENT * WIDTH * 4


def test_a_version_that_lacks_a_vector_is_not_kept(chroma_url: str) -> None:
    index = VectorIndex(chroma_url, row(EmbedderSpec("m", "r", WIDTH, "", "", 256)))
    version = VersionId("a" * 32)
    items = [VectorItem(chunk_id(version, n), DocumentId("d"), version, None, [], "fact") for n in range(2)]
    vectors = np.eye(2, WIDTH, dtype=np.float32)
    index.upsert(items[:1], vectors[:1])

    class Two(Listed):
        members = Members({version: 2}, 2, 2)

        def passing(self, wish: Wanted) -> Members:
            return self.members

    search, wish = LiveVectors(reader(index), Two(items)), wanted(Filters(document_id="d"))  # type: ignore[arg-type]
    assert found(search.query(vectors[:1], 5, wish)) == [[items[0].chunk_id]]
    index.upsert(items[1:], vectors[1:])
    assert found(search.query(vectors[:1], 5, wish)) == [[items[0].chunk_id, items[1].chunk_id]]


def test_single_vectors_are_remembered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    search = world.search()
    ids = [item.chunk_id for item in world.items[:3]]
    stored = search.stored([*ids, ChunkId("lost-00000")])
    assert list(stored) == ids
    assert all(np.allclose(stored[id], world.vectors[n], atol=1e-6) for n, id in enumerate(ids))
    monkeypatch.setattr(search._reader, "vectors", lambda *_: pytest.fail("Chroma was asked"))
    assert search.stored(ids) == stored


def test_threads_share_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "AT_ONCE", 200)
    search = world.search()
    wrong: list[object] = []

    def ask(filters: Filters) -> None:
        wish = wanted(filters)
        for _ in range(10):
            hits = found(search.query(world.asked[:3], 5, wish))
            if hits != world.scan(world.asked[:3], 5, wish):
                wrong.append((filters, hits))

    threads = [threading.Thread(target=ask, args=(filters,)) for filters in FILTERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
