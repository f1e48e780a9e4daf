"""Looks at golden questions before anything is stored or asked, and makes one of an owner's correction."""

import unicodedata
from collections.abc import Sequence

from services.gateway.domain.cleaning import holds_nul, tidy
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import Behaviour, Correction, Feedback, Question

_NOT_IN_IDS = ("Cc", "Cs", "Zl", "Zp")


def check_questions(questions: Sequence[Question], max_chars: int) -> None:
    """Raises RagstoneError (invalid_request) that names the question at fault, also when two have one id.

    ``max_chars`` is the length that a question may have to be asked at all.
    """
    seen: set[str] = set()
    for question in questions:
        wrong = _fault(question) or _too_long(question, max_chars)
        if wrong is None and question.id in seen:
            wrong = "stands twice; give each question an id of its own"
        _refuse(question, wrong)
        seen.add(question.id)


def _refuse(question: Question, wrong: str | None) -> None:
    if wrong is not None:
        raise RagstoneError(ErrorCode.INVALID_REQUEST, f"Question {question.id[:80]!r} {wrong}.")


def _too_long(question: Question, max_chars: int) -> str | None:
    length = len(tidy(question.text))
    if length <= max_chars:
        return None
    return f"has a text of {length} characters, and none longer than {max_chars} can be asked; shorten it"


def _fault(question: Question) -> str | None:
    if question.id != question.id.strip() or any(unicodedata.category(char) in _NOT_IN_IDS for char in question.id):
        return "has an id with control characters, or with blanks around it; choose another"
    if holds_nul(question.model_dump(mode="json")):
        return "holds a zero character (U+0000), which cannot be stored; leave it out"
    if not question.kind.strip():
        return "has a blank kind; name one, such as factual_recall, or leave it out"
    if not question.text.strip():
        return "has a blank text; write what is asked"
    if not all(wording.strip() for fact in question.facts for wording in fact) or not all(question.facts):
        return 'has a fact without wording; give each fact at least one, as ["nine o\'clock", "9:00"]'
    if question.needed is not None and question.needed > len(question.facts):
        return f"needs {question.needed} facts and has {len(question.facts)}; no answer could be right"
    if not all(word.strip() for word in question.must_not):
        return "has a blank entry in must_not, which every answer would hold"
    if any(not span.document_id or (span.quote is not None and not span.quote.strip()) for span in question.gold):
        return "has a gold passage without words; name its document_id and quote it, or leave quote out for the whole"
    return None


def golden_id(feedback: Feedback) -> str:
    """The id of the golden question that a correction becomes."""
    return f"feedback-{feedback.id}"


def corrected(feedback: Feedback, correction: Correction) -> Question:
    """The question that was asked, with what its owner says is right. Raises RagstoneError (invalid_request)."""
    if correction.behaviour is Behaviour.ANSWER and not (correction.expected or "").strip():
        detail = "expected: say what a right answer is, or that it is right to abstain or decline (behaviour)."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    question = Question(
        id=golden_id(feedback),
        text=feedback.question,
        kind=correction.kind,
        behaviour=correction.behaviour,
        expected=correction.expected,
        facts=correction.facts,
        must_not=correction.must_not,
        gold=correction.gold,
    )
    # Its text was asked, so it is not too long.
    _refuse(question, _fault(question))
    return question
