"""What an answer is worth, one number per metric, from the answer and what the reviewers say of it."""

from collections.abc import Mapping, Sequence

from services.shared.contracts.answers import Answer, AnswerReason, AnswerStatus
from services.shared.contracts.evaluation import Review
from services.shared.contracts.golden import Behaviour, Question
from services.shared.evaluation.rankings import Gold, distinct, needs
from services.shared.evaluation.reviewers.checks import MUST_NOT, QUOTES, failed_kinds

DECIDING = ("rule", "embedding")
"""Whose review counts, the first that there is. The judge's is shown beside: it changes from one day to the next."""

_MAKE_WRONG = frozenset({MUST_NOT, QUOTES})
"""Checks without which no answer is right; the others are of its form."""


def answer_values(
    question: Question, answer: Answer, reviews: Sequence[Review], golds: Sequence[Gold]
) -> dict[str, float]:
    """Metric to value; a metric that makes no sense for this answer is absent.

    ``score`` is +1 for a right answer or a right silence, 0 for silence where an answer was expected, -1 for a wrong
    answer, so that guessing pays only when it is right more often than not; ``right`` says whether it is +1. Where
    an answer is expected and nothing says which, neither exists. A writer that is away is silence, never right.
    """
    values: dict[str, float] = {}
    score = _score(question, answer, reviews)
    if score is not None:
        values |= {"score": score, "right": float(score > 0)}
    checked = _deciding(reviews, "checks")
    if checked is not None:
        values["checks"] = float(checked.passed)
    if answer.status is AnswerStatus.ANSWERED:
        values |= _answered_values(question, answer, reviews, golds)
    return values


def _score(question: Question, answer: Answer, reviews: Sequence[Review]) -> float | None:
    answered = answer.status is AnswerStatus.ANSWERED
    if question.behaviour is not Behaviour.ANSWER:
        if answered:
            return -1.0
        return 0.0 if answer.reason is AnswerReason.WRITER_UNAVAILABLE else 1.0
    if not (question.facts or question.expected):
        return None
    if not answered:
        return 0.0
    accuracy, checks = _deciding(reviews, "accuracy"), _deciding(reviews, "checks")
    if accuracy is None:
        return None
    untrue = checks is not None and not _MAKE_WRONG.isdisjoint(failed_kinds(checks.notes))
    return 1.0 if accuracy.passed and not untrue else -1.0


def _answered_values(
    question: Question, answer: Answer, reviews: Sequence[Review], golds: Sequence[Gold]
) -> dict[str, float]:
    values: dict[str, float] = {}
    accuracy, validity = _deciding(reviews, "accuracy"), _deciding(reviews, "validity")
    # A likeness is no share of facts, so the rule alone says this.
    if accuracy is not None and accuracy.by == "rule" and question.behaviour is Behaviour.ANSWER:
        values["accuracy"] = accuracy.score
    if validity is not None:
        values["validity"] = float(validity.passed)
    supported = _supported(answer)
    if supported is not None:
        values["supported"] = supported
    if golds:
        values["citation_precision"], values["citation_recall"] = _citations(answer, distinct(golds))
    return values


def _deciding(reviews: Sequence[Review], reviewer: str) -> Review | None:
    for by in DECIDING:
        for review in reviews:
            if (review.reviewer, review.by) == (reviewer, by):
                return review
    return None


def _supported(answer: Answer) -> float | None:
    """Supported claims among those that were written.

    Sentences that were dropped as not supported stand only in the trace, so the question has to be asked with
    ``explain``; without it the share is of what was kept.
    """
    dropped = (answer.trace or {}).get("dropped")
    written = len(answer.claims) + (len(dropped) if isinstance(dropped, list) else 0)
    return sum(claim.supported for claim in answer.claims) / written if written else None


def _citations(answer: Answer, golds: Mapping[int, Gold]) -> tuple[float, float]:
    """Share of the citations that touch a gold, and of what the golds say that a citation touches; 0 without any."""
    need = needs(golds)
    touched: set[int] = set()
    good = 0
    for citation in answer.citations:
        touches = {
            need[place]
            for place, gold in golds.items()
            if gold.touched(citation.document_id, citation.start, citation.end)
        }
        touched |= touches
        good += bool(touches)
    return good / max(1, len(answer.citations)), len(touched) / len(set(need.values()))
