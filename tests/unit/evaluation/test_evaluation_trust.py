"""Risk and coverage, calibration, agreement and times, each against numbers counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.contracts.evaluation import RiskPoint
from services.shared.evaluation.trust import agreement, latency, percentile, reliability, risk_coverage


def test_each_confidence_is_a_point_and_equal_ones_stand_together() -> None:
    cases = [(0.9, True, True), (0.5, False, True), (0.5, True, True), (0.99, False, False), (0.2, False, True)]
    found = risk_coverage(cases, 0.05)
    assert found.points == [
        RiskPoint(threshold=0.9, coverage=0.2, risk=0.0),
        RiskPoint(threshold=0.5, coverage=0.6, risk=1 / 3),
        RiskPoint(threshold=0.2, coverage=0.8, risk=0.5),
    ]
    assert found.area == pytest.approx((0 + 2 * (1 / 3) + 0.5) / 4)


def test_the_order_of_the_cases_makes_no_difference() -> None:
    cases = [(0.5, n % 3 > 0, True) for n in range(9)] + [(0.7, True, True)]
    assert risk_coverage(cases, 0.1) == risk_coverage(cases[::-1], 0.1)


def test_without_cases_or_answers_there_is_no_curve() -> None:
    for cases in ([], [(0.9, True, False)]):
        found = risk_coverage(cases, 0.05)
        assert (found.points, found.area, found.threshold, found.coverage) == ([], 0.0, None, 0.0)


def test_a_few_right_answers_do_not_prove_a_low_risk() -> None:
    assert risk_coverage([(0.9, True, True)] * 58, 0.05).threshold is None
    assert risk_coverage([(0.9, True, True)] * 59, 0.05).threshold == 0.9
    spread = [(0.5 + n / 300, True, True) for n in range(140)]
    assert risk_coverage(spread[:70], 0.05).threshold is None
    assert risk_coverage(spread, 0.05).threshold == 0.5


def test_the_threshold_is_the_least_that_keeps_to_the_risk() -> None:
    sure = [(0.9, n != 0, True) for n in range(300)]
    unsure = [(0.4, n % 2 == 0, True) for n in range(100)]
    silent = [(0.1, False, False)] * 100
    found = risk_coverage(sure + unsure + silent, 0.05)
    assert found.threshold == 0.9
    assert found.coverage == pytest.approx(300 / 500)
    assert risk_coverage(sure + unsure + silent, 0.3).threshold == 0.4
    assert risk_coverage(sure + unsure + silent, 0.001).threshold is None


def test_a_confidence_that_says_nothing_gives_no_threshold() -> None:
    chance = np.random.default_rng(0)
    passed = 0
    for _ in range(200):
        cases = [
            (float(said), bool(right), True)
            for said, right in zip(chance.random(300), chance.random(300) > 0.101, strict=True)
        ]
        passed += risk_coverage(cases, 0.1).threshold is not None
    assert passed <= 0.05 * 200


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans(), st.booleans())))
def test_the_curve_ends_with_all_that_was_answered(cases: list[tuple[float, bool, bool]]) -> None:
    found = risk_coverage(cases, 0.5)
    given_ones = [right for _, right, answered in cases if answered]
    assert [point.threshold for point in found.points] == sorted({c for c, _, a in cases if a}, reverse=True)
    assert 0 <= found.area <= 1
    if given_ones:
        assert found.points[-1].coverage == pytest.approx(len(given_ones) / len(cases))
        assert found.points[-1].risk == pytest.approx(given_ones.count(False) / len(given_ones))


def test_bins_hold_what_was_said_and_what_was() -> None:
    found = reliability("confidence", [(0.0, False), (0.05, True), (0.1, False), (0.95, True), (1.0, True)])
    assert [(one.low, one.high, one.n) for one in found.bins] == [(0.0, 0.1, 2), (0.1, 0.2, 1), (0.9, 1.0, 2)]
    assert [one.was for one in found.bins] == [0.5, 0.0, 1.0]
    assert found.ece == pytest.approx((2 * 0.475 + 1 * 0.1 + 2 * 0.025) / 5)
    assert found.brier == pytest.approx((0 + 0.95**2 + 0.1**2 + 0.05**2 + 0) / 5)
    assert found.of == "confidence"


def test_every_tenth_opens_its_own_bin() -> None:
    found = reliability("answerable", [(n / 10, True) for n in range(10)])
    assert [one.n for one in found.bins] == [1] * 10


def test_without_cases_there_is_nothing_to_calibrate() -> None:
    found = reliability("confidence", [])
    assert (found.bins, found.ece, found.brier) == ([], 0.0, 0.0)


def test_kappa_takes_off_what_chance_brings() -> None:
    verdicts = [("a", True, True), ("b", True, False), ("c", False, False), ("d", True, True)]
    found = agreement("accuracy", "rule", "judge", verdicts)
    assert found is not None
    assert found.share == 0.75
    assert found.kappa == pytest.approx((0.75 - 0.5) / (1 - 0.5))
    assert found.differ == ["b"]
    assert (found.reviewer, found.first, found.second, found.n) == ("accuracy", "rule", "judge", 4)


def test_a_reviewer_that_never_differs_has_no_kappa() -> None:
    found = agreement("checks", "rule", "judge", [("a", True, True), ("b", True, False)])
    assert found is not None
    assert found.kappa is None
    assert agreement("checks", "rule", "judge", []) is None


def test_times_are_by_stage_over_the_questions_that_have_it() -> None:
    found = latency([{"search.client": float(n), **({"ask.write": 8.04} if n == 3 else {})} for n in range(1, 102)])
    assert [(one.stage, one.n, one.p50_ms, one.p95_ms) for one in found] == [
        ("ask.write", 1, 8.0, 8.0),
        ("search.client", 101, 51.0, 96.0),
    ]
    assert latency([]) == []
    assert percentile([], 50) == 0.0
