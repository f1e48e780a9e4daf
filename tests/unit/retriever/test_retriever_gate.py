"""The gate and the probability of an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.domain.gate import Covered, Evidence, answerable, gather_evidence, judge
from services.retriever.domain.hits import Hit, RankedList
from services.shared.contracts.ids import ChunkId


@pytest.mark.parametrize(
    ("distance", "share", "rarity", "vectors_asked", "poor"),
    [
        (0.30, 0.0, 0.0, True, False),
        (0.55, 0.0, 0.0, True, False),
        (0.56, 0.5, 1.0, True, True),
        (0.80, 0.95, 1.0, True, False),  # a part number that the embedding misses
        (0.80, 0.95, 0.3, True, True),  # common words alone are no confidence
        (None, 0.0, 0.0, True, True),
        (None, 0.6, 0.3, False, False),  # the vectors were not asked
        (None, 0.4, 1.0, False, True),
    ],
)
def test_poor_or_not(distance: float | None, share: float, rarity: float, vectors_asked: bool, poor: bool) -> None:
    evidence = Evidence(distance, Covered(share, rarity), vectors_asked)
    judgement = judge(evidence, distance_limit=0.55, confident_coverage=0.9)
    assert judgement.poor is poor
    assert judgement.reason


def test_the_best_over_all_questions_counts() -> None:
    lists = [
        RankedList("vector", 0, (Hit(ChunkId("a"), 0.7),)),
        RankedList("vector", 1, (Hit(ChunkId("b"), 0.3), Hit(ChunkId("c"), 0.9))),
        RankedList("bm25", 0, (Hit(ChunkId("d"), 0.1),)),
    ]
    evidence = gather_evidence(lists, [Covered(0.2, 1.0), Covered(0.6, 0.5)], vectors_asked=True)
    assert evidence == Evidence(0.3, Covered(0.6, 0.5), vectors_asked=True)
    assert gather_evidence([], [], vectors_asked=False) == Evidence(None, None, vectors_asked=False)


shares, distances = st.floats(0, 1), st.floats(0, 2)


@given(distances, distances, shares, shares)
def test_answerable_falls_with_distance_and_rises_with_coverage(d1: float, d2: float, c1: float, c2: float) -> None:
    near, far = sorted((d1, d2))
    little, much = sorted((c1, c2))
    best = answerable(Evidence(near, Covered(much, 1.0), vectors_asked=True))
    assert 0 < answerable(Evidence(far, Covered(much, 1.0), vectors_asked=True)) <= best < 1
    assert answerable(Evidence(near, Covered(little, 1.0), vectors_asked=True)) <= best


def test_an_index_that_was_not_asked_neither_helps_nor_harms_much() -> None:
    assert 0.1 < answerable(Evidence(None, None, vectors_asked=False)) < 0.9
