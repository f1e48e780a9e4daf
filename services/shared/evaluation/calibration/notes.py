"""What an owner should know of a calibration beside its numbers, in sentences."""

from collections.abc import Sequence

from services.shared.evaluation.calibration.cases import Asked, Kind
from services.shared.evaluation.calibration.fit import Fit
from services.shared.evaluation.calibration.thresholds import Expected, Sides, answer_from, expected

DOCUMENTS_FEW = 20
MISSED_MUCH = 0.1
OFF_TOPIC_FEW = 20
COVERAGE_LOW, COVERAGE_GOOD = 0.5, 0.8
"""Below the first an owner should think of a higher risk; the second is what is worked towards."""
RISKS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
OFF_BY = 1.5


def notes_on_questions(counted: Sequence[Asked], fitted: Fit) -> list[str]:
    """What the questions can and cannot show."""
    notes = []
    answerable = [one for one in counted if one.answerable]
    documents = len({one.case.document_id for one in answerable})
    if documents < DOCUMENTS_FEW:
        notes.append(f"The questions are about {documents} documents; what to expect of new ones may differ.")
    by_words = sum(one.case.by_words for one in answerable)
    if by_words:
        notes.append(
            f"{by_words} of {len(answerable)} answerable questions are searches of rare words, because the rules found "
            "too few sentences to ask about (they know English; a document's own questions are taken in any language)."
        )
    missed = sum(one.seen.found is False for one in answerable)
    if missed > MISSED_MUCH * len(answerable):
        notes.append(
            f"{missed} of {len(answerable)} answerable questions did not find their passage, which no threshold mends; "
            "`ragstone eval retrieval` says more."
        )
    if sum(one.case.kind is Kind.OFF_TOPIC for one in counted) < OFF_TOPIC_FEW:
        notes.append("The content holds the words of most off-topic questions, so gate, floor and cut are lenient.")
    if fitted.left_out:
        named = ", ".join(fitted.left_out)
        notes.append(f"Not used, since they say nothing here or were not always there: {named}.")
    return notes


def advice(sides: Sides, threshold: float | None, promise: Expected, risk: float) -> list[str]:
    """What to do where the risk costs much, is not kept, or cannot be kept."""
    notes = []
    if threshold is None:
        notes.append(f"No threshold keeps to a risk of {risk:.0%}, so none is set for answering at all.")
    elif promise.risk > OFF_BY * risk:
        notes.append(
            f"On questions held out, {promise.risk:.0%} of the answered should have been turned away: more than the "
            f"chosen {risk:.0%}, for want of questions."
        )
    if threshold is None or promise.coverage < COVERAGE_LOW:
        notes.append(_other_risk(sides, risk))
    return notes


def _other_risk(sides: Sides, risk: float) -> str:
    better = None
    for other in RISKS:
        threshold = answer_from(sides, other) if other > risk else None
        if threshold is not None:
            better = other, expected(sides, threshold).coverage
            if better[1] >= COVERAGE_GOOD:
                break
    if better is None:
        return "Passages that answer and passages that do not look alike here; better documents would help, not a risk."
    return (
        f"With `ragstone calibrate --risk {better[0]:g}` about {better[1]:.0%} of the answerable questions would be "
        "answered."
    )
