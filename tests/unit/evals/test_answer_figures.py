"""How ``benchmarks.answers`` counts: what is right, what is wrong, and the sample that is asked."""

from typing import Any

import pytest

from benchmarks.answers import Asked, holds_gold, report, sample
from benchmarks.quotes import Quotes


def asked(answerable: bool, answered: bool, right: bool = False, confidence: float = 0.5) -> Asked:
    return Asked("q", "Q?", answerable, answered, right, confidence, "", [], None, [], 0.1)


@pytest.mark.parametrize(
    ("text", "gold", "held"),
    [
        ("It has the ten counties [1].", ["ten counties"], True),
        ("It costs $4.50 [1].", ["4.50"], True),
        ("“SoCal” for short [2].", ["socal"], True),
        ("It has 10 counties [3].", ["3"], False),
        ("It was founded in 1985 [1].", ["198"], False),
        ("A whole other thing.", ["", "the"], False),
    ],
)
def test_gold_stands_in_the_text_as_whole_words(text: str, gold: list[str], held: bool) -> None:
    assert holds_gold(text, gold) is held


@pytest.mark.parametrize(
    ("one", "score"),
    [
        (asked(True, True, True), 1),
        (asked(True, True), -1),
        (asked(True, False), 0),
        (asked(False, True), -1),
        (asked(False, False), 1),
    ],
)
def test_the_score_rewards_right_answers_and_right_silence(one: Asked, score: int) -> None:
    assert one.score(0.0) == score


def test_under_the_threshold_an_answer_is_silence() -> None:
    assert asked(True, True, True, confidence=0.4).score(0.5) == 0
    assert asked(False, True, confidence=0.4).score(0.5) == 1


def rows() -> list[dict[str, Any]]:
    return [{"_id": f"q{n}", "text": "?", "answerable": n % 2 == 0} for n in range(40)]


def test_the_sample_is_of_both_sides_and_the_same_for_a_seed_whatever_the_order() -> None:
    first = sample(rows(), 8, 5, seed=5)
    assert sum(row["answerable"] for row in first) == 8
    assert len(first) == 13
    assert first == sample(rows()[::-1], 8, 5, seed=5)
    assert first != sample(rows(), 8, 5, seed=6)


def test_the_report_counts_each_side() -> None:
    all = [
        asked(True, True, True, 0.9), asked(True, True, False, 0.3), asked(True, False),
        asked(False, True, False, 0.6), asked(False, False), asked(False, False),
    ]  # fmt: skip
    quotes = Quotes("http://unused", "space", all=4, matching=4)
    told = "\n".join(report(all, quotes, seed=1))
    assert "| answerable ones that were answered (coverage) | 2 of 3 (66.7%) |" in told
    assert "| of these, with the gold string | 1 of 2 (50.0%) |" in told
    assert "| unanswerable ones left unanswered | 2 of 3 (66.7%) |" in told
    assert "| wrong among the answered | 2 of 3 (66.7%) |" in told
    assert "| **score** | **+0.167**" in told
    assert "| 0.7 | 1 of 3 (33.3%) | 0 of 1 (0.0%) | 3 of 3 (100.0%) | +0.667 |" in told
    assert "4 of 4 quotations match their source (100.0%)" in told
