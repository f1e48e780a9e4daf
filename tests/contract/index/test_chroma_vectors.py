"""Vectors in a real Chroma server."""

import json
import socket
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from services.shared.catalog.indexes import EmbedderSpec, IndexRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId, VersionId
from services.shared.contracts.search import Filters
from services.shared.index import chroma
from services.shared.index.chroma import VectorIndex, VectorItem, Vectors, ping

CORPUS = Path(__file__).parents[4] / "shared" / "cases" / "files" / "v20_filter_corpus.jsonl"
SPEC = EmbedderSpec(name="m", revision="r", dimension=4, query_prompt="", document_prompt="", max_tokens=256)


def row(spec: EmbedderSpec = SPEC, id: str | None = None) -> IndexRow:
    id = id or uuid.uuid4().hex
    return IndexRow(IndexId(id), SpaceId("main"), spec, f"ragstone-{id}", datetime.now(UTC))


def item(id: str, version: str = "v", document: str = "d", **described: Any) -> VectorItem:
    values: dict[str, Any] = {"type": None, "tags": [], "kind": "fact", **described}
    return VectorItem(ChunkId(id), DocumentId(document), VersionId(version), **values)


def rows(*vectors: list[float]) -> Vectors:
    return np.array(vectors, dtype=np.float32)


def client(url: str) -> Any:
    return chroma._client(url, 30)


def ids(index: VectorIndex, vector: list[float], k: int = 10, filters: Filters | None = None) -> list[str]:
    return [hit.chunk_id for hit in index.query(rows(vector), k, filters)[0]]


@pytest.fixture
def index(chroma_url: str) -> VectorIndex:
    return VectorIndex(chroma_url, row())


def test_distances_are_cosine_whatever_the_length(index: VectorIndex) -> None:
    index.upsert(
        [item("same"), item("longer"), item("opposite"), item("across")],
        rows([1, 0, 0, 0], [9, 0, 0, 0], [-1, 0, 0, 0], [0, 1, 0, 0]),
    )
    (hits,) = index.query(rows([2, 0, 0, 0]), 10)
    assert {hit.chunk_id: hit.distance for hit in hits} == pytest.approx(
        {"longer": 0, "same": 0, "across": 1, "opposite": 2}, abs=1e-4
    )
    assert [hit.chunk_id for hit in hits] == ["longer", "same", "across", "opposite"]
    assert all(0 <= hit.distance <= 2 for hit in hits)


def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert index.query(rows([1, 0, 0, 0], [0, 1, 0, 0]), 5) == [[], []]
    assert index.query(np.zeros((0, 4), dtype=np.float32), 5) == []
    assert index.count() == 0
    assert index.versions() == set()
    index.upsert([], np.zeros((0, 4), dtype=np.float32))
    index.delete_versions([])
    index.delete_versions([VersionId("unknown")])


def test_several_questions_are_answered_in_order(index: VectorIndex) -> None:
    index.upsert([item("c1"), item("c2")], rows([1, 0, 0, 0], [0, 1, 0, 0]))
    found = index.query(rows([0, 1, 0, 0], [1, 0, 0, 0]), 1)
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
    assert index.versions() == {"va", "vb"}
    index.delete_versions([VersionId("va"), VersionId("vc")])
    assert index.versions() == {"vb"}
    assert ids(index, [0, 0, 0, 1]) == ["b1"]


def test_more_than_one_batch(index: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "BATCH", 7)
    vectors = np.random.default_rng(1).normal(size=(25, 4)).astype(np.float32)
    index.upsert([item(f"c{n:02d}", f"v{n}") for n in range(25)], vectors)
    assert index.count() == 25
    assert index.versions() == {f"v{n}" for n in range(25)}
    assert all(ids(index, vectors[n].tolist(), 1) == [f"c{n:02d}"] for n in range(25))
    index.delete_versions([VersionId(f"v{n}") for n in range(20)])
    assert index.count() == 5


@pytest.mark.parametrize("configuration", [None, {"hnsw": {"space": "ip"}}])
def test_a_collection_of_another_metric_is_refused(chroma_url: str, configuration: Any) -> None:
    foreign = row()
    client(chroma_url).create_collection(foreign.collection, configuration=configuration, embedding_function=None)
    with pytest.raises(RagstoneError, match=r"measures by '(l2|ip)' and not by 'cosine'") as refused:
        VectorIndex(chroma_url, foreign).query(rows([1, 0, 0, 0]), 1)
    assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


def test_a_cosine_collection_that_nobody_described_is_refused(chroma_url: str) -> None:
    foreign = row()
    client(chroma_url).create_collection(
        foreign.collection, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    with pytest.raises(RagstoneError, match="its embedder is None"):
        VectorIndex(chroma_url, foreign).count()


@pytest.mark.parametrize(
    "other",
    [
        EmbedderSpec("other", "r", 4, "", "", 256),
        EmbedderSpec("m", "other", 4, "", "", 256),
        EmbedderSpec("m", "r", 5, "", "", 256),
        EmbedderSpec("m", "r", 4, "query: ", "", 256),
    ],
)
def test_a_collection_of_another_embedder_is_refused(chroma_url: str, other: EmbedderSpec) -> None:
    made = row()
    VectorIndex(chroma_url, made).upsert([item("c")], rows([1, 0, 0, 0]))
    with pytest.raises(RagstoneError, match="cannot be used: its ") as refused:
        VectorIndex(chroma_url, row(other, made.id)).count()
    assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


def test_vectors_of_another_width_are_refused(index: VectorIndex) -> None:
    for use in (lambda: index.upsert([item("c")], rows([1, 0])), lambda: index.query(rows([1, 0]), 1)):
        with pytest.raises(RagstoneError, match="do not fit") as refused:
            use()
        assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


def test_a_collection_deleted_and_made_again_is_noticed(chroma_url: str) -> None:
    made = row()
    one, other = VectorIndex(chroma_url, made), VectorIndex(chroma_url, made)
    one.upsert([item("old")], rows([1, 0, 0, 0]))
    assert ids(other, [1, 0, 0, 0]) == ["old"]
    client(chroma_url).delete_collection(made.collection)
    one.upsert([item("new")], rows([1, 0, 0, 0]))
    assert ids(other, [1, 0, 0, 0]) == ["new"]
    assert other.count() == one.count() == 1


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
    while writer.is_alive():
        assert len(index.query(vectors[:1], 5)) == 1
    writer.join()
    assert index.count() == 1500


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    for use in (lambda: ping(url), lambda: VectorIndex(url, row()).count()):
        with pytest.raises(RagstoneError, match="Start Chroma") as error:
            use()
        assert error.value.code == ErrorCode.VECTOR_STORE_UNAVAILABLE


def test_a_server_that_hangs_later_does_not_hang_its_caller(chroma_url: str) -> None:
    index = VectorIndex(chroma_url, row(), timeout_s=1)
    index.count()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        server = index._handle._client
        server._api_url = server._api_url.replace(chroma_url, f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(RagstoneError, match="ReadTimeout") as error:
            index.count()
        assert error.value.code == ErrorCode.VECTOR_STORE_UNAVAILABLE


def test_a_server_that_hangs_does_not_hang_its_caller() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        start = time.monotonic()
        with pytest.raises(RagstoneError) as error:
            ping(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=1)
        assert error.value.code == ErrorCode.VECTOR_STORE_UNAVAILABLE
        assert time.monotonic() - start < 10


def exact(vectors: Vectors, names: list[str], asked: Vectors, k: int) -> list[list[str]]:
    near = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) @ asked.T
    return [[names[n] for n in np.argsort(-column, kind="stable")[:k]] for column in near.T]


def test_recall_with_a_narrow_filter_among_near_equal_vectors(chroma_url: str) -> None:
    """The shape of a shift log with a handful of policies in it: 1,500 notes that are almost one, 6 others."""
    random = np.random.default_rng(20)
    notes = random.normal(size=64) + random.normal(scale=0.02, size=(1500, 64))
    policies = random.normal(size=(6, 64))
    vectors = np.concatenate([notes, policies]).astype(np.float32)
    names = [f"note-{n:04d}" for n in range(1500)] + [f"policy-{n}" for n in range(6)]
    index = VectorIndex(chroma_url, row(EmbedderSpec("m", "r", 64, "", "", 256)))
    index.upsert([item(name, type=name[:4]) for name in names], vectors)
    asked = np.concatenate([random.normal(size=(50, 64)), vectors[::30] + 0.01]).astype(np.float32)
    best = exact(vectors[1500:], names[1500:], asked, 5)
    five = index.query(asked, 5, Filters(type="poli"))
    assert [[hit.chunk_id for hit in hits] for hits in five] == best
    assert [len(hits) for hits in index.query(asked, 50, Filters(type="poli"))] == [6] * len(asked)
    few, many = index.query(asked, 5), index.query(asked, 50)
    assert few == [hits[:5] for hits in many]
    truth = exact(vectors, names, asked, 5)
    shared = [len(set(right) & {hit.chunk_id for hit in hits}) / 5 for right, hits in zip(truth, few, strict=True)]
    assert np.mean(shared) >= 0.99


def test_what_the_approximate_search_leaves_out_is_measured(
    index: VectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.upsert([item("c1"), item("c2"), item("c3")], rows([1, 0, 0, 0], [1, 1, 0, 0], [-1, 0, 0, 0]))
    near: list[dict[str, float]] = [{"c2": 0.25}, {}]
    index._complete(near, rows([1, 0, 0, 0], [0, 1, 0, 0]), None)
    assert near[0] == pytest.approx({"c1": 0, "c2": 0.25, "c3": 2}, abs=1e-6)
    assert near[1] == pytest.approx({"c1": 1, "c2": 1 - 0.5**0.5, "c3": 1}, abs=1e-6)


@pytest.mark.skipif(not CORPUS.exists(), reason="the filter corpus is not beside the checkout")
@pytest.mark.slow
def test_policies_are_found_among_the_notes(chroma_url: str) -> None:
    from services.shared.kit.settings import EmbedderSettings
    from services.shared.models.loader import load_embedder

    corpus = [json.loads(line) for line in CORPUS.open(encoding="utf-8")]
    model = load_embedder(EmbedderSettings(embed_batch=32))
    index = VectorIndex(chroma_url, row(model.spec))
    vectors = model.embed_documents([entry["text"] for entry in corpus])
    index.upsert([item(entry["id"], type=entry["type"]) for entry in corpus], vectors)
    asked = model.embed_questions(["who approves holiday requests"])
    (hits,) = index.query(asked, 5, Filters(type="policy"))
    policies = [n for n, entry in enumerate(corpus) if entry["type"] == "policy"]
    assert [hit.chunk_id for hit in hits] == exact(vectors[policies], [corpus[n]["id"] for n in policies], asked, 5)[0]
    assert hits[0].chunk_id == "policy-0"
    questions = vectors[:: len(vectors) // 100]
    few, many = index.query(questions, 5), index.query(questions, 50)
    assert few == [found[:5] for found in many]
    truth = vectors @ questions.T
    for column, found in zip(truth.T, few, strict=True):
        # Near-equal notes tie: what counts is that nothing nearer was missed.
        assert found[-1].distance <= 1 - np.sort(column)[-5] + 1e-3
