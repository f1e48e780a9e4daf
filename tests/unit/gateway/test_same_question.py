"""Which questions may ask for the same, by their words; and which wordings are one."""

import json
from pathlib import Path

import pytest

from services.gateway.domain.same_question import may_be_same, nearest_by_words, wording_key

EVALS = Path(__file__).parents[3] / "evals"


def pairs(*, same: bool) -> list[tuple[str, str]]:
    lines = (EVALS / "same_questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [(one["one"], one["other"]) for one in map(json.loads, lines) if one["same"] is same]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Has she worked with Go?", "Has she worked with Rust?"),
        ("has she worked with go", "has she worked with rust"),
        ("What is the opening pressure of the valve?", "What is the closing pressure of the valve?"),
        ("At which pressure does the valve open?", "What is the closing pressure of the valve?"),
        ("What does error E4 mean?", "What does error E7 mean?"),
        ("What did she do in 2019?", "What did she do?"),
        ("Does she know C?", "Does she know C++?"),
        ("When was she born?", "Where was she born?"),
        ("How long is the tour?", "How old is the tour?"),
        ("What did Mira Lund study?", "What did Tom Berg study?"),
        ("Wie hoch ist der Öffnungsdruck?", "Wie hoch ist der Schließdruck?"),
    ],
)
def test_another_name_number_or_word_is_another_question(one: str, other: str) -> None:
    assert not may_be_same(one, other)
    assert not may_be_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Has she worked with Go?", "Does she have experience with Go?"),
        ("What is the opening pressure of the valve?", "At which pressure does the valve open?"),
        ("When is it open?", "What time does it open?"),
        ("What salary does she expect?", "What are her salary expectations?"),
        ("what’s the price", "What's the price?"),
    ],
)
def test_other_words_for_the_same_are_let_through(one: str, other: str) -> None:
    assert may_be_same(one, other)
    assert may_be_same(other, one)


def test_the_name_of_whom_the_content_is_about_may_be_left_out() -> None:
    one, other = "Has Juno Tarkwell led a team?", "Has she led teams?"
    assert not may_be_same(one, other)
    assert may_be_same(one, other, ["Juno Tarkwell"])


def test_few_of_the_measured_pairs_are_mistaken() -> None:
    joined = [pair for pair in pairs(same=False) if may_be_same(*pair)]
    apart = [pair for pair in pairs(same=True) if not may_be_same(*pair)]
    assert len(joined) <= 3, joined
    assert len(apart) <= 2, apart


def test_case_spaces_and_the_end_make_no_other_wording() -> None:
    assert wording_key("  When does\nit OPEN ?") == wording_key("when does it open")
    assert wording_key("When does it open?") != wording_key("When does it close?")


def test_those_with_more_words_in_common_are_compared_first() -> None:
    others = ["Is there soup?", "Does the shed open at noon?", "When does the shed open?"]
    assert nearest_by_words("When is the shed open?", others, 2) == [2, 1]
    assert nearest_by_words("When?", [], 2) == []
