"""Evaluations without the words of deleted documents: figures stay, and what repeats a document goes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from services.shared.contracts.evaluation import Comparison, Evaluation, Outcome, QuestionChange
from services.shared.contracts.golden import MADE_OF, Question
from services.shared.contracts.ids import DocumentId

TAKEN_OUT = "(taken out with a deleted document)"

REPORT_TAKEN_OUT = (
    "This report quoted a document that was deleted. It is made again from what is left within a few seconds; "
    "the evaluation itself, without the document's words, is shown already."
)
"""In a report's place until a worker has made it anew."""


@dataclass(frozen=True)
class Gone:
    """Deleted documents, and the titles that they had: an answer that declines names the nearest ones."""

    documents: Collection[DocumentId]
    titles: Collection[str] = ()

    def of(self, entry: str) -> DocumentId | None:
        """Which of the documents an entry such as "document id: quote" or "document id > section" is of."""
        return next((id for id in self.documents if entry == id or entry.startswith((f"{id}: ", f"{id} > "))), None)


def names(question: Question, gone: Gone) -> bool:
    """Was the question made of one of the documents, or does one answer it?"""
    gold = any(span.document_id in gone.documents for span in question.gold)
    return gold or any(f"{MADE_OF}{id}" in question.tags for id in gone.documents)


def tells_of(outcome: Outcome, gone: Gone) -> bool:
    """Did one of the documents turn up with the question, so that its words may stand in the outcome?"""
    entries = (*outcome.citations, *outcome.ranking, *outcome.missing_gold)
    lines = set((outcome.text or "").splitlines())
    return any(gone.of(entry) for entry in entries) or any(f"- {title}" in lines for title in gone.titles)


def question_without(question: Question, gone: Gone) -> Question:
    """The question as an entry under its id: its places stay, their words and its own go."""
    if not names(question, gone):
        return question
    told: dict[str, object] = {"text": TAKEN_OUT, "expected": None, "facts": [], "needed": None, "must_not": []}
    return question.model_copy(update=told | {"gold": without_quotes(question, gone).gold})


def without_quotes(question: Question, gone: Gone) -> Question:
    """The question with its own words, without those of the passages that it names."""
    spans = question.gold
    gold = [span.model_copy(update={"quote": None}) if span.document_id in gone.documents else span for span in spans]
    return question.model_copy(update={"gold": gold})


def outcome_without(outcome: Outcome, gone: Gone, *, named: bool) -> Outcome:
    """The outcome without the documents' words; ``named``: its question was made of one of them."""
    if not named and not tells_of(outcome, gone):
        return outcome
    return outcome.model_copy(
        update={
            "text": _instead(outcome.text),
            "error": _instead(outcome.error),
            "citations": _bare(outcome.citations, gone),
            "ranking": _bare(outcome.ranking, gone),
            "missing_gold": _bare(outcome.missing_gold, gone),
            "reviews": [review.model_copy(update={"notes": []}) for review in outcome.reviews],
        }
    )


def evaluation_without(evaluation: Evaluation, gone: Gone, also: Collection[str] = ()) -> tuple[Evaluation, set[str]]:
    """The evaluation without the documents' words, and the ids of the questions that lost some.

    ``also`` names questions that lost some in the run that this one was compared with.
    """
    named = {question.id for question in evaluation.questions if names(question, gone)}
    lost = named | {one.question_id for one in evaluation.outcomes if tells_of(one, gone)}
    comparison = evaluation.comparison
    changed = evaluation.model_copy(
        update={
            "questions": [question_without(question, gone) for question in evaluation.questions],
            "outcomes": [outcome_without(one, gone, named=one.question_id in named) for one in evaluation.outcomes],
            "comparison": None if comparison is None else _comparison_without(comparison, named, {*lost, *also}),
        }
    )
    return changed, lost


def _comparison_without(comparison: Comparison, named: Collection[str], lost: Collection[str]) -> Comparison:
    def without(change: QuestionChange) -> QuestionChange:
        if change.question_id not in lost:
            return change
        text = TAKEN_OUT if change.question_id in named else change.text
        return change.model_copy(
            update={"text": text, "before": _instead(change.before), "after": _instead(change.after)}
        )

    return comparison.model_copy(update={"questions": [without(change) for change in comparison.questions]})


def _instead(text: str | None) -> str | None:
    return None if text is None else TAKEN_OUT


def _bare(entries: Sequence[str], gone: Gone) -> list[str]:
    """Entries of the documents by their id alone."""
    return [gone.of(entry) or entry for entry in entries]
