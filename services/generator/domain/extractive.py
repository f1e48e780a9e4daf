"""Chooses the sentences that answer a question, verbatim, or nothing.

Each candidate gets a logit from a few signals; the best one decides whether to answer at all. The weights and the
calibration are fitted by ``benchmarks/extractive_fit.py`` on SQuAD 2.0 paragraphs with distractors, split by
article. Similarity and coverage together beat either alone. The hint changes nothing there, but tells a definition
from other sentences on "what is" questions. A weight for the passage's rank fitted one half of the articles and
failed on the other, so the rank only breaks ties.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.generator.domain import terms
from services.generator.domain.candidates import Candidate, Signals, signals
from services.shared.contracts.search import Passage, TextScore
from services.shared.contracts.writing import SentenceWritten, Span

MAX_SENTENCES = 3
MARGIN = 0.45
"""How far, in logits, a second sentence may fall behind the best; more made answers longer, not more often right."""
REDUNDANT = 0.6
"""Sentences that share this much of their words say the same."""


@dataclass(frozen=True)
class Weights:
    """A logit of "this sentence holds the answer" and the line that turns the best one into a confidence.

    No weight of a signal is negative, so the confidence rises with each of them. ``code`` and ``denial`` are set
    by hand: an exact number decides between sentences that differ only in it, and a denial was written by the
    owner for just such a question.
    """

    similarity: float
    coverage: float
    hint: float
    bias: float
    slope: float
    intercept: float
    code: float = 1.0
    denial: float = 0.5

    def logit(self, seen: Signals) -> float:
        """How much speaks for a sentence, unbounded."""
        return (
            self.bias
            + self.similarity * seen.similarity
            + self.coverage * seen.coverage
            + self.hint * seen.hint
            + self.code * seen.code
            + self.denial * seen.denial
        )

    def confidence(self, logit: float) -> float:
        """Probability that the passages answer, given their best sentence's logit; rises with it."""
        return 1 / (1 + math.exp(-(self.slope * logit + self.intercept)))


SCORED = Weights(similarity=2.45, coverage=3.78, hint=0.97, bias=-6.30, slope=0.93, intercept=1.29)
"""With the retriever's scores."""
LEXICAL = Weights(similarity=0.0, coverage=4.27, hint=0.98, bias=-5.46, slope=0.82, intercept=1.24)
"""By words alone."""
THRESHOLD = 0.22
"""Nine in ten of the answerable questions reach this confidence."""


@dataclass(frozen=True)
class Choice:
    """The sentences in reading order, none when nothing is good enough; and how sure this is."""

    sentences: tuple[SentenceWritten, ...]
    confidence: float


@dataclass(frozen=True)
class _Rated:
    candidate: Candidate
    logit: float


def choose(
    question: str,
    passages: Sequence[Passage],
    found: Sequence[Candidate],
    scores: Sequence[TextScore] | None,
    *,
    threshold: float,
    weights: Weights | None = None,
) -> Choice:
    """The best one to three sentences; ``scores`` belong to ``found`` in order, None means words alone.

    Nothing is chosen when the best confidence is under ``threshold``, or when a number or code of the question
    is in no passage: rule 149 does not answer for rule 500.
    """
    weights = weights or (LEXICAL if scores is None else SCORED)
    able = _passages_with_codes(question, passages)
    rated = [
        _Rated(one, weights.logit(signals(question, passages, one, scores[at] if scores is not None else None)))
        for at, one in enumerate(found)
        if one.passage in able
    ]
    if not rated:
        return Choice((), 0.0)
    rated.sort(key=lambda one: (-one.logit, one.candidate.passage, one.candidate.own_start))
    confidence = weights.confidence(rated[0].logit)
    if confidence < threshold:
        return Choice((), confidence)
    best = _distinct(rated, passages, weights, threshold)
    order = list(dict.fromkeys(one.candidate.passage for one in best))
    best.sort(key=lambda one: (order.index(one.candidate.passage), one.candidate.start))
    return Choice(tuple(_written(one, passages, weights) for one in best), confidence)


def _passages_with_codes(question: str, passages: Sequence[Passage]) -> set[int]:
    """Passages that may answer: those with all numbers of the question, or all if only together they hold them."""
    asked = terms.codes(question)
    known = [terms.known_codes(f"{one.title}\n{one.section}\n{one.text}") for one in passages]
    whole = {at for at, codes in enumerate(known) if asked <= codes}
    if whole or not asked <= set().union(*known):
        return whole
    return set(range(len(passages)))


def _distinct(rated: Sequence[_Rated], passages: Sequence[Passage], weights: Weights, threshold: float) -> list[_Rated]:
    best = [rated[0]]
    for one in rated[1:]:
        close = one.logit >= rated[0].logit - MARGIN and weights.confidence(one.logit) >= threshold
        if len(best) == MAX_SENTENCES or not close:
            break
        if all(not _same(one.candidate, other.candidate, passages) for other in best):
            best.append(one)
    return best


def _same(one: Candidate, other: Candidate, passages: Sequence[Passage]) -> bool:
    if one.passage == other.passage and one.start < other.end and other.start < one.end:
        return True
    return terms.likeness(_quote(one, passages), _quote(other, passages)) >= REDUNDANT


def _quote(candidate: Candidate, passages: Sequence[Passage]) -> str:
    return passages[candidate.passage].text[candidate.start : candidate.end]


def _written(rated: _Rated, passages: Sequence[Passage], weights: Weights) -> SentenceWritten:
    one = rated.candidate
    quote = _quote(one, passages)
    text = quote if quote.startswith(("```", "~~~")) else re.sub(r"\s*\n[\s>]*", " ", quote)
    span = Span(passage=one.passage, start=one.start, end=one.end, quote=quote)
    return SentenceWritten(event="sentence", text=text, spans=[span], score=round(weights.confidence(rated.logit), 4))
