"""Answers with lists, tables and code: their layout is no fault, and what stands in code is no marker."""

import pytest

from services.shared.contracts.golden import Behaviour
from services.shared.evaluation.reviewers import validity
from services.shared.evaluation.reviewers.debris import debris
from services.shared.evaluation.reviewers.wording import without_markers
from tests.unit.evaluation_reviewers.test_checks_reviewer import answer, notes, question

LIST = (
    "Juno's order of work in an incident is this [1].\n\n- stop the damage [2]\n- tell the people whom it concerns,"
    " before they find it out by themselves [3]"
)
NUMBERED = "1. Write down the question [1].\n2. Send it to everybody who might own the answer to this question [2]"
TABLE = "| Skill | Level | Since |\n|:---|---:|---|\n| Python | 5 | 2014 |\n| Kafka | 4 | 2019 [1] |"
CODE = "The consumer waits for the gate [1].\n\n```python\nfirst = batch[3]\nawait gate.open(first[4])\n```\n[2]"


@pytest.mark.parametrize("text", [LIST, NUMBERED, TABLE, f"She rates herself [2].\n\n{TABLE}", CODE])
def test_layout_is_no_debris(text: str) -> None:
    assert list(debris(text)) == []
    assert validity.by_rule(text).notes == []


@pytest.mark.parametrize(
    "text",
    [
        "She rates Python | 5 | 2014 [1].",
        "| Python | 5 | 2014 [1] |",
        "|---|---|\n| Python | 5 [1] |",
        "- stop the damage, tell people, understand what happened and then the",
        "- stop the damage, tell people, understand what happened and then repair it",
    ],
)
def test_parts_of_a_layout_are(text: str) -> None:
    assert list(debris(text)) != []


@pytest.mark.parametrize(("text", "citations"), [(LIST, 3), (NUMBERED, 2), (TABLE, 1), (CODE, 2)])
def test_every_marker_of_a_layout_is_found_and_none_in_code(text: str, citations: int) -> None:
    assert notes(question(Behaviour.ANSWER), answer(text, citations=citations)) == []
    missing = notes(question(Behaviour.ANSWER), answer(text, citations=citations + 1))
    assert any("no marker for the citation" in note for note in missing)


def test_markers_go_and_code_stays() -> None:
    assert without_markers(CODE) == CODE.replace(" [1]", "").replace("\n[2]", "\n")
    assert without_markers(TABLE) == TABLE.replace(" [1]", "")
