"""Vectors in a real Chroma server."""

import threading

import numpy as np
import pytest

from services.shared.contracts.ids import ChunkId, VersionId
from services.shared.contracts.search import Filters
from services.shared.index import chroma, chroma_read
from services.shared.index.chroma import VectorIndex
from services.shared.index.chroma_read import VectorReader

from .vectors import client, ids, item, reader, row, rows


@pytest.fixture
def index(chroma_url: str) -> VectorIndex:
    return VectorIndex(chroma_url, row())


def test_distances_are_cosine_whatever_the_length(index: VectorIndex) -> None:
    index.upsert(
        [item("same"), item("longer"), item("opposite"), item("across")],
        rows([1, 0, 0, 0], [9, 0, 0, 0], [-1, 0, 0, 0], [0, 1, 0, 0]),
    )
    (hits,) = reader(index).query(rows([2, 0, 0, 0]), 10)
    assert {hit.chunk_id: hit.distance for hit in hits} == pytest.approx(
        {"longer": 0, "same": 0, "across": 1, "opposite": 2}, abs=1e-4
    )
    assert [hit.chunk_id for hit in hits] == ["longer", "same", "across", "opposite"]
    assert all(0 <= hit.distance <= 2 for hit in hits)


def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert reader(index).query(rows([1, 0, 0, 0], [0, 1, 0, 0]), 5) == [[], []]
    assert reader(index).query(np.zeros((0, 4), dtype=np.float32), 5) == []
    assert index.count() == 0
    assert index.versions() == set()
    assert index.present([]) == index.present([ChunkId("c1")]) == set()
    index.upsert([], np.zeros((0, 4), dtype=np.float32))
    index.delete_versions([])
    index.delete_versions([VersionId("unknown")])


def test_several_questions_are_answered_in_order(index: VectorIndex) -> None:
    index.upsert([item("c1"), item("c2")], rows([1, 0, 0, 0], [0, 1, 0, 0]))
    found = reader(index).query(rows([0, 1, 0, 0], [1, 0, 0, 0]), 1)
    assert [[hit.chunk_id for hit in hits] for hits in found] == [["c2"], ["c1"]]


def test_filters(index: VectorIndex) -> None:
    index.upsert(
        [
            item("c1", document="d1", type="faq", tags=["red", "very hot", "red"]),
            item("c2", document="d2", type="note", tags=["red"]),
            item("c3", document="d3", kind="negative"),
        ],
        rows([1, 0, 0, 0], [1, 0.1, 0, 0], [1, 0.2, 0, 0]),
    )
    asked = [1.0, 0, 0, 0]
    assert ids(index, asked) == ["c1", "c2", "c3"]
    assert ids(index, asked, filters=Filters()) == ["c1", "c2", "c3"]
    assert ids(index, asked, filters=Filters(tags=[])) == ["c1", "c2", "c3"]
    assert ids(index, asked, filters=Filters(type="note")) == ["c2"]
    assert ids(index, asked, filters=Filters(type=["faq", "note"])) == ["c1", "c2"]
    assert ids(index, asked, filters=Filters(tags=["red"])) == ["c1", "c2"]
    assert ids(index, asked, filters=Filters(tags=["red", "very hot"])) == ["c1"]
    assert ids(index, asked, filters=Filters(tags=["re"])) == []
    assert ids(index, asked, filters=Filters(document_id=["d3", "d2"])) == ["c2", "c3"]
    assert ids(index, asked, filters=Filters(document_id="d2", type="note", tags=["red"])) == ["c2"]
    assert ids(index, asked, filters=Filters(type="unknown")) == []
    assert ids(index, asked, filters=Filters(type=[])) == []


def test_a_second_upsert_replaces_and_versions_are_counted_and_deleted(index: VectorIndex) -> None:
    index.upsert([item("a1", "va"), item("a2", "va"), item("b1", "vb")], rows([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]))
    index.upsert([item("a1", "va")], rows([0, 0, 0, 1]))
    assert (index.count(), index.count(VersionId("va")), index.count(VersionId("vc"))) == (3, 2, 0)
    assert ids(index, [0, 0, 0, 1], 1) == ["a1"]
    assert index.sizes() == {"va": 2, "vb": 1}
    assert index.versions() == {"va", "vb"}
    assert index.present([ChunkId("b1"), ChunkId("a1"), ChunkId("c1")]) == {"a1", "b1"}
    index.delete_versions([VersionId("va"), VersionId("vc")])
    assert index.versions() == {"vb"}
    assert ids(index, [0, 0, 0, 1]) == ["b1"]


def test_more_than_one_batch(index: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "BATCH", 7)
    vectors = np.random.default_rng(1).normal(size=(25, 4)).astype(np.float32)
    index.upsert([item(f"c{n:02d}", f"v{n}") for n in range(25)], vectors)
    assert index.count() == 25
    assert index.sizes() == {f"v{n}": 1 for n in range(25)}
    assert index.present([ChunkId(f"c{n:02d}") for n in range(3, 30)]) == {f"c{n:02d}" for n in range(3, 25)}
    assert all(ids(index, vectors[n].tolist(), 1) == [f"c{n:02d}"] for n in range(25))
    index.delete_versions([VersionId(f"v{n}") for n in range(20)])
    assert index.count() == 5


def test_a_collection_deleted_and_made_again_is_noticed(chroma_url: str) -> None:
    made = row()
    one, other, asking = VectorIndex(chroma_url, made), VectorIndex(chroma_url, made), VectorReader(chroma_url, made)
    asked = rows([1, 0, 0, 0])
    assert asking.query(asked, 5) == [[]]
    one.upsert([item("old")], asked)
    assert [hit.chunk_id for hit in asking.query(asked, 5)[0]] == ["old"]
    assert other.count() == 1
    client(chroma_url).delete_collection(made.collection)
    assert (asking.query(asked, 5), asking.count()) == ([[]], 0)
    one.upsert([item("new")], asked)
    assert [hit.chunk_id for hit in asking.query(asked, 5)[0]] == ["new"]
    assert other.count() == one.count() == asking.count() == 1


def test_many_threads_open_one_collection(chroma_url: str) -> None:
    made = row()
    failures: list[Exception] = []

    def write(n: int) -> None:
        try:
            VectorIndex(chroma_url, made).upsert([item(f"c{n}")], rows([1, n, 0, 0]))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert VectorIndex(chroma_url, made).count() == 6


def test_queries_during_the_first_writes_do_not_fail(index: VectorIndex) -> None:
    vectors = np.random.default_rng(2).normal(size=(1500, 4)).astype(np.float32)

    def write() -> None:
        for n in range(0, 1500, 50):
            index.upsert([item(f"c{n + i}") for i in range(50)], vectors[n : n + 50])

    writer = threading.Thread(target=write)
    writer.start()
    asking = reader(index)
    while writer.is_alive():
        assert len(asking.query(vectors[:1], 5)) == 1
    writer.join()
    assert index.count() == 1500


def test_chunks_left_out_make_room_for_the_next(index: VectorIndex) -> None:
    index.upsert([item(f"c{n}") for n in range(6)], rows(*[[1, n / 10, 0, 0] for n in range(6)]))
    without = [ChunkId("c0"), ChunkId("c2"), ChunkId("never")]
    (hits,) = reader(index).query(rows([1, 0, 0, 0]), 3, without=without)
    assert [hit.chunk_id for hit in hits] == ["c1", "c3", "c4"]


def test_vectors_come_back_by_chunk_and_by_version(index: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma_read, "BATCH", 2)
    index.upsert(
        [item("a1", "va"), item("a2", "va"), item("b1", "vb"), item("c1", "vc")],
        rows([3, 0, 0, 0], [0, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]),
    )
    found, vectors = reader(index).vectors([ChunkId("a2"), ChunkId("lost"), ChunkId("a1"), ChunkId("c1")])
    assert dict(zip(found, vectors.tolist(), strict=True)) == {
        "a1": [1, 0, 0, 0],
        "a2": [0, 1, 0, 0],
        "c1": [0, 0, 0, 1],
    }
    found, vectors = reader(index).vectors_of({VersionId("va"): 2, VersionId("vb"): 1, VersionId("lost"): 7})
    assert sorted(found) == ["a1", "a2", "b1"]
    assert vectors.shape == (3, 4)
    nothing, empty = reader(index).vectors([])
    assert (nothing, empty.shape) == ([], (0, 4))
