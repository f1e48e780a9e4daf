"""The fit finds the logistic function that made the data, and no feature ends with the wrong sign."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.shared.contracts.calibration import Logistic
from services.shared.evaluation.calibration.fit import fit, probability

TRUE = Logistic(intercept=1.0, weights={"coverage": 3.0, "distance": -8.0})


def drawn(n: int, seed: int) -> tuple[list[dict[str, float]], list[bool], list[str]]:
    """Rows whose truth follows ``TRUE``, on scales of their own."""
    chance = random.Random(seed)
    rows = [{"distance": chance.uniform(0.0, 0.8), "coverage": chance.uniform(0.0, 1.0)} for _ in range(n)]
    return rows, [chance.random() < probability(TRUE, row) for row in rows], [f"d{k % 40}" for k in range(n)]


def test_a_known_function_is_found_again() -> None:
    rows, truth, groups = drawn(2500, 1)
    found = fit(rows, truth, groups, 0)
    assert found.logistic.weights["distance"] == pytest.approx(-8.0, rel=0.12)
    assert found.logistic.weights["coverage"] == pytest.approx(3.0, rel=0.2)
    # Classes are weighted alike, so the intercept is that of an even mix: odds by the share that was true.
    share = sum(truth) / len(truth)
    assert found.logistic.intercept == pytest.approx(1.0 - math.log(share / (1 - share)), abs=0.35)
    assert found.left_out == []


def test_what_is_held_out_was_not_learned() -> None:
    """Labels by chance and a feature that names its group: a fit that saw the group would know it by heart."""
    chance = random.Random(3)
    rows, truth, groups = [], [], []
    for group in range(40):
        label = chance.random() < 0.5
        for _ in range(5):
            rows.append({f"g{n}": float(n == group) for n in range(40)})
            truth.append(label)
            groups.append(str(group))
    found = fit(rows, truth, groups, 0)
    right = sum((p > 0.5) == was for p, was in zip(found.held_out, truth, strict=True))
    assert right < 0.7 * len(rows)
    seen = [probability(found.logistic, row) for row in rows]
    assert sum((p > 0.5) == was for p, was in zip(seen, truth, strict=True)) > 0.95 * len(rows)


def test_groups_stay_together() -> None:
    rows, truth, groups = drawn(400, 2)
    found = fit(rows, truth, groups, 0)
    folds = {group: {n for own, n in zip(groups, found.fold, strict=True) if own == group} for group in set(groups)}
    assert all(len(where) == 1 for where in folds.values())
    assert len(set(found.fold)) == 5


def test_a_suppressor_is_left_out() -> None:
    """The copy of a feature with little noise would get a weight of the other sign, which only noise earns."""
    chance = random.Random(5)
    rows, truth = [], []
    for n in range(600):
        was = n % 2 == 0
        noise = chance.gauss(0, 1)
        rows.append({"good": was * 1.0 + noise, "noise": noise + was * 0.05 + chance.gauss(0, 0.1)})
        truth.append(was)
    found = fit(rows, truth, [str(n) for n in range(600)], 0)
    assert found.left_out == ["noise"]
    assert found.logistic.weights["good"] > 0


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1000))
def test_no_weight_speaks_against_what_its_feature_says_alone(seed: int) -> None:
    chance = random.Random(seed)
    truth = [n % 2 == 0 for n in range(120)]
    rows = [{f"f{k}": chance.gauss(k * was * 0.3, 1 + k) for k in range(5)} for was in truth]
    found = fit(rows, truth, [str(n) for n in range(120)], seed)
    for name, weight in found.logistic.weights.items():
        means = [sum(row[name] for row, was in zip(rows, truth, strict=True) if was is side) for side in (True, False)]
        assert weight * (means[0] - means[1]) >= 0


def test_useless_features_do_no_harm() -> None:
    rows, truth, groups = drawn(300, 4)
    odd = [row | {"constant": 1.0, "broken": math.nan if n == 7 else 0.5} for n, row in enumerate(rows)]
    odd[9]["seldom"] = 2.0
    found = fit(odd, truth, groups, 0)
    assert found.left_out == ["broken", "constant", "seldom"]
    assert set(found.logistic.weights) == {"coverage", "distance"}
    nothing = fit([{"constant": 1.0}] * 100, [n % 2 == 0 for n in range(100)], [str(n) for n in range(100)], 0)
    assert nothing.logistic == Logistic(intercept=0.0, weights={})
    assert set(nothing.held_out) == {0.5}


@pytest.mark.parametrize(
    ("truth", "groups"), [([True] * 60, "abc"), ([True, False] * 30, "a"), ([True] + [False] * 59, "abcdefgh")]
)
def test_what_cannot_be_held_out_is_refused(truth: list[bool], groups: str) -> None:
    rows = [{"distance": 0.1 * n} for n in range(60)]
    with pytest.raises(ValueError, match="groups"):
        fit(rows, truth, [groups[n % len(groups)] for n in range(60)], 0)


def test_a_probability_never_overflows() -> None:
    steep = Logistic(intercept=0.0, weights={"x": 1e6})
    assert probability(steep, {"x": 1e6}) == pytest.approx(1.0)
    assert probability(steep, {"x": -1e6}) == pytest.approx(0.0)
    assert probability(steep, {}) == 0.5
