"""The gate and the probability of an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.domain.gate import (
    Evidence,
    answerable_by_features,
    answerable_by_lists,
    gather_evidence,
    judge,
)
from services.retriever.domain.hits import Covered, Hit, RankedList
from services.retriever.domain.limits import Limits, limits_for
from services.retriever.domain.plan import Switches, Tuning
from services.shared.contracts.calibration import Logistic
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
    judgement = judge(evidence, limits(gate_coverage=0.9))
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


def limits(**by_hand: float) -> Limits:
    switches = Switches(vector=True, bm25=True, gate=True, critic=True, diversity=True)
    return limits_for(Tuning(switches, **by_hand), None)  # type: ignore[arg-type]


shares, distances = st.floats(0, 1), st.floats(0, 2)


@given(distances, distances, shares, shares)
def test_answerable_falls_with_distance_and_rises_with_coverage(d1: float, d2: float, c1: float, c2: float) -> None:
    near, far = sorted((d1, d2))
    little, much = sorted((c1, c2))
    best = answerable_by_lists(Evidence(near, Covered(much, 1.0), vectors_asked=True))
    assert 0 < answerable_by_lists(Evidence(far, Covered(much, 1.0), vectors_asked=True)) <= best < 1
    assert answerable_by_lists(Evidence(near, Covered(little, 1.0), vectors_asked=True)) <= best


def test_an_index_that_was_not_asked_neither_helps_nor_harms_much() -> None:
    assert 0.1 < answerable_by_lists(Evidence(None, None, vectors_asked=False)) < 0.9


def test_a_calibrated_logistic_counts_what_this_call_has() -> None:
    fitted = Logistic(intercept=0.0, weights={"near": 2.0, "entities": 1.0})
    assert answerable_by_features({}, fitted) == 0.5
    assert answerable_by_features({"near": 1.0, "other": 9.0}, fitted) == pytest.approx(0.8808, abs=1e-4)
    assert answerable_by_features({"near": -1e6}, fitted) == pytest.approx(0.0)
