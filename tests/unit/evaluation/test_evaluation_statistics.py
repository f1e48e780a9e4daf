"""Intervals: as wide as they should be, the same for the same seed, and honest with few questions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from services.shared.evaluation.statistics import difference, estimate


def test_equal_values_inside_of_the_scale_have_no_width() -> None:
    for values in ([0.25], [0.1] * 7, [-0.5] * 3):
        found = estimate(values, 0)
        assert (found.low, found.mean, found.high) == (values[0],) * 3
        assert found.n == len(values)


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (0, 5), (7, 12), (12, 12), (79, 80)])
def test_a_share_has_the_interval_of_wilson(right: int, n: int) -> None:
    values = [1.0] * right + [0.0] * (n - right)
    wilson = binomtest(right, n).proportion_ci(0.95, "wilson")
    found = estimate(values, 0)
    assert found.n == n
    assert found.mean == pytest.approx(right / n)
    assert found.low == pytest.approx(wilson.low, abs=1e-9)
    assert found.high == pytest.approx(wilson.high, abs=1e-9)


def test_right_or_wrong_is_a_share_on_a_scale_twice_as_wide() -> None:
    share, score = estimate([0.0, 0.0, 1.0], 0), estimate([-1.0, -1.0, 1.0], 0, least=-1.0)
    for end in ("low", "mean", "high"):
        assert getattr(score, end) == pytest.approx(2 * getattr(share, end) - 1)


@pytest.mark.parametrize("value", [-1.0, 0.0, 1.0])
def test_a_few_equal_values_at_an_end_of_the_scale_are_no_certainty(value: float) -> None:
    found = estimate([value] * 4, 0, least=min(value, 0.0))
    assert found.high - found.low > 0.4
    assert value in (found.low, found.high)
    assert -1.0 <= found.low <= found.mean == value <= found.high <= 1.0


@pytest.mark.parametrize(("n", "truth"), [(12, 0.97), (12, 0.8), (12, 0.5), (80, 0.9)])
def test_the_interval_of_a_share_covers_the_truth_as_often_as_it_says(n: int, truth: float) -> None:
    counts = np.random.default_rng(9).binomial(n, truth, size=2_000)
    ends = {right: estimate([1.0] * right + [0.0] * (n - right), 0) for right in set(counts.tolist())}
    assert np.mean([ends[right].low <= truth <= ends[right].high for right in counts.tolist()]) >= 0.94


def test_resampling_would_cover_a_share_near_the_end_far_too_seldom() -> None:
    """Why a share is not resampled: the same values on a scale that is not known as one."""
    truth, n = 0.97, 12
    counts = np.random.default_rng(9).binomial(n, truth, size=2_000)
    ends = {right: estimate([0.75] * right + [0.25] * (n - right), 0) for right in set(counts.tolist())}
    inside = [ends[right].low <= 0.25 + truth / 2 <= ends[right].high for right in counts.tolist()]
    assert np.mean(inside) == pytest.approx(0.3, abs=0.03)


def test_no_values_have_no_mean() -> None:
    with pytest.raises(ValueError, match="no values"):
        estimate([], 0)
    with pytest.raises(ValueError, match="not paired"):
        difference([1.0], [], 0)


@pytest.mark.parametrize("kinds", [3, 200])
def test_the_interval_is_that_of_the_normal_law_when_there_are_many(kinds: int) -> None:
    values = np.random.default_rng(1).integers(0, kinds, size=400) / kinds
    found = estimate(list(values), 7)
    half = norm.ppf(0.975) * values.std() / np.sqrt(len(values))
    assert found.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_the_seed_decides_and_nothing_else() -> None:
    values = list(np.random.default_rng(2).random(50))
    first = estimate(values, 3)
    estimate(values[:20], 3)
    np.random.default_rng(3).random()
    assert estimate(values, 3) == first
    assert estimate(values[::-1], 3) == first
    assert estimate(values, 4) != first


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=40), st.integers(0, 5))
def test_the_mean_lies_in_its_interval_and_the_interval_in_the_values(values: list[float], seed: int) -> None:
    found = estimate(values, seed)
    assert found.low <= found.mean <= found.high
    kinds = {round(value, 9) for value in values}
    if not kinds <= {0.0, 1.0} and not kinds <= {-1.0, 1.0}:
        assert min(values) - 1e-9 <= found.low
        assert found.high <= max(values) + 1e-9


def test_a_skewed_mean_lies_in_its_interval_however_narrow() -> None:
    """Resampled means of skewed values have their middle below the mean."""
    values = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64]
    for seed in range(5):
        for turned in (1.0, -1.0):
            found = difference([0.0] * 7, [turned * value for value in values], seed, level=0.02)
            assert found.low <= found.mean <= found.high


def test_chance_counts_what_was_seen_itself() -> None:
    """So that it is never zero, and a level finer than the resamples is never reached."""
    found = difference([0.0] * 40, [1.0] * 40, 0, level=1 - 1 / 10_000)
    assert found.low == 0.0
    assert difference([0.0] * 40, [1.0] * 40, 0, level=1 - 4 / 10_000).low == 1.0


def test_a_wider_level_is_a_wider_interval() -> None:
    before, after = np.random.default_rng(4).random((2, 60))
    narrow, wide = (difference(list(before), list(after), 0, level) for level in (0.8, 0.99))
    assert wide.low < narrow.low
    assert narrow.high < wide.high


def test_swapping_the_runs_swaps_the_sign() -> None:
    before, after = np.random.default_rng(5).random((2, 60))
    there, back = difference(list(before), list(after), 0), difference(list(after), list(before), 0)
    assert there.mean == -back.mean
    assert there.low == pytest.approx(-back.high, abs=0.01)


def test_few_changed_questions_never_rule_out_zero() -> None:
    assert difference([1.0], [0.0], 0).high == 0.0
    assert difference([1.0] * 5, [0.0] * 5, 0).high == 0.0
    assert difference([1.0] * 6, [0.0] * 6, 0).high < 0.0
    assert difference([0.0] * 5 + [1.0] * 75, [1.0] * 80, 0).low == 0.0


def test_noise_of_floats_is_no_difference() -> None:
    found = difference([0.3] * 80, [0.1 + 0.2] * 80, 0)
    assert (found.low, found.mean, found.high) == (0.0, 0.0, 0.0)


def test_paired_sees_what_unpaired_cannot() -> None:
    chance = np.random.default_rng(6)
    before = chance.random(80)
    after = before - 0.05 + 0.05 * chance.normal(size=80)
    paired = difference(list(before), list(after), 0)
    apart = [estimate(list(values), 0) for values in (before, after)]
    assert paired.high < 0
    assert apart[1].high > apart[0].low


def test_two_runs_of_one_system_rarely_differ() -> None:
    chance = np.random.default_rng(7)
    apart = 0
    for seed in range(400):
        # Few questions change, each for better or worse alike: where a plain bootstrap errs most.
        changes = (chance.random(40) < 0.15) * chance.choice([-1.0, 1.0], size=40)
        found = difference([0.0] * 40, list(changes), seed)
        apart += found.low > 0 or found.high < 0
    assert apart <= 0.05 * 400


def test_many_questions_fit_into_memory() -> None:
    values = list(np.random.default_rng(8).random(20_000))
    found = estimate(values, 0)
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.std(values) / np.sqrt(20_000), rel=0.1)
