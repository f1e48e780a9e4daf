"""Numbers, verdicts and states in words."""

from datetime import datetime, timedelta, timezone

import pytest

from services.shared.contracts.evaluation import Change, Comparison, Estimate, Outcome, RiskCoverage
from services.shared.evaluation.report import sentences, words
from services.shared.evaluation.report.cases import State, state


def said(text: str) -> str:
    """With ordinary spaces."""
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("metric", "number", "text"),
    [
        ("right", 0.864, "86.4 %"),
        ("right", 1.0, "100 %"),
        ("right", -0.0001, "0 %"),
        ("score", 0.714, "+0.71"),
        ("score", -0.5, "−0.50"),
        ("score", 0.0, "0.00"),
        ("ndcg@10", 0.8116, "0.812"),
        ("unheard_of", 3.14159, "3.142"),
        ("right", float("nan"), "–"),
    ],
)
def test_values(metric: str, number: float, text: str) -> None:
    assert said(words.value(metric, number)) == text


def test_intervals_name_the_unit_once() -> None:
    estimate = Estimate(mean=0.02, low=-0.004, high=0.058, n=9)
    assert said(words.interval("right", estimate)) == "−0.4 to 5.8 %"
    assert said(words.difference("right", estimate.mean)) == "+2.0 points"
    assert said(words.difference_interval("right", estimate)) == "−0.4 to +5.8"
    assert words.difference_interval("ndcg@10", estimate) == "−0.004 to +0.058"


@pytest.mark.parametrize(
    ("number", "text"), [(0.42, "0.4 ms"), (38.2, "38 ms"), (1240.0, "1.24 s"), (float("inf"), "–")]
)
def test_times(number: float, text: str) -> None:
    assert said(words.milliseconds(number)) == text


def test_dates_are_in_utc() -> None:
    there = datetime(2026, 3, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    assert words.date(there) == "28 February 2026, 22:30 UTC"


def test_settings_of_any_shape_fit_on_a_line() -> None:
    assert words.setting({"writer": "ollama", "options": {"seed": 1, "stop": []}, "judge": None}) == (
        "writer: ollama, options: seed: 1, stop: none, judge: none"
    )
    assert words.setting(list(range(9))) == "0, 1, 2, 3, 4, 5, and 3 more"
    assert words.setting("two\nlines\x00") == "two lines"


def compared(*, difference: float, half: float, vetoed: bool) -> Comparison:
    between = Estimate(mean=difference, low=difference - half, high=difference + half, n=40)
    change = Change(
        metric="score", before=0.5, after=0.5 + difference, difference=between,
        worse=between.high < 0, better=between.low > 0,
    )  # fmt: skip
    return Comparison(
        before_id="a", after_id="b", paired=40, only_before=1, only_after=0, changes=[change], questions=[],
        vetoed=vetoed, level=0.95,
    )  # fmt: skip


def test_a_veto_names_what_got_worse() -> None:
    title, told = sentences.verdict(compared(difference=-0.3, half=0.1, vetoed=True))
    assert title == "Vetoed"
    assert said(told).startswith("Score (+0.50 → +0.20) got worse beyond what chance explains.")


def test_no_veto_says_what_was_gained() -> None:
    title, told = sentences.verdict(compared(difference=0.3, half=0.1, vetoed=False))
    assert title == "Not vetoed"
    assert said(told).endswith("Score (+0.50 → +0.80) got better beyond chance.")


def test_runs_without_a_common_question_have_no_verdict() -> None:
    nothing = compared(difference=0, half=0, vetoed=False).model_copy(update={"changes": []})
    assert sentences.verdict(nothing)[0] == "Nothing compared"


def test_the_pairing_says_what_was_left_out() -> None:
    text = said(sentences.pairing(compared(difference=0, half=0.1, vetoed=False)))
    assert text.startswith("40 questions in both runs and 1 only in the run before. Each interval is at 95 %")


def test_a_threshold_that_does_not_exist_is_said() -> None:
    curve = RiskCoverage(points=[], area=0.4, allowed=0.05, threshold=None, coverage=0.0)
    assert said(sentences.threshold(curve)) == "No confidence threshold keeps the share of wrong answers within 5 %."


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (None, State.UNJUDGED),
        (Outcome(question_id="q", values={"score": 1.0}, error="down"), State.FAILED),
        (Outcome(question_id="q", values={"score": 1.0, "recall@10": 0.0}), State.RIGHT),
        (Outcome(question_id="q", values={"score": 0.0}), State.HELD_BACK),
        (Outcome(question_id="q", values={"score": -1.0}), State.WRONG),
        (Outcome(question_id="q", values={"recall@10": 0.5}), State.FOUND),
        (Outcome(question_id="q", values={"recall@10": 0.0}), State.MISSED),
        (Outcome(question_id="q"), State.UNJUDGED),
    ],
)
def test_how_a_question_came_out(outcome: Outcome | None, expected: State) -> None:
    assert state(outcome) is expected
