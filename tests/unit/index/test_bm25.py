"""BM25 against rank-bm25, in small collections, under change and with filters."""

import threading
from collections.abc import Sequence
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
STEPS = st.lists(st.tuples(st.integers(0, 9), st.none() | TEXT), max_size=30)

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


@pytest.fixture(autouse=True)
def compact_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "COMPACT_AT", 3)


@settings(max_examples=300)
@example(steps=[(0, ["ale"]), (1, [])], asked=["ale"], k1=1.0, b=1.0)
@given(steps=STEPS, asked=TEXT, k1=st.floats(0.1, 3), b=st.floats(0, 1))
def test_scores_are_rank_bm25s_through_any_changes(
    steps: list[tuple[int, list[str] | None]], asked: list[str], k1: float, b: float
) -> None:
    index, live = BM25Index(k1, b), dict[str, list[str]]()
    for number, text in steps:
        id = f"c{number}"
        live.pop(id, None)
        if text is None:
            index.remove(ChunkId(id))
        else:
            put(index, id, text)
            live[id] = text
    expected = oracle(live, asked, index)
    assert index.scores(asked) == pytest.approx(expected, abs=1e-9)
    hits = index.search(asked, 10)
    assert {hit.chunk_id for hit in hits} == {id for id, text in live.items() if set(text) & set(asked)}
    assert [hit.score for hit in hits] == pytest.approx([expected[hit.chunk_id] for hit in hits], abs=1e-9)
    assert all(hit.score > 0 for hit in hits)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))
    for k in range(4):
        assert index.search(asked, k) == hits[:k]


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
