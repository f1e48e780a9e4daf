"""Answers that somebody wrote to break the accuracy rule: 36 wrong ones and 24 right ones.

The rule is wrong about 12 of the 60: it lets 7 of 36 wrong answers pass and fails 5 of 24 right ones, or 20 %. It was
mended with these in sight, so it errs more often on answers of the kind that nobody has seen yet. What it still
gets wrong wants a reader: who did what, what a number is of, a later clause that takes an earlier one back, other
words for the same, another unit, and a date whose order of day and month only a country tells.
"""

import json
from pathlib import Path

import pytest

from services.shared.contracts.golden import Behaviour, Question
from services.shared.evaluation.reviewers.accuracy import AccuracyCase, by_rule
from tests.unit.evaluation_reviewers.labelled import rows

PASSED_BUT_WRONG = {
    "number in wrong role": "240 minutes for 240 people",
    "contradiction by second number": "240 seats of which 90 were taken",
    "swap short facts": "both names, each with the other's work",
    "post negation": "what never happened is said behind the fact",
    "refuted past": "it used to be so",
    "list with extras wrong": "three right languages among eight",
    "go as verb": "a name that is also a word",
}
FAILED_BUT_RIGHT = {
    "unit equal": "seconds for milliseconds",
    "us date": "09/01/2026 may be January",
    "sept dropped year": "the year in brackets behind other words",
    "neg kept": "a denial in other words",
    "paraphrase": "a fact in other words",
}
ROWS = rows("hostile_answers.jsonl")
QUESTIONS = [
    Question.model_validate(json.loads(line))
    for line in (Path(__file__).parents[3] / "evals" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERED = [question for question in QUESTIONS if question.behaviour is Behaviour.ANSWER]


def passes(question: Question, answer: str, needed: int | None = None) -> bool:
    review = by_rule(AccuracyCase(question.text, question.expected, question.facts, needed, answer))
    assert review is not None
    return review.passed


def verdict(row: dict[str, object]) -> bool:
    question = Question.model_validate({key: row[key] for key in ("expected", "facts")} | {"id": "a", "text": "?"})
    return passes(question, str(row["answer"]), row["needed"] if isinstance(row["needed"], int) else None)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_rule_says_what_a_person_says_but_for_the_known_misses(row: dict[str, object]) -> None:
    missed = row["name"] in PASSED_BUT_WRONG or row["name"] in FAILED_BUT_RIGHT
    assert (verdict(row) == row["right"]) is not missed


def test_the_error_rate_is_that_of_the_docstring() -> None:
    wrong, right = ([row for row in ROWS if row["right"] is side] for side in (False, True))
    assert (len(wrong), sum(verdict(row) for row in wrong)) == (36, 7)
    assert (len(right), sum(not verdict(row) for row in right)) == (24, 5)


@pytest.mark.parametrize(
    ("expected", "fact", "answer", "right"),
    [
        ("Every 60 seconds.", "60 seconds", "Every 60 seconds or 1 minute.", True),
        ("It took 90 days.", "90 days", "It took 90 days, or three months.", True),
        ("It took 2 years.", "2 years", "It took one to two years.", False),
        ("She left in 2021.", "2021", "She worked there from 2019 to 2021.", True),
        ("It fell to 3,150 euros, from 9,400.", "3,150 euros", "From 9,400 to 3,150 euros.", True),
        ("It can be undone.", "be undone", "It could be undone.", True),
        ("Only Ann has access.", "Ann", "No one except Ann has access.", True),
        ("It was Windows-1252.", "Windows-1252", "Instead of UTF-8, Windows-1252 was used.", True),
        ("She uses Go.", "Go", "She would rather use Go.", True),
        ("She leads six.", "six", "No fewer than six.", True),
        ("She leads more than six.", "six", "Six.", True),
        ("At home or in Ghent.", "Ghent", "Either at home or in Ghent.", True),
        ("In Ghent.", "Ghent", "Either at home or in Ghent.", False),
        ("It is open source.", "open source", "Perhaps it is open source.", False),
        ("24 people.", "24 people", "Two dozen people.", True),
        ("100 people.", "100 people", "A hundred people.", True),
        ("6 people.", "6 people", "Half a dozen people.", True),
        ("2,500,000 rows.", "2.5 million", "Two and a half million rows.", True),
        ("12 people.", "12", "Dozens of people.", False),
        ("1 September 2026.", "1 September 2026", "September 1, 2026.", True),
        ("1 September 2026.", "1 September 2026", "On 1.9.2026.", True),
        ("Version 1.2.3.", "1.2.3", "Version 1.2.3.", True),
        ("10 weeks to 13 weeks.", "10 to 13 weeks", "Between 10 and 13 weeks.", True),
        ("Not before 1 September 2026.", "1 September 2026", "1 September 2026.", True),
        ("It is code X1.", "X1", "It refuses what a batch whose sums do not come out as zero ends in: X1.", True),
        ("It is code X1.", "X1", "A batch whose sums do not come out as zero is refused with X1.", True),
        ("A batch that does not come out as zero is refused with the code X1.", "X1", "X1.", True),
        ("She does not know Go.", "Go", "Go.", False),
    ],
)
def test_neighbours_of_the_hostile_answers(expected: str, fact: str, answer: str, right: bool) -> None:
    question = Question(id="a", text="?", expected=expected, facts=[[fact]])
    assert passes(question, answer) is right


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        ("Yes, X.", "No, X.", False),
        ("Yes, X.", "No. X.", False),
        ("Yes, X.", "No she said X.", False),
        ("Yes, X.", "No doubt: X.", True),
        ("No, X.", "Yes X.", False),
        ("No, X, and no Y.", "Yes, X, and no Y.", True),
        ("No, X, and no Y.", "Yes, X, and not only Y.", False),
        ("It fell from A to X.", "It rose from X to A.", False),
        ("It fell from A to X.", "From A to X, not from X to A.", True),
    ],
)
def test_a_verdict_or_a_way_is_that_of_the_whole_answer(expected: str, answer: str, right: bool) -> None:
    assert passes(Question(id="a", text="?", expected=expected, facts=[["X"]]), answer) is right


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question.id)
def test_each_wording_of_a_fact_counts_in_a_plain_sentence(question: Question) -> None:
    said = [f"It is {fact[0]}." for fact in question.facts]
    for at, fact in enumerate(question.facts):
        for wording in fact:
            assert passes(question, " ".join([*said[:at], f"It is {wording}.", *said[at + 1 :]])), wording


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: question.id)
def test_what_is_expected_and_the_gold_quotes_are_right_answers(question: Question) -> None:
    assert passes(question, question.expected or "", question.needed)
    assert passes(question, " ".join(span.quote or "" for span in question.gold), question.needed)


def test_a_code_that_comes_back_is_right() -> None:
    question = next(question for question in ANSWERED if question.id == "fr-02")
    assert passes(question, "You get LQ-3007 back.")
