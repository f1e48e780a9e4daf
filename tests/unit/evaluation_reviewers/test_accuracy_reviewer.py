"""The accuracy reviewer: what counts as saying a fact, and where it and a person differ on labelled answers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.evaluation.reviewers.accuracy import LIKE_ENOUGH, AccuracyCase, by_embedding, by_rule, pair
from tests.unit.evaluation_reviewers.fit import counts
from tests.unit.evaluation_reviewers.labelled import LabelledAnswer, answers

KNOWN_MISSES = {
    "In order to describe the technical weakness": "a denial and a fact in one muddle",
}
"""Answers that the rule lets through; only a reader would not."""


def said(fact: str, answer: str, expected: str | None = None) -> bool:
    """Does the answer state the one fact?"""
    review = by_rule(AccuracyCase("?", expected, [[fact]], None, answer))
    assert review is not None
    return review.passed


@pytest.mark.parametrize("one", answers(), ids=lambda one: f"{one.trap or 'plain'}: {one.case.answer[:40]}")
def test_the_rule_says_what_a_person_says(one: LabelledAnswer) -> None:
    review = by_rule(one.case)
    assert review is not None
    known = any(one.case.answer.startswith(start) for start in KNOWN_MISSES)
    assert review.passed is (one.right or known)
    assert review.passed == (review.notes == [])


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        ("1,214", "There were 1214 of them."),
        ("1214", "There were 1\u00a0214 of them."),
        ("3.1 million", "It handles 3,100,000 postings."),
        ("13 weeks", "a 13-week notice"),
        ("13 weeks", "thirteen\nweeks"),
        ("35 ms", "thirty-five milliseconds"),
        ("40%", "about 40 percent of her time"),
        ("€95,000", "EUR 95\u202f000"),
        ("95,000 euros", "€95k"),
        ("1.50 EUR", "1,5 €"),
        ("RFC 0047", "[RFC 47](https://example.com/rfc)"),
        ("1 September 2026", "**September 1st, 2026**"),
        ("September 2026", "on 2026-09-01"),
        ("v2.1.4", "version 2.1.4 [1][2]"),
        ("append-only ledger", "an append only ledger"),
        ("Harrow & Quill", "Harrow and Quill"),
        ("O'Brien", "O’Brien’s talk"),
        ("Ghent café", "the Ghent Cafe"),
        ("low_water", "the setting `low_water`"),
        ("C++", "She knows C++ and Go."),
        ("three weeks", "3 [1] weeks"),
        ("三週間", "答えは三週間です。"),
        ("is not accepted", "it isn't accepted"),
    ],
)
def test_spelling_and_numbers_do_not_matter(fact: str, answer: str) -> None:
    assert said(fact, answer)


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        ("13 weeks", "113 weeks"),
        ("13 weeks", "13.5 weeks"),
        ("13 weeks", "from 10-13 weeks"),
        ("5 degrees", "it was -5 degrees"),
        ("Python 3.1", "Python 3.10"),
        ("214", "1,214 payouts"),
        ("C", "She knows C++."),
        ("art", "a start"),
        ("1", "the answer [1]"),
        ("4410", "MX-44101"),
        ("1 September", "11 September"),
        ("LQ-3007", "LQ-3011"),
    ],
)
def test_a_part_of_a_word_or_number_is_not_the_fact(fact: str, answer: str) -> None:
    assert not said(fact, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "She has not run production Kubernetes.",
        "She has never, in her whole career, run production Kubernetes.",
        "She has done much without production Kubernetes.",
        "Neither Go nor production Kubernetes is known to her.",
    ],
)
def test_a_denied_fact_does_not_count_where_it_should_be_affirmed(answer: str) -> None:
    assert not said("production Kubernetes", answer, "She runs production Kubernetes.")


@pytest.mark.parametrize(
    "answer",
    [
        "She has not run Go, but she runs production Kubernetes.",
        "Not only does she run Go: production Kubernetes is hers too.",
        "No, she runs production Kubernetes.",
        "There are no doubts about it at all in her team today: production Kubernetes.",
        "She did not like Go. She runs production Kubernetes.",
    ],
)
def test_a_denial_of_something_else_is_none_of_the_fact(answer: str) -> None:
    assert said("production Kubernetes", answer, "She runs production Kubernetes.")


def test_an_affirmed_fact_does_not_count_where_it_should_be_denied() -> None:
    expected = "She has not run production Kubernetes."
    assert not said("production Kubernetes", "She has run production Kubernetes.", expected)
    assert said("production Kubernetes", "She hasn't run production Kubernetes.", expected)


def test_a_denied_verb_reaches_fourteen_words_and_no_further() -> None:
    expected = "She runs Kubernetes."
    for between, counts_as_said in ((13, False), (14, True)):
        answer = " ".join(["She has not", *["really"] * between, "Kubernetes."])
        assert said("Kubernetes", answer, expected) is counts_as_said


@pytest.mark.parametrize("word", ["only", "just", "merely", "solely", "until", "before"])
def test_not_only_affirms(word: str) -> None:
    assert said("Kubernetes", f"She runs not {word} Kubernetes.", "She runs Kubernetes.")
    assert not said("Kubernetes", "She runs not Kubernetes.", "She runs Kubernetes.")


def test_without_an_expected_answer_both_ways_count() -> None:
    assert said("1066", "It was not founded before 1066.")


def test_the_score_is_the_share_of_what_is_needed() -> None:
    facts = [["Python"], ["PostgreSQL", "Postgres"], ["Kafka"]]
    review = by_rule(AccuracyCase("?", None, facts, 2, "Python only."))
    assert review is not None
    assert (review.passed, review.score) == (False, 0.5)
    assert review.notes == ["not said: PostgreSQL", "not said: Kafka"]
    enough = by_rule(AccuracyCase("?", None, facts, 2, "Python and Postgres."))
    assert enough is not None
    assert (enough.passed, enough.score) == (True, 1.0)


def test_nothing_to_compare_is_no_review() -> None:
    nothing = AccuracyCase("?", None, [], None, "An answer.")
    assert by_rule(nothing) is None
    assert by_embedding(nothing, 1.0) is None
    assert pair(nothing) is None
    assert pair(AccuracyCase("?", "Expected.", [], None, " [1] ")) is None


def test_markers_are_not_compared() -> None:
    assert pair(AccuracyCase("?", "Six.", [], None, "Six people [1][2].")) == ("Six.", "Six people.")


def test_the_embedding_reviewer_hears_contradictions() -> None:
    case = AccuracyCase("?", "The notice period is 13 weeks.", [], None, "The notice period is 14 weeks.")
    review = by_embedding(case, 0.97)
    assert review is not None
    assert not review.passed
    assert review.notes == ["other numbers: not 13"]
    unlike = by_embedding(AccuracyCase("?", "In Ghent.", [], None, "She rows."), LIKE_ENOUGH - 0.01)
    assert unlike is not None
    assert not unlike.passed


@pytest.mark.parametrize("likeness", [math.nan, math.inf, -math.inf])
def test_a_likeness_that_is_no_number_fails(likeness: float) -> None:
    review = by_embedding(AccuracyCase("?", "In Ghent.", [], None, "In Ghent."), likeness)
    assert review is not None
    assert (review.passed, review.score) == (False, 0.0)
    assert review.notes == [f"likeness is no number: {likeness}"]


def test_the_reviewers_agree_with_people_as_often_as_their_docstrings_say() -> None:
    found = counts()
    assert (found["answers, fitted"], found["answers, fitted, embedding agrees"]) == (48, 41)
    assert (found["answers, held out"], found["answers, held out, embedding agrees"]) == (47, 44)
    assert (found["answers, fitted, likeness alone agrees"], found["answers, held out, likeness alone agrees"]) == (
        32,
        33,
    )


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_text_is_read(fact: str, answer: str) -> None:
    review = by_rule(AccuracyCase("?", answer, [[fact]], None, f"{fact} {answer}"))
    assert review is not None
    assert 0.0 <= review.score <= 1.0
