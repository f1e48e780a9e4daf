"""The review file: written for a person, read back unchanged, and exact about what is wrong with it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import (
    Behaviour,
    GoldenOrigin,
    GoldenQuestion,
    GoldenState,
    GoldSpan,
    Question,
)
from services.shared.evaluation.golden.review import read_review, write_review

POOL = Question(
    id="g-1",
    text='Is it "No", on 2024-05-14: yes?',
    kind="factual_recall",
    expected="No.\nIt opens at seven.",
    facts=[["13 weeks", "thirteen weeks"], ["no"]],
    needed=1,
    must_not=["true"],
    gold=[
        GoldSpan(document_id="a/b: c.md", quote="It opens\n  at [seven](x) # now", grade=2, group="fact 1"),
        GoldSpan(document_id="d"),
    ],
    tags=["negative_fact"],
    language="en",
)
SIMPLE = Question(id="g-2", text="No", behaviour=Behaviour.ABSTAIN)


def kept(question: Question, state: GoldenState = GoldenState.APPROVED, flagged: str | None = None) -> GoldenQuestion:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return GoldenQuestion(question=question, state=state, origin=GoldenOrigin.RULE, flagged=flagged, updated_at=now)


def test_what_is_written_is_read_back_unchanged_with_its_state() -> None:
    states = [GoldenState.PROPOSED, GoldenState.APPROVED, GoldenState.REJECTED]
    items = [kept(POOL.model_copy(update={"id": state.value}), state) for state in states]
    read = read_review(write_review([*items, kept(SIMPLE)]))
    assert {item.question.id: item.state for item in read} == {
        "proposed": GoldenState.PROPOSED,
        "approved": GoldenState.APPROVED,
        "rejected": GoldenState.REJECTED,
        "g-2": GoldenState.APPROVED,
    }
    assert read[0].question == items[0].question
    assert read[-2].question == SIMPLE or read[-1].question == SIMPLE or SIMPLE in [one.question for one in read]


def test_the_file_explains_itself_and_what_is_to_be_decided_comes_first() -> None:
    text = write_review([kept(SIMPLE), kept(POOL, GoldenState.PROPOSED, flagged="the passage\nchanged")])
    assert text.startswith("# Golden questions for review: 2.")
    assert "keep       yes" in text
    assert text.index('- id: "g-1"') < text.index('- id: "g-2"')
    assert "# Look again: the passage changed" in text
    assert "keep: undecided" in text
    assert read_review(write_review([])) == []


TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=3), TEXTS)
def test_any_text_survives_the_file(text: str, quote: str, words: list[str], expected: str) -> None:
    if not text.strip():
        text = "x" + text
    gold = [GoldSpan(document_id="d", quote=quote)]
    question = Question(id="g", text=text, expected=expected, facts=[words or ["a"]], must_not=words, gold=gold)
    assert [item.question for item in read_review(write_review([kept(question)]))] == [question]


def test_a_question_that_a_person_writes_needs_little() -> None:
    read = read_review(
        "- id: mine\n  keep: Yes\n  question: No\n  facts: [2024-05-14]\n  must_not: on\n  expected: ~\n"
    )
    assert read[0].state is GoldenState.APPROVED
    assert (read[0].question.text, read[0].question.facts, read[0].question.must_not) == (
        "No",
        [["2024-05-14"]],
        ["on"],
    )
    assert read[0].question.expected is None
    assert read_review("- {id: a, question: b}")[0].state is GoldenState.PROPOSED
    assert read_review("") == read_review("# nothing\n") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- id: a\n  question: [", "no YAML at line"),
        ("a: 1", "not a list of questions"),
        ("- just words", "line 1: this is no question"),
        ("- id: a\n  question: b\n- id: a\n  question: c", "line 3: the id a stands in line 1 too"),
        ("- question: b", "line 1: the question has no id"),
        ("- id: a\n  keep: yes", "question a (line 1): the question is missing"),
        ("- id: a\n  question: b\n  keep: maybe", "keep is 'maybe'; write yes, no or undecided"),
        ("- id: a\n  question: b\n  behaviour: guess", "write answer, abstain or decline"),
        ("- id: a\n  question: b\n  answer: c", "line 3: 'answer' is no part of a question"),
        ("- id: a\n  question: b\n  id: c", "line 3: id is there twice"),
        ("- id: a\n  question: b\n  facts: seven", "question a (line 1): facts"),
        ("- id: a\n  question: b\n  gold: [{document: d, page: 3}]", "gold.0.page"),
        ("- id: a\n  question: b\n  needed: none", "write a whole number"),
        ("- &x {id: a, question: b}\n- *x", "line 2: it refers to another place"),
        ("- !!python/object:os.system {id: a}", "has no id|question is missing"),
        ("[" * 1500, "nested too deeply|no YAML"),
    ],
)
def test_a_fault_names_its_place_and_says_what_to_do(text: str, said: str) -> None:
    with pytest.raises(RagstoneError) as refused:
        read_review(text)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert any(part in refused.value.detail for part in said.split("|"))


def test_several_faults_are_named_at_once_and_many_are_not_listed() -> None:
    with pytest.raises(RagstoneError) as refused:
        read_review("\n".join(f"- id: q{n}" for n in range(20)))
    assert refused.value.detail.count("is missing") == 5
    assert refused.value.detail.endswith("and more")


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    bomb: Any = "- &a [x, x, x]\n" + "\n".join(f"- &b{n} [*a, *a, *a]" for n in range(30))
    with pytest.raises(RagstoneError, match="refers to another place"):
        read_review(bomb)
