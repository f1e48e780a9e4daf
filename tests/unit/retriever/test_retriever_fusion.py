"""Reciprocal rank fusion: one id a chunk, one credit a list, one order for ever."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.domain.fusion import RRF_K, fuse
from services.retriever.domain.hits import Hit, RankedList
from services.shared.contracts.ids import ChunkId

ROOT = Path(__file__).parents[3]


def ranked(kind: str, question: int, *ids: str) -> RankedList:
    return RankedList(kind, question, tuple(Hit(ChunkId(id), 0.1 * (n + 1)) for n, id in enumerate(ids)))


def test_agreement_of_lists_wins_and_a_list_that_repeats_itself_gains_nothing() -> None:
    lists = [
        ranked("vector", 0, "doc7#3", "doc2#0"),
        ranked("bm25", 0, "doc7#3", "doc9#1"),
        ranked("vector", 1, "doc7#3", "doc7#3"),
    ]
    fused = fuse(lists, 10)
    assert [one.chunk_id for one in fused].count(ChunkId("doc7#3")) == 1
    assert fused[0].chunk_id == "doc7#3"
    assert fused[0].score == pytest.approx(3 / (RRF_K + 1))
    assert fused[0].ranks == {"bm25:0": 1, "vector:0": 1, "vector:1": 1}
    assert fused[0].score == fuse([*lists[:2], ranked("vector", 1, "doc7#3")], 10)[0].score


def test_equal_scores_are_ordered_by_best_rank_then_id() -> None:
    fused = fuse([ranked("vector", 0, "b", "d"), ranked("bm25", 0, "a", "c")], 10)
    assert [one.chunk_id for one in fused] == ["a", "b", "c", "d"]


def test_best_raw_values_are_kept() -> None:
    near = RankedList("vector", 0, (Hit(ChunkId("a"), 0.4),)), RankedList("vector", 1, (Hit(ChunkId("a"), 0.2),))
    exact = RankedList("bm25", 0, (Hit(ChunkId("a"), 3.0),)), RankedList("bm25", 1, (Hit(ChunkId("a"), 5.0),))
    only = fuse([*near, *exact], 10)[0]
    assert (only.distance, only.bm25) == (0.2, 5.0)
    assert fuse([near[0]], 10)[0].bm25 is None


lists_of_ids = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True), min_size=1, max_size=6)


@given(lists_of_ids, st.randoms(use_true_random=False))
def test_the_order_of_the_lists_does_not_matter(lists: list[list[str]], random: object) -> None:
    named = [ranked("vector" if n % 2 else "bm25", n, *ids) for n, ids in enumerate(lists)]
    shuffled = list(named)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fuse(named, 5) == fuse(shuffled, 5)


@given(lists_of_ids)
def test_the_score_is_the_sum_over_distinct_lists(lists: list[list[str]]) -> None:
    named = [ranked("vector", n, *ids) for n, ids in enumerate(lists)]
    for one in fuse(named, 8):
        expected = sum(1 / (RRF_K + ids.index(one.chunk_id) + 1) for ids in lists if one.chunk_id in ids)
        assert one.score == pytest.approx(expected)


@given(st.permutations(range(30)), st.permutations(range(30)), st.integers(1, 12))
def test_a_longer_ranking_begins_like_a_short_one(near: list[int], exact: list[int], depth: int) -> None:
    """And its scores never rise, and each is the sum of the ranks that it names."""

    def lists(length: int) -> list[RankedList]:
        kinds = {"vector": near, "bm25": exact}
        return [ranked(kind, 0, *[f"c{n:02d}" for n in order[:length]]) for kind, order in kinds.items()]

    long, short = fuse(lists(30), depth), fuse(lists(depth), depth)
    assert [(one.chunk_id, one.score) for one in long[: len(short)]] == [(one.chunk_id, one.score) for one in short]
    scores = [one.score for one in long]
    assert scores == sorted(scores, reverse=True)
    assert all(one.score == pytest.approx(sum(1 / (RRF_K + rank) for rank in one.ranks.values())) for one in long)


def test_twenty_fresh_processes_agree_on_ties() -> None:
    program = (
        "from services.retriever.domain.fusion import fuse\n"
        "from services.retriever.domain.hits import Hit, RankedList\n"
        "lists = [RankedList(kind, 0, tuple(Hit(one, 0.5) for one in ids))"
        " for kind, ids in {('vector', 'abcdef'), ('bm25', 'uvwxyz')}]\n"
        "print(''.join(one.chunk_id for one in fuse(lists, 10)))\n"
    )
    orders = set()
    for seed in range(20):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed + 1)}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        orders.add(done.stdout.strip())
    assert orders == {"aubvcwdxeyfz"}
