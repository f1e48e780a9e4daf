"""BM25 against rank-bm25, in small collections, under change and with filters."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Plus

from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.contracts.search import Filters
from services.shared.index import bm25
from services.shared.index.analyser import question_tokens, tokens
from services.shared.index.bm25 import Bm25Chunk, BM25Index

WORDS = st.sampled_from(["ale", "bun", "cod", "dip", "egg", "fig"])
TEXT = st.lists(WORDS, max_size=12)
TYPES = ("faq", "note", None)

KETTLE = "The kettle in the break room holds exactly 1.7 litres."
LIFT = "The goods lift carries 630 kilograms at most."


def put(index: BM25Index, id: str, text: Sequence[str], document: str = "d", **described: Any) -> None:
    index.add(ChunkId(id), text, document_id=DocumentId(document), **described)


def found(index: BM25Index, text: Sequence[str], k: int = 10, filters: Filters | None = None) -> list[str]:
    return [hit.chunk_id for hit in index.search(text, k, filters)]


def oracle(texts: dict[str, list[str]], asked: list[str], index: BM25Index) -> dict[str, float]:
    if not any(texts.values()):
        return dict.fromkeys(texts, 0.0)
    scorer = BM25Plus(list(texts.values()), k1=index.k1, b=index.b, delta=0)
    # With b = 1 rank-bm25 divides nought by nought for a text without words, which holds nothing and scores 0.
    with np.errstate(invalid="ignore"):
        scores = np.nan_to_num(scorer.get_scores(asked))
    return dict(zip(texts, map(float, scores), strict=True))


@dataclass
class Library:
    """An index, and what must be in it."""

    index: BM25Index
    texts: dict[str, list[str]] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)

    def put(self, number: int, text: list[str]) -> None:
        id, document = f"c{number}", f"d{number % 3}"
        put(self.index, id, text, document, type=TYPES[number % 3], tags=["red"] if number % 2 else [])
        self.texts[id], self.documents[id] = text, document

    def remove(self, number: int) -> None:
        self.index.remove(ChunkId(f"c{number}"))
        self.texts.pop(f"c{number}", None)

    def replace(self, document: int, texts: list[list[str]]) -> None:
        name = f"d{document}"
        fresh = {f"c{document + 3 * n}": text for n, text in enumerate(texts)}
        chunks = [
            Bm25Chunk(ChunkId(id), text, DocumentId(name), TYPES[document], ["red"] if (document + 3 * n) % 2 else [])
            for n, (id, text) in enumerate(fresh.items())
        ]
        self.index.replace_document(DocumentId(name), chunks)
        self.texts = {id: text for id, text in self.texts.items() if self.documents[id] != name} | fresh
        self.documents |= dict.fromkeys(fresh, name)

    def tidy(self) -> None:
        self.index = self.index.tidied()


STEP = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 9), TEXT),
    st.tuples(st.just("remove"), st.integers(0, 9)),
    st.tuples(st.just("replace"), st.integers(0, 2), st.lists(TEXT, max_size=3)),
    st.tuples(st.just("tidy")),
)


@settings(max_examples=150, deadline=None)
@example(steps=[("put", 0, ["ale"]), ("put", 1, [])], asked=["ale"], k1=1.0, b=1.0, without=[])
@example(steps=[("put", 0, ["ale"] * 300), ("tidy",), ("put", 1, ["ale"])], asked=["ale"], k1=1.0, b=0.5, without=[0])
@given(
    steps=st.lists(STEP, max_size=30),
    asked=TEXT,
    k1=st.floats(0.1, 3),
    b=st.floats(0, 1),
    without=st.lists(st.integers(0, 10), max_size=4),
)
def test_scores_are_rank_bm25s_through_any_changes(
    steps: list[tuple[Any, ...]], asked: list[str], k1: float, b: float, without: list[int]
) -> None:
    library = Library(BM25Index(k1, b))
    for name, *what in steps:
        getattr(library, name)(*what)
        # Asked in between, so that what an index remembers can go stale.
        library.index.search(asked, 3)
    index, live = library.index, library.texts
    expected = oracle(live, asked, index)
    assert index.scores(asked) == pytest.approx(expected, abs=1e-9)
    hits = index.search(asked, 10)
    assert {hit.chunk_id for hit in hits} == {id for id, text in live.items() if set(text) & set(asked)}
    assert [hit.score for hit in hits] == pytest.approx([expected[hit.chunk_id] for hit in hits], abs=1e-9)
    assert all(hit.score > 0 for hit in hits)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))
    left_out = frozenset(ChunkId(f"c{number}") for number in without)
    fitting = {id for id, document in library.documents.items() if TYPES[int(document[1])] == "faq" and int(id[1:]) % 2}
    for k in range(4):
        assert index.search(asked, k) == hits[:k]
        assert index.search(asked, k, without=left_out) == [hit for hit in hits if hit.chunk_id not in left_out][:k]
        filtered = [hit for hit in hits if hit.chunk_id in fitting - left_out]
        assert index.search(asked, k, Filters(type="faq", tags=["red"]), left_out) == filtered[:k]


@pytest.mark.parametrize("texts", [1, bm25.GROUP * 3, bm25.GROUP * 40 + 7])
def test_the_best_of_many(texts: int) -> None:
    # Enough texts that the best are looked for in groups; some words in nearly all texts, some in few.
    rng = np.random.default_rng(texts)
    words = np.array([f"w{n}" for n in range(300)])
    drawn = {f"c{n}": words[rng.zipf(1.3, 20) % 300].tolist() for n in range(texts)}
    index = BM25Index()
    for id, text in drawn.items():
        put(index, id, text)
    for asked in (["w1", "w2", "w1"], ["w1", "w40"], ["w200"], ["w1", "w2", "w3", "w7", "w150"]):
        expected = oracle(drawn, asked, index)
        assert index.scores(asked) == pytest.approx(expected, abs=1e-9)
        ours = index.scores(asked)
        order = sorted((id for id in ours if ours[id] > 0), key=lambda id: (-ours[id], id))
        for k in (1, 10, 100):
            assert found(index, asked, k) == order[:k]


@given(texts=st.lists(TEXT, min_size=1, max_size=12), asked=st.lists(WORDS, min_size=1, max_size=4))
def test_a_text_with_all_words_never_scores_below_one_with_none(texts: list[list[str]], asked: list[str]) -> None:
    index = BM25Index()
    for n, text in enumerate(texts):
        put(index, f"c{n}", text)
    scores = index.scores(asked)
    full = [scores[ChunkId(f"c{n}")] for n, text in enumerate(texts) if set(asked) <= set(text)]
    none = [scores[ChunkId(f"c{n}")] for n, text in enumerate(texts) if not set(asked) & set(text)]
    assert min(full, default=1.0) > max(none, default=0.0)


@pytest.mark.parametrize("others", [[], [LIFT], [LIFT, *(f"Unrelated sheet number {n}." for n in range(50))]])
def test_a_match_counts_in_a_collection_of_any_size(others: list[str]) -> None:
    index = BM25Index()
    for n, text in enumerate([KETTLE, *others]):
        put(index, f"c{n}", tokens(text))
    assert found(index, question_tokens("kettle")) == ["c0"]


def test_nothing_to_search_finds_nothing() -> None:
    index = BM25Index()
    assert index.search(["ale"], 5) == []
    put(index, "dashes", tokens("-------"))
    assert index.search(["ale"], 5) == []
    assert index.search([], 5) == []
    index.remove(ChunkId("dashes"))
    index.remove(ChunkId("dashes"))
    assert len(index) == 0
    assert index.search(["ale"], 5) == []
    assert index.coverage(["ale"], ["ale"]) == 1.0
    put(index, "c", ["ale"])
    assert found(index, ["ale"]) == ["c"]


def test_equal_scores_are_ordered_by_id_also_at_the_cut() -> None:
    index = BM25Index()
    for id in ("c3", "c1", "c4", "c2"):
        put(index, id, ["ale", "bun"])
    assert found(index, ["ale"], 2) == ["c1", "c2"]


def test_filters() -> None:
    index = BM25Index()
    put(index, "c1", ["ale"], "d1", type="faq", tags=["red", "hot"])
    put(index, "c2", ["ale"], "d2", type="note", tags=["red"])
    put(index, "c3", ["ale"], "d3")
    assert found(index, ["ale"], filters=Filters(type="faq")) == ["c1"]
    assert found(index, ["ale"], filters=Filters(type=["faq", "note"])) == ["c1", "c2"]
    assert found(index, ["ale"], filters=Filters(tags=["red"])) == ["c1", "c2"]
    assert found(index, ["ale"], filters=Filters(tags=["red", "hot"])) == ["c1"]
    assert found(index, ["ale"], filters=Filters(document_id=["d3", "d2"])) == ["c2", "c3"]
    assert found(index, ["ale"], filters=Filters(document_id="d2", type="faq")) == []
    assert found(index, ["ale"], filters=Filters(type="unknown")) == []
    assert found(index, ["ale"], filters=Filters(type=[])) == []
    assert found(index, ["ale"], filters=Filters()) == ["c1", "c2", "c3"]
    index.remove(ChunkId("c1"))
    assert found(index, ["ale"], filters=Filters(tags=["red"])) == ["c2"]


def test_a_filter_does_not_change_a_score() -> None:
    index = BM25Index()
    put(index, "c1", ["ale"], "d1", type="faq")
    put(index, "c2", ["ale", "bun"], "d2")
    assert index.search(["ale"], 5, Filters(type="faq")) == index.search(["ale"], 5)[:1]


def test_coverage_counts_rare_words_more() -> None:
    index = BM25Index()
    for n in range(9):
        put(index, f"c{n}", ["ale", "bun"] if n == 0 else ["ale"])
    assert index.coverage(["ale", "bun"], ["bun", "egg"]) > 0.9
    assert index.coverage(["ale", "bun"], ["ale"]) < 0.1
    assert index.coverage(["ale", "ale", "bun"], ["ale", "bun"]) == 1.0
    assert index.coverage(["bun", "unheard"], ["bun"]) == pytest.approx(0.5)
    assert index.coverage([], ["bun"]) == 0.0
    assert index.idf("unheard") == 0.0


def test_coverage_of_chunks_is_that_of_their_tokens() -> None:
    index = BM25Index()
    texts = {"c0": ["ale", "bun"], "c1": ["ale"], "c2": [], "c3": ["cod", "ale"], "c4": ["egg"]}
    for id, text in texts.items():
        put(index, id, text)
    index = index.tidied()
    put(index, "c5", ["bun", "fig"])
    index.remove(ChunkId("c4"))
    live = {**texts, "c5": ["bun", "fig"]}
    ids = [ChunkId(id) for id in ("c5", "c0", "gone", "c1", "c2", "c4", "c3")]
    for asked in (["ale"], ["bun", "fig", "bun", "unheard"], ["egg"], []):
        shares = index.coverage_of_chunks(asked, ids)
        for id, share in zip(ids, shares, strict=True):
            if id in ("gone", "c4"):
                assert share is None
            else:
                assert share == pytest.approx(index.coverage(asked, live[id]))


def test_an_index_says_when_a_tidied_copy_is_worth_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "UNTIDY", 3)
    index = BM25Index()
    told = [index.untidy]
    for n in range(10):
        put(index, f"c{n}", ["ale", "bun"])
    told.append(index.untidy)
    index = index.tidied()
    told.append(index.untidy)
    for n in range(3):
        index.remove(ChunkId(f"c{n}"))
        told.append(index.untidy)
    assert told == [False, True, False, False, False, True]
    assert len(index) == 7
    assert found(index, ["ale"]) == [f"c{n}" for n in range(3, 10)]


def test_a_document_changes_in_one_step() -> None:
    index = BM25Index()
    document = DocumentId("d")

    def version(letter: str) -> list[Bm25Chunk]:
        return [Bm25Chunk(ChunkId(f"{letter}{n}"), ["ale"], document) for n in range(5)]

    index.replace_document(document, version("a"))
    seen: set[str] = set()
    stop = threading.Event()

    def watch() -> None:
        # Waiting a moment lets the writer in: a lock is not handed over in turn.
        while not stop.wait(0.0002):
            seen.add("".join(id[0] for id in found(index, ["ale"])))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for round in range(200):
        index.replace_document(document, version("ab"[round % 2]))
    stop.set()
    watcher.join(10)
    assert seen
    assert seen <= {"aaaaa", "bbbbb"}
    index.replace_document(document, [])
    assert len(index) == 0
