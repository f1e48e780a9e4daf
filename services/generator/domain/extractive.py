"""Chooses the sentences that answer a question, verbatim, or nothing.

Two questions, two formulas: which candidate suits best (``Order``), and is the best one an answer or a near miss
(``Trust``). Both are fitted by ``benchmarks/extractive_fit.py`` on SQuAD 2.0, whose unanswerable questions were
written by people to look answerable. What tells those apart is in ``Doubt``; similarity alone does not.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.generator.domain import columns, terms
from services.generator.domain.arranging import Chosen, arranged
from services.generator.domain.asked import Asked
from services.generator.domain.candidates import Candidate, cells
from services.generator.domain.signals import Doubt, Fit, broken_name, doubt, fit, held_words
from services.shared.contracts.search import Passage, TextScore
from services.shared.contracts.writing import SentenceWritten

MAX_SENTENCES = 3
"""Most for one part of a question, lists aside."""
MAX_LISTED = 15
"""Most items or rows of a list that is wanted whole."""
MARGIN = 1.0
"""How far, in logits, a further sentence that adds something may fall behind the best."""
AS_GOOD = 0.3
"""How far behind, in logits, a sentence with the same words of the question is as good as the best."""
REDUNDANT = 0.6
"""Sentences that share this much of their words say the same."""
CAUTION = 3.0
"""How much more a fault counts than the fit says. From 0.5 on that changes nothing; at the threshold that plain
questions need, it turns 16 more of 100 near misses away, and 7 of 100 right answers.
"""


@dataclass(frozen=True)
class Order:
    """A logit of "this sentence holds the answer" among the sentences of one question.

    ``code`` and ``denial`` are set by hand: an exact number decides between sentences that differ only in it, and
    a denial was written by the owner for just such a question.
    """

    similarity: float
    coverage: float
    hint: float
    code: float = 2.0
    denial: float = 1.0

    def logit(self, seen: Fit) -> float:
        """How much speaks for a sentence, unbounded; rises with every signal."""
        return (
            self.similarity * seen.similarity
            + self.coverage * seen.coverage
            + self.hint * seen.hint
            + self.code * seen.code
            + self.denial * seen.denial
        )


@dataclass(frozen=True)
class Trust:
    """A probability that the best candidate answers; the last six weights speak against it."""

    bias: float
    similarity: float
    plain_words: float
    length: float
    nearby: float
    rank: float
    name_missing: float
    number_missing: float
    denied_otherwise: float
    opposite: float

    def confidence(self, seen: Doubt) -> float:
        """0 to 1."""
        shown = (
            self.similarity * seen.similarity
            + self.plain_words * seen.plain_words
            + self.length * seen.length
            + self.nearby * seen.nearby
            + self.rank * seen.rank
        )
        faults = (
            self.name_missing * seen.name_missing
            + self.number_missing * seen.number_missing
            + self.denied_otherwise * seen.denied_otherwise
            + self.opposite * seen.opposite
        )
        return 1 / (1 + math.exp(-(self.bias + shown + CAUTION * faults)))


@dataclass(frozen=True)
class Weights:
    """Both formulas."""

    order: Order
    trust: Trust


SCORED = Weights(
    Order(similarity=7.14, coverage=8.62, hint=2.08),
    Trust(
        bias=-3.47, similarity=5.26, plain_words=1.84, length=1.07, nearby=-1.48, rank=-0.87,
        name_missing=-1.25, number_missing=-1.4, denied_otherwise=-2.16, opposite=-1.09,
    ),
)  # fmt: skip
"""With the retriever's scores."""
LEXICAL = Weights(
    Order(similarity=0.0, coverage=11.36, hint=2.01),
    Trust(
        bias=-1.01, similarity=1.62, plain_words=1.6, length=0.49, nearby=-1.44, rank=-1.24,
        name_missing=-1.45, number_missing=-1.56, denied_otherwise=-2.28, opposite=-0.74,
    ),
)  # fmt: skip
"""By words alone."""
THRESHOLD = 0.15
"""Least confidence of an answer: for people who ask their own documents in their own words. There more does not buy
trust: up to 0.3 it silences right answers as often as wrong ones. Against questions that were written to mislead,
0.65 is the best: see the trade that the benchmark prints.
"""


@dataclass(frozen=True)
class Choice:
    """The sentences in reading order, none when nothing is good enough; and how sure this is."""

    sentences: tuple[SentenceWritten, ...]
    confidence: float


@dataclass(frozen=True)
class _Rated:
    candidate: Candidate
    logit: float
    score: TextScore | None


@dataclass(frozen=True)
class Part:
    """One part of a question, with the retriever's scores for all candidates in order; None means words alone."""

    asked: Asked
    scores: Sequence[TextScore] | None


def choose(
    parts: Sequence[Part],
    passages: Sequence[Passage],
    found: Sequence[Candidate],
    *,
    threshold: float,
    scored: Weights = SCORED,
    lexical: Weights = LEXICAL,
) -> Choice:
    """The best one to three sentences for every part, or the whole list that is asked for.

    A part gets nothing when its confidence is under ``threshold``, when a number or code of it is in no passage
    (rule 149 does not answer for rule 500), or a full name (Anna Berg is not Anna Lind). The confidence is the mean
    of the parts'.
    """
    chosen: list[Chosen] = []
    confidences: list[float] = []
    for part in parts:
        weights = lexical if part.scores is None else scored
        rated = _rated(part, passages, found, weights)
        confidence = _confidence(part.asked, passages, rated, weights)
        confidences.append(confidence)
        if rated and confidence >= threshold:
            score = round(confidence, 4)
            best = _whole_list(part.asked, rated[0].candidate, found) or _adding(part.asked, rated)
            chosen.extend(Chosen(one, score, _columns(part.asked, one, passages)) for one in best)
    distinct = _distinct(chosen, passages)
    return Choice(arranged(distinct, passages), sum(confidences) / len(confidences) if confidences else 0.0)


def _rated(part: Part, passages: Sequence[Passage], found: Sequence[Candidate], weights: Weights) -> list[_Rated]:
    """The candidates that may answer, best first."""
    able = _passages_with_codes(part.asked.text, passages)
    rated = []
    for at, one in enumerate(found):
        if one.passage in able:
            score = part.scores[at] if part.scores is not None else None
            rated.append(_Rated(one, weights.order.logit(fit(part.asked, passages[one.passage], one, score)), score))
    return sorted(rated, key=lambda one: (-one.logit, one.candidate.passage, one.candidate.own_start))


def _confidence(asked: Asked, passages: Sequence[Passage], rated: Sequence[_Rated], weights: Weights) -> float:
    if not rated or broken_name(asked, passages):
        return 0.0
    best = rated[0]
    return weights.trust.confidence(doubt(asked, passages[best.candidate.passage], best.candidate, best.score))


def _passages_with_codes(question: str, passages: Sequence[Passage]) -> set[int]:
    """Passages that may answer: those with all numbers of the question, or all if only together they hold them."""
    asked = terms.codes(question)
    known = [terms.known_codes(f"{one.title}\n{one.section}\n{one.text}") for one in passages]
    whole = {at for at, codes in enumerate(known) if asked <= codes}
    if whole or not asked <= set().union(*known):
        return whole
    return set(range(len(passages)))


def _adding(asked: Asked, rated: Sequence[_Rated]) -> list[Candidate]:
    """The best, and of those that hardly fall behind it what holds words of the question that it does not.

    Sentences that hold the same words are said together where they are as good ("opens at six in summer", "opens at
    nine in winter"), or where several things are asked for.
    """
    kept = [rated[0].candidate]
    first = held = held_words(asked, kept[0])
    for one in rated[1:MAX_SENTENCES]:
        behind = rated[0].logit - one.logit
        if behind > MARGIN:
            break
        own = held_words(asked, one.candidate)
        if own - held or asked.wants_all or (behind <= AS_GOOD and own >= first):
            kept.append(one.candidate)
            held |= own
    return kept


def _whole_list(asked: Asked, best: Candidate, found: Sequence[Candidate]) -> list[Candidate]:
    """All of the list or table that the best candidate belongs to, if the question wants it or it only announces it."""
    group = [one for one in found if (one.passage, one.group) == (best.passage, best.group)]
    items = [one for one in group if one.sentence.mark or one.sentence.kind == "row"]
    announces = best.spoken.rstrip("*_ ").endswith(":") and not best.sentence.mark
    belongs = best in items or announces
    if len(items) < 2 or not belongs or not (asked.wants_all or announces):
        return []
    codes = terms.codes(asked.text)
    if codes and (fitting := [one for one in items if codes <= terms.known_codes(one.spoken)]):
        return fitting[:MAX_LISTED]
    return [best, *(one for one in group if one is not best)][:MAX_LISTED]


def _columns(asked: Asked, candidate: Candidate, passages: Sequence[Passage]) -> frozenset[int]:
    """The columns of a table's row that the question asks for; none for other sentences."""
    header = candidate.sentence.header
    row = cells(_quote(candidate, passages)) if header else []
    return columns.wanted(asked, candidate.place, header, row)


def _distinct(chosen: Sequence[Chosen], passages: Sequence[Passage]) -> list[Chosen]:
    """Without what says the same as a better one; rows and items of one list never do.

    A row that several parts of the question ask for is said once, with the columns of all of them.
    """
    kept: list[Chosen] = []
    for one in chosen:
        again = next((at for at, other in enumerate(kept) if _same_row(one.candidate, other.candidate, passages)), None)
        if again is not None:
            kept[again] = replace(kept[again], columns=kept[again].columns | one.columns)
        elif all(not _same(one.candidate, other.candidate, passages) for other in kept):
            kept.append(one)
    return kept


def _same_row(one: Candidate, other: Candidate, passages: Sequence[Passage]) -> bool:
    """Whether both are one row of a table, or copies of it in two passages."""
    header = one.sentence.header
    return bool(header) and header == other.sentence.header and _quote(one, passages) == _quote(other, passages)


def _same(one: Candidate, other: Candidate, passages: Sequence[Passage]) -> bool:
    if one.passage == other.passage and one.start < other.end and other.start < one.end:
        return True
    if (one.passage, one.group) == (other.passage, other.group) and (one.sentence.mark or one.sentence.kind == "row"):
        return False
    return terms.likeness(_quote(one, passages), _quote(other, passages)) >= REDUNDANT


def _quote(candidate: Candidate, passages: Sequence[Passage]) -> str:
    return passages[candidate.passage].text[candidate.start : candidate.end]
