"""The hard-coded checks: each finds its fault, and none finds one in a right answer."""

from typing import Any

import pytest

from services.shared.contracts.answers import Answer, Citation
from services.shared.contracts.golden import Behaviour, Question
from services.shared.evaluation.reviewers.checks import check, failed_kinds

TEXT = "Juno leads a team of six [1]. She has done so since January 2024 [1][2]."
FRENCH = (
    "Elle dirige une équipe de six personnes dans une entreprise de Gand depuis le mois de janvier, et elle est"
    " aussi la personne que les autres appellent la nuit [1][2]."
)


def citation(n: int, **changes: Any) -> Citation:
    fields: dict[str, Any] = {
        "n": n, "document_id": "faq/leadership.md", "version": "v1", "title": "Leadership", "source": None,
        "section": "", "type": None, "chunk_id": f"c{n}", "start": 0, "end": 3, "quote": "six", "url": "/x",
    }  # fmt: skip
    return Citation(**{**fields, **changes})


def answer(text: str = TEXT, status: str = "answered", citations: int = 2, **changes: Any) -> Answer:
    fields: dict[str, Any] = {
        "id": "a", "status": status, "text": text, "reason": None, "confidence": 0.9,
        "citations": [citation(n) for n in range(1, citations + 1)],
        "claims": [{"text": text, "supported": True, "score": 0.9, "citations": list(range(1, citations + 1))}],
        "sub_questions": [], "passages_used": [], "degraded": [], "model": {"writer": "extractive", "name": None},
        "index": {"id": None, "embedder": None, "seq": 0}, "timings_ms": {}, "trace_id": "t", "trace": None,
    }  # fmt: skip
    return Answer.model_validate({**fields, **changes})


def abstention(text: str = "The documents do not answer that.", status: str = "abstained") -> Answer:
    return answer(text, status, 0, claims=[])


def question(behaviour: Behaviour = Behaviour.ANSWER, **changes: Any) -> Question:
    return Question(id="q", text="How many people?", behaviour=behaviour, **changes)


def notes(asked: Question, given: Answer, *, hold: bool = True) -> list[str]:
    review = check(asked, given, [hold] * len(given.citations))
    assert review.passed == (review.notes == [])
    assert (review.score == 1.0) == review.passed
    return review.notes


def test_a_right_answer_passes() -> None:
    assert notes(question(language="en", must_not=["seven", "budget"]), answer()) == []


@pytest.mark.parametrize("behaviour", [Behaviour.ABSTAIN, Behaviour.DECLINE])
@pytest.mark.parametrize("status", ["abstained", "declined"])
def test_abstaining_and_declining_are_as_right(behaviour: Behaviour, status: str) -> None:
    assert notes(question(behaviour), abstention(status=status)) == []


def test_a_status_that_does_not_fit_fails() -> None:
    assert notes(question(), abstention()) == ["status: abstained, but right is to answer"]
    assert notes(question(Behaviour.DECLINE), answer()) == ["status: answered, but right is to decline"]


@pytest.mark.parametrize(
    ("given", "note"),
    [
        (answer("No marker at all.", citations=0), "citations: none"),
        (answer("Six [1]. Since 2024 [3].", citations=1), "citations: no citation for the marker 3"),
        (answer("Six [1].", citations=2), "citations: no marker for the citation 2"),
        (answer(claims=[]), "citations: no claim"),
        (
            answer(claims=[{"text": "Six.", "supported": True, "score": 0.9, "citations": []}]),
            "citations: none for the claim Six.",
        ),
        (
            answer(claims=[{"text": "Six.", "supported": True, "score": 0.9, "citations": [7]}]),
            "citations: a claim names one that is not there: Six.",
        ),
        (
            answer("Six [2][3].").model_copy(update={"citations": [citation(2), citation(3)]}),
            "citations: not numbered from 1 on, but 2, 3",
        ),
        (answer(" [1] "), "text: empty"),
        (answer(f"{'word ' * 600}[1][2]."), "text: 3007 characters, more than 2500"),
    ],
)
def test_each_fault_of_form_is_named(given: Answer, note: str) -> None:
    assert note in notes(question(), given)


def test_an_abstention_cites_nothing() -> None:
    cited = answer("I do not know [1].", "abstained", 1)
    assert "citations: an answer that says nothing of the content cites something" in notes(
        question(Behaviour.ABSTAIN), cited
    )


def test_brackets_in_code_are_no_markers() -> None:
    assert notes(question(), answer("Set `limits[7]` to six [1][2].")) == []


def test_a_quote_that_does_not_hold_fails() -> None:
    found = notes(question(), answer(), hold=False)
    assert found[0] == "quotes: [1] does not stand at its place in faq/leadership.md"
    assert failed_kinds(found) == {"quotes"}


def test_every_citation_must_have_been_looked_up() -> None:
    with pytest.raises(ValueError, match="2 citations, but 1"):
        check(question(), answer(), [True])


@pytest.mark.parametrize("word", ["six", "SIX", "team  of six", "January 2024"])
def test_forbidden_words_are_found_in_any_spelling(word: str) -> None:
    assert notes(question(must_not=[word]), answer()) == [f"must_not: says {word}"]


@pytest.mark.parametrize("word", ["sixty", "ix", "20", "eam", "2024.5"])
def test_a_part_of_a_word_is_not_forbidden(word: str) -> None:
    assert notes(question(must_not=[word]), answer()) == []


def test_typographic_signs_do_not_hide_a_forbidden_word() -> None:
    given = answer("It’s event‑sourced [1][2].")
    assert failed_kinds(notes(question(must_not=["it's event-sourced"]), given)) == {"must_not"}


def test_the_language_is_checked_where_it_is_known() -> None:
    assert notes(question(language="en"), answer(FRENCH)) == ["language: not en"]
    assert notes(question(language="fr-FR"), answer(FRENCH)) == []
    assert notes(question(language=None), answer(FRENCH)) == []
