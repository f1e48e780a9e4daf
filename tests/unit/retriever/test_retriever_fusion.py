"""Reciprocal rank fusion: one id a chunk, one credit a list, one order for ever."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.domain.fusion import LIST_DEPTH, RRF_K, Fusion, fuse, weighed_by_critic
from services.retriever.domain.hits import Hit, RankedList
from services.shared.contracts.ids import ChunkId
from tests.e2e.stack import WHOLE

ROOT = Path(__file__).parents[3]


def ranked(kind: str, question: int, *ids: str) -> RankedList:
    return RankedList(kind, question, tuple(Hit(ChunkId(id), 0.1 * (n + 1)) for n, id in enumerate(ids)))


def test_agreement_of_lists_wins_and_a_list_that_repeats_itself_gains_nothing() -> None:
    lists = [
        ranked("vector", 0, "doc7#3", "doc2#0"),
        ranked("bm25", 0, "doc7#3", "doc9#1"),
        ranked("vector", 1, "doc7#3", "doc7#3"),
    ]
    fused = fuse(lists)
    assert [one.chunk_id for one in fused].count(ChunkId("doc7#3")) == 1
    assert fused[0].chunk_id == "doc7#3"
    assert fused[0].score == pytest.approx(3 / (RRF_K + 1))
    assert fused[0].ranks == {"bm25:0": 1, "vector:0": 1, "vector:1": 1}
    assert fused[0].score == fuse([*lists[:2], ranked("vector", 1, "doc7#3")])[0].score


def test_equal_scores_are_ordered_by_best_rank_then_id() -> None:
    fused = fuse([ranked("vector", 0, "b", "d"), ranked("bm25", 0, "a", "c")])
    assert [one.chunk_id for one in fused] == ["a", "b", "c", "d"]


def test_best_raw_values_are_kept() -> None:
    near = RankedList("vector", 0, (Hit(ChunkId("a"), 0.4),)), RankedList("vector", 1, (Hit(ChunkId("a"), 0.2),))
    exact = RankedList("bm25", 0, (Hit(ChunkId("a"), 3.0),)), RankedList("bm25", 1, (Hit(ChunkId("a"), 5.0),))
    only = fuse([*near, *exact])[0]
    assert (only.distance, only.bm25) == (0.2, 5.0)
    assert fuse([near[0]])[0].bm25 is None


lists_of_ids = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True), min_size=1, max_size=6)


@given(lists_of_ids, st.randoms(use_true_random=False))
def test_the_order_of_the_lists_does_not_matter(lists: list[list[str]], random: object) -> None:
    named = [ranked("vector" if n % 2 else "bm25", n, *ids) for n, ids in enumerate(lists)]
    shuffled = list(named)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert all(fuse(named, method) == fuse(shuffled, method) for method in Fusion)


@given(lists_of_ids)
def test_the_score_is_the_sum_over_distinct_lists(lists: list[list[str]]) -> None:
    named = [ranked("vector", n, *ids) for n, ids in enumerate(lists)]
    for one in fuse(named):
        expected = sum(1 / (RRF_K + ids.index(one.chunk_id) + 1) for ids in lists if one.chunk_id in ids)
        assert one.score == pytest.approx(expected)


@given(lists_of_ids, st.sampled_from(Fusion))
def test_scores_never_rise_and_every_chunk_is_there_once(lists: list[list[str]], method: Fusion) -> None:
    fused = fuse([ranked("vector" if n % 2 else "bm25", n, *ids) for n, ids in enumerate(lists)], method)
    scores = [one.score for one in fused]
    assert scores == sorted(scores, reverse=True)
    assert sorted(one.chunk_id for one in fused) == sorted({id for ids in lists for id in ids})
    if method is Fusion.RELATIVE and fused:
        assert all(0 <= score <= 1 + 1e-9 for score in scores)


def scored(kind: str, *values: float) -> RankedList:
    return RankedList(kind, 0, tuple(Hit(ChunkId(f"{kind}{n:03d}"), value) for n, value in enumerate(values)))


def test_a_list_whose_best_stands_out_counts_more_than_one_that_ranks_all_alike() -> None:
    """An English model's distances of a French question say little; one exact word says much."""
    alike = scored("vector", *(0.700 + 0.001 * n for n in range(LIST_DEPTH)))
    telling = scored("bm25", 20.0, *(3.0 - 0.01 * n for n in range(LIST_DEPTH - 1)))
    order = [one.chunk_id for one in fuse([alike, telling], Fusion.RELATIVE)]
    assert order[0] == "bm25000"
    assert order[1] == "vector000", "then what the other list ranks first"


def test_near_equal_scores_of_a_short_list_stay_near_equal() -> None:
    """Two hits of 5.0 and 4.9 are both good: the worst of a list is nothing bad where the list ran out."""
    fused = fuse([scored("bm25", 5.0, 4.9)], Fusion.RELATIVE)
    assert fused[1].score == pytest.approx(0.98 * fused[0].score)


def test_what_lies_deeper_than_the_lists_are_read_is_not_counted() -> None:
    deep = [ranked("vector", 0, *(f"c{n:03d}" for n in range(LIST_DEPTH + 20)))]
    assert len(fuse(deep)) == LIST_DEPTH


def test_fresh_processes_agree_on_ties() -> None:
    program = (
        "from services.retriever.domain.fusion import fuse\n"
        "from services.retriever.domain.hits import Hit, RankedList\n"
        "lists = [RankedList(kind, 0, tuple(Hit(one, 0.5) for one in ids))"
        " for kind, ids in {('vector', 'abcdef'), ('bm25', 'uvwxyz')}]\n"
        "print(''.join(one.chunk_id for one in fuse(lists)))\n"
    )
    orders = set()
    for seed in range(20 if WHOLE else 6):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed + 1)}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        orders.add(done.stdout.strip())
    assert orders == {"aubvcwdxeyfz"}


def test_the_critics_word_moves_what_it_judged_and_nothing_rises_behind_it() -> None:
    fused = fuse([scored("bm25", 5.0, 4.8, 4.6, 4.4)], Fusion.RELATIVE)
    a, b, c, d = (one.chunk_id for one in fused)
    told = weighed_by_critic(fused, {a: 0.02, b: 0.9, c: 0.01})
    assert [one.chunk_id for one in told] == [b, a, c, d]
    scores = [one.score for one in told]
    assert scores == sorted(scores, reverse=True)
    assert weighed_by_critic(fused, {}) == fused
    assert weighed_by_critic([], {}) == []


@given(lists_of_ids, st.lists(st.floats(0, 1), min_size=8, max_size=8), st.sampled_from(Fusion), st.integers(0, 8))
def test_the_critic_loses_nothing(lists: list[list[str]], told: list[float], method: Fusion, judged: int) -> None:
    fused = fuse([ranked("vector" if n % 2 else "bm25", n, *ids) for n, ids in enumerate(lists)], method)
    relevant = {one.chunk_id: p for one, p in zip(fused[:judged], told, strict=False)}
    again = weighed_by_critic(fused, relevant)
    assert sorted(one.chunk_id for one in again) == sorted(one.chunk_id for one in fused)
    scores = [one.score for one in again]
    assert scores == sorted(scores, reverse=True)
    assert {one.chunk_id for one in again[: len(relevant)]} == set(relevant)
