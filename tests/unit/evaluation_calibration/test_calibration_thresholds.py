"""Thresholds keep to the chosen risk, and limits cost next to nothing that can be answered."""

import random
from statistics import NormalDist, mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.evaluation.calibration.thresholds import (
    answer_from,
    expected,
    held_out,
    highest_that_loses_little,
    lowest_that_loses_little,
    sides_of,
)

SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=60)
VALUES = st.lists(st.floats(0, 2), min_size=1, max_size=300)
NONE = st.lists(st.floats(0, 2), max_size=100)


def two_sides(answerable: list[float], unanswerable: list[float]) -> tuple[list[float], list[bool]]:
    return [*answerable, *unanswerable], [True] * len(answerable) + [False] * len(unanswerable)


@given(SHARES, SHARES, st.floats(0.01, 0.5))
def test_the_risk_is_kept_on_what_was_seen(answerable: list[float], unanswerable: list[float], risk: float) -> None:
    sides = sides_of(*two_sides(answerable, unanswerable))
    threshold = answer_from(sides, risk)
    if threshold is not None:
        assert expected(sides, threshold).risk <= risk


@given(SHARES, SHARES)
def test_a_higher_risk_answers_no_less(answerable: list[float], unanswerable: list[float]) -> None:
    sides = sides_of(*two_sides(answerable, unanswerable))
    found = [answer_from(sides, risk) for risk in (0.05, 0.1, 0.2, 0.4)]
    coverage = [0.0 if one is None else expected(sides, one).coverage for one in found]
    assert coverage == sorted(coverage)


def test_the_risk_is_kept_on_average_over_what_was_not_seen() -> None:
    chance, normal = random.Random(0), NormalDist()
    risks, coverages, promised = [], [], []
    for _ in range(60):
        answerable = [normal.cdf(chance.gauss(1.25, 1)) for _ in range(150)]
        unanswerable = [normal.cdf(chance.gauss(-1.25, 1)) for _ in range(150)]
        probabilities, truth = two_sides(answerable, unanswerable)
        threshold = answer_from(sides_of(probabilities, truth), 0.05)
        assert threshold is not None
        at = normal.inv_cdf(threshold)
        kept, wrong = 1 - normal.cdf(at - 1.25), 1 - normal.cdf(at + 1.25)
        risks.append(wrong / (kept + wrong))
        coverages.append(kept)
        promised.append(held_out(probabilities, truth, [n % 5 for n in range(300)], 0.05))
    assert mean(risks) <= 0.052
    assert mean(coverages) > 0.7
    assert mean(one.coverage for one in promised) == pytest.approx(mean(coverages), abs=0.03)
    assert mean(one.risk for one in promised) == pytest.approx(mean(risks), abs=0.015)


def test_the_two_sides_count_equally_however_many_there_are() -> None:
    answerable = [0.9] * 10
    one, many = [0.95] + [0.1] * 19, ([0.95] + [0.1] * 19) * 10
    assert expected(sides_of(*two_sides(answerable, one)), 0.5).risk == pytest.approx(0.05 / 1.05)
    assert expected(sides_of(*two_sides(answerable, many)), 0.5).risk == pytest.approx(0.05 / 1.05)


def test_too_few_to_show_it_is_none() -> None:
    sides = sides_of(*two_sides([0.9] * 10, [0.1] * 10))
    assert answer_from(sides, 0.05) is None, "ten that were right to turn away do not show one in twenty"
    assert answer_from(sides_of(*two_sides([0.9] * 10, [0.1] * 20)), 0.05) == pytest.approx(0.5)


def test_a_threshold_stands_between_what_was_seen() -> None:
    threshold = answer_from(sides_of(*two_sides([0.8] * 100, [0.4] * 100)), 0.05)
    assert threshold == pytest.approx(0.6)


def test_no_risk_is_run_for_nothing() -> None:
    sides = sides_of(*two_sides([0.8] * 100, [n / 250 for n in range(100)]))
    threshold = answer_from(sides, 0.2)
    assert threshold == pytest.approx((0.8 + 0.396) / 2), "all that is answerable is answered already"


def test_without_any_threshold_everything_is_answered() -> None:
    assert expected(sides_of(*two_sides([0.2, 0.3], [0.1, 0.4])), None).risk == 0.5
    assert expected(sides_of([], []), None).risk == 0.0


@given(VALUES, NONE)
def test_a_floor_costs_one_in_a_hundred_at_most(answerable: list[float], off_topic: list[float]) -> None:
    floor = highest_that_loses_little(answerable, off_topic)
    assert floor is not None
    assert sum(one < floor for one in answerable) <= 0.01 * len(answerable)
    limit = lowest_that_loses_little(answerable, off_topic)
    assert limit is not None
    assert sum(one > limit for one in answerable) <= 0.01 * len(answerable)


def test_a_limit_leaves_room_for_what_nobody_made_up() -> None:
    answerable = [0.2 + n / 1000 for n in range(100)]
    off_topic = [0.8 + n / 1000 for n in range(100)]
    assert lowest_that_loses_little(answerable, off_topic) == pytest.approx(0.805 - 0.1 * (0.805 - 0.298))
    assert highest_that_loses_little(off_topic, answerable) == pytest.approx(0.294 + 0.1 * (0.801 - 0.294))
    assert lowest_that_loses_little(answerable, answerable) == pytest.approx(0.298)
    assert lowest_that_loses_little([], off_topic) is None
