"""Is a model's sentence supported by the passages it names? Facts by rule, meaning by the retriever's score."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.generator.domain import terms
from services.generator.domain.model_text import Written
from services.generator.domain.sentences import split
from services.shared.contracts.search import Passage, TextScore
from services.shared.contracts.writing import Span

CANDIDATES = 8
"""Sentences that are compared by meaning; the lexically closest."""
THRESHOLD = 0.5
"""Least similarity to the best supporting sentence; also the least share of words where no score is to be had."""
POLARITY_MARGIN = 0.15
"""A sentence of the same polarity supports although one of the other is this much closer."""


@dataclass(frozen=True)
class Source:
    """A sentence of a passage that may support what was written."""

    passage: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Support:
    """The best supporting sentence of each passage, the best first; none when the sentence is not supported."""

    spans: tuple[Span, ...]
    score: float


def sources(written: Written, passages: Sequence[Passage]) -> list[Source]:
    """Sentences of the cited passages, or of all when none is cited, closest words first, at most CANDIDATES."""
    found = []
    for number in written.cited or range(len(passages)):
        text = passages[number].text
        for span in split(text, after=passages[number].lead):
            found.append(Source(number, span.start, span.end, text[span.start : span.end]))
    found.sort(key=lambda one: (-terms.overlap(written.text, one.text), one.passage, one.start))
    return found[:CANDIDATES]


def judge(
    written: Written,
    passages: Sequence[Passage],
    found: Sequence[Source],
    scores: Sequence[TextScore] | None,
    *,
    persona: str,
    threshold: float = THRESHOLD,
) -> Support:
    """The sources that say the same with the same facts; ``scores`` belong to ``found``, None is words alone.

    Where nothing is cited, only the passage of the best source is taken.
    """
    rated = [
        (_closeness(written, one, scores[at] if scores is not None else None), one) for at, one in enumerate(found)
    ]
    rated.sort(key=lambda pair: -pair[0])
    best = max(0.0, min(1.0, rated[0][0])) if rated else 0.0
    denies = terms.negated(written.text)
    spans: dict[int, Span] = {}
    score = best
    for closeness, source in rated:
        if closeness < threshold or (not spans and closeness < best - POLARITY_MARGIN):
            break
        if source.passage in spans or terms.negated(source.text) != denies:
            continue
        named = written.cited or (source.passage,)
        if unknown_facts(written.text, [passages[number] for number in named], persona):
            continue
        score = score if spans else min(1.0, closeness)
        spans[source.passage] = Span(passage=source.passage, start=source.start, end=source.end, quote=source.text)
        if not written.cited:
            break
    return Support(tuple(spans.values()), round(score, 4))


def unknown_facts(sentence: str, cited: Sequence[Passage], persona: str) -> set[str]:
    """Numbers, dates, names and addresses of the sentence that the cited passages do not hold.

    A word of the persona is no invention: it is the owner's own name for what the passages are about.
    """
    given = "\n".join(f"{one.title}\n{one.section}\n{one.source or ''}\n{one.text}" for one in cited)
    folded = f"{given}\n{persona}".casefold()
    unknown = {one for one in terms.addresses(sentence) if one.casefold() not in folded}
    known = terms.known_codes(given)
    unknown |= {code for code in terms.codes(sentence) if code not in known and code.removeprefix("v") not in known}
    return unknown | {name for name in terms.names(sentence) if name not in folded}


def _closeness(written: Written, source: Source, score: TextScore | None) -> float:
    return terms.overlap(written.text, source.text) if score is None else score.similarity
