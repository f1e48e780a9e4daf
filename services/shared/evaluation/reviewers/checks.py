"""Hard-coded checks of an answer: status, citations, quotes, forbidden words, length, language. Truth is not judged."""

import re
from collections.abc import Iterator, Sequence

from services.shared.contracts.answers import Answer, AnswerStatus
from services.shared.contracts.evaluation import Review
from services.shared.contracts.golden import Behaviour, Question
from services.shared.evaluation.reviewers.language import in_language
from services.shared.evaluation.reviewers.wording import without_markers

REVIEWER = "checks"
LONGEST = 2500
"""Characters of an answered text."""

STATUS, CITATIONS, QUOTES, MUST_NOT, TEXT, LANGUAGE = "status", "citations", "quotes", "must_not", "text", "language"
"""What is checked. Each note begins with one of these and a colon."""
KINDS = (STATUS, CITATIONS, QUOTES, MUST_NOT, TEXT, LANGUAGE)

_FITS: dict[Behaviour, tuple[AnswerStatus, ...]] = {
    Behaviour.ANSWER: (AnswerStatus.ANSWERED,),
    Behaviour.ABSTAIN: (AnswerStatus.ABSTAINED, AnswerStatus.DECLINED),
    Behaviour.DECLINE: (AnswerStatus.DECLINED, AnswerStatus.ABSTAINED),
}
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_MARKER = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_TYPOGRAPHY = str.maketrans("‘’‚′“”„‐‑‒–—", "''''\"\"\"-----")


def check(question: Question, answer: Answer, quotes_hold: Sequence[bool]) -> Review:
    """Every check; ``quotes_hold`` says for each citation whether its quote stands at its place in the source.

    Passes when nothing is noted; the score is the share of the kinds of checks without a note. Raises ValueError
    when there is not one bool a citation.
    """
    if len(quotes_hold) != len(answer.citations):
        raise ValueError(f"{len(answer.citations)} citations, but {len(quotes_hold)} of them were looked up")
    notes = [*_status(question, answer), *_citations(answer), *_quotes(answer, quotes_hold)]
    notes += [*_must_not(question, answer), *_text(answer), *_language(question, answer)]
    failed = failed_kinds(notes)
    return Review(reviewer=REVIEWER, by="rule", passed=not notes, score=1 - len(failed) / len(KINDS), notes=notes)


def failed_kinds(notes: Sequence[str]) -> set[str]:
    """Which kinds of checks the notes of a review are about."""
    return {note.split(":", 1)[0] for note in notes} & set(KINDS)


def _status(question: Question, answer: Answer) -> Iterator[str]:
    if answer.status not in _FITS[question.behaviour]:
        yield f"{STATUS}: {answer.status.value}, but right is to {question.behaviour.value}"


def _citations(answer: Answer) -> Iterator[str]:
    marked = _markers(answer.text)
    numbers = [citation.n for citation in answer.citations]
    if answer.status != AnswerStatus.ANSWERED:
        if numbers or marked:
            yield f"{CITATIONS}: an answer that says nothing of the content cites something"
        return
    if not numbers:
        yield f"{CITATIONS}: none"
    if sorted(numbers) != list(range(1, len(numbers) + 1)):
        yield f"{CITATIONS}: not numbered from 1 on, but {_listed(numbers)}"
    if lost := sorted(marked - set(numbers)):
        yield f"{CITATIONS}: no citation for the marker {_listed(lost)}"
    if unused := sorted(set(numbers) - marked):
        yield f"{CITATIONS}: no marker for the citation {_listed(unused)}"
    if not any(claim.supported for claim in answer.claims):
        yield f"{CITATIONS}: no claim"
    for claim in answer.claims:
        if claim.supported and not claim.citations:
            yield f"{CITATIONS}: none for the claim {_shortened(claim.text)}"
        elif claim.supported and not set(claim.citations) <= set(numbers):
            yield f"{CITATIONS}: a claim names one that is not there: {_shortened(claim.text)}"


def _quotes(answer: Answer, quotes_hold: Sequence[bool]) -> Iterator[str]:
    for citation, holds in zip(answer.citations, quotes_hold, strict=True):
        if not citation.quote.strip():
            yield f"{QUOTES}: [{citation.n}] quotes nothing"
        elif not holds:
            yield f"{QUOTES}: [{citation.n}] does not stand at its place in {citation.document_id}"


def _must_not(question: Question, answer: Answer) -> Iterator[str]:
    text = _folded(without_markers(answer.text))
    for words in question.must_not:
        wanted = re.escape(_folded(words)).replace(r"\ ", r"\s+")
        if wanted and re.search(rf"(?<!\w)(?<!\d[.,]){wanted}(?![.,]?\d|\w)", text):
            yield f"{MUST_NOT}: says {words}"


def _text(answer: Answer) -> Iterator[str]:
    length = len(without_markers(answer.text).strip())
    if length == 0:
        yield f"{TEXT}: empty"
    elif answer.status == AnswerStatus.ANSWERED and len(answer.text) > LONGEST:
        yield f"{TEXT}: {len(answer.text)} characters, more than {LONGEST}"


def _language(question: Question, answer: Answer) -> Iterator[str]:
    """Only of what was written for this question: an abstention is the owner's text and the documents' titles."""
    if question.language is None or answer.status != AnswerStatus.ANSWERED:
        return
    if in_language(without_markers(_CODE.sub(" ", answer.text)), question.language) is False:
        yield f"{LANGUAGE}: not {question.language}"


def _markers(text: str) -> set[int]:
    """The numbers of the markers; brackets in code are none."""
    lists = _MARKER.findall(_CODE.sub(" ", text))
    return {int(number) for numbers in lists for number in numbers.split(",")}


def _folded(text: str) -> str:
    return " ".join(text.translate(_TYPOGRAPHY).casefold().split())


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
