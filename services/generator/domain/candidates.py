"""The sentences that could answer a question, and what speaks for each of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.generator.domain import terms
from services.generator.domain.sentences import Sentence, split
from services.shared.contracts.search import Passage, TextScore

MAX_CANDIDATES = 96
"""Most sentences that are scored for one question; the lexically closest stay."""

_LEANS_BACK = re.compile(
    r"[\W_]*(?:he|she|it|they|his|her|its|their|this|that|these|those|such|both|there|here|also|then|so|however"
    r"|therefore|instead|otherwise|er|sie|es|dies\w*|das)\b",
    re.IGNORECASE,
)
_TITLED = r"[A-ZÀ-ÖØ-Þ][\w'’-]+"
_YES_OR_NO = re.compile(
    r"\W*(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|may|must)\b", re.IGNORECASE
)
_HINTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(r"\s*(?:who|what) (?:is|are|was|were) (?:the |an? )?\w[\w.&-]*(?: \w[\w.&-]*){0,2}\W*$", re.I),
        re.compile(r"\b(?:is|are|was|were) (?:an?|the|one of|two|three)\b", re.I),
    ),
    (
        re.compile(r"\b(?:when|what (?:year|date|day|month|century|time)|which (?:year|date|day)|since when)\b", re.I),
        re.compile(
            r"\b\d{4}\b|\b\d{1,2}:\d{2}\b|\b(?:january|february|march|april|may|june|july|august|september|october"
            r"|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|decade)\b"
            r"|\b(?:after|before|during|until|while) ",
            re.I,
        ),
    ),
    (
        re.compile(
            r"\bhow (?:many|much|long|old|often|far|large|big|high|tall|fast|deep|heavy)\b"
            r"|\bwhat (?:percent\w*|number|amount|share|proportion)\b",
            re.I,
        ),
        re.compile(
            r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?"
            r"|millions?|billions?|half|third|quarter|once|twice|several|per cent|percent|weekly|daily|monthly)\b",
            re.I,
        ),
    ),
    (re.compile(r"\bwho(?:se|m)?\b", re.I), re.compile(rf"(?<=[a-z,;(] )(?:{_TITLED})|^{_TITLED} {_TITLED}")),
    (
        re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|place|town|state|street|region)\b", re.I),
        re.compile(
            rf"\b(?:in|at|near|from|to|of|on|into|across|along) (?:the )?(?:{_TITLED})|\b(?:north|south|east|west)",
            re.I,
        ),
    ),
    (
        re.compile(r"\bwhy\b", re.I),
        re.compile(r"\b(?:because|since|due to|so that|as a result|reason|caus\w+)\b", re.I),
    ),
)


@dataclass(frozen=True)
class Candidate:
    """``passages[passage].text[start:end]`` may answer; ``start`` takes a sentence along that it leans on.

    ``own_start`` is where the sentence itself begins. ``scored`` is the text that is compared with the question:
    where the passage stands, then the sentence.
    """

    passage: int
    start: int
    own_start: int
    end: int
    scored: str


@dataclass(frozen=True)
class Signals:
    """What speaks for a candidate, 0 to 1 (similarity -1 to 1), more is better."""

    similarity: float
    coverage: float
    hint: float
    """1 where the sentence holds the kind of thing that is asked for, 0 where it does not, 0.5 if none is asked."""
    code: float
    """1 where the question names a number or code and the sentence holds all of them, else 0."""
    denial: float
    """1 for a fact that says explicitly what is not so, where the question wants a yes or a no."""


def candidates(question: str, passages: Sequence[Passage]) -> list[Candidate]:
    """Sentences of the passages, questions and mere titles left out, at most MAX_CANDIDATES."""
    found: list[Candidate] = []
    for number, passage in enumerate(passages):
        found.extend(_of_passage(number, passage))
    if len(found) <= MAX_CANDIDATES:
        return found
    closest = sorted(found, key=lambda one: (-terms.overlap(question, one.scored), one.passage, one.start))
    return sorted(closest[:MAX_CANDIDATES], key=lambda one: (one.passage, one.own_start))


def _of_passage(number: int, passage: Passage) -> Iterable[Candidate]:
    text = passage.text
    place = passage.section.rsplit(" > ", 1)[-1] or passage.title
    previous: Sentence | None = None
    for sentence in split(text, after=passage.lead):
        own = text[sentence.start : sentence.end]
        if own.rstrip("\"'”’*_ ").endswith(("?", "？")):
            previous = sentence
            continue
        start, spoken = sentence.start, own
        if sentence.kind == "row" and sentence.header:
            cells = [cell.strip() for cell in own.split("|")]
            spoken = ", ".join(f"{head}: {cell}" for head, cell in zip(sentence.header, cells, strict=False))
        if previous and previous.block == sentence.block and sentence.kind == "prose":
            before = text[previous.start : previous.end]
            if before.endswith(("?", "？")):
                spoken = f"{before} {own}"
            elif _LEANS_BACK.match(own):
                start, spoken = previous.start, f"{before} {own}"
        yield Candidate(number, start, sentence.start, sentence.end, f"{place}: {spoken}" if place else spoken)
        previous = sentence


def kind_hint(question: str, text: str) -> float:
    """Does ``text`` hold a definition for a what is, a date for a when, a number for a how many, a name for a who?

    The scale is that of Signals.hint.
    """
    for asked, given in _HINTS:
        if asked.search(question):
            return 1.0 if given.search(text) else 0.0
    return 0.5


def signals(question: str, passages: Sequence[Passage], candidate: Candidate, score: TextScore | None) -> Signals:
    """What speaks for ``candidate``; without a score from the retriever, words alone."""
    passage = passages[candidate.passage]
    lexical = 0.0 if score else terms.overlap(question, candidate.scored)
    asked = terms.codes(question)
    return Signals(
        similarity=score.similarity if score else lexical,
        coverage=score.coverage if score else lexical,
        hint=kind_hint(question, passage.text[candidate.own_start : candidate.end]),
        code=1.0 if asked and asked <= terms.known_codes(candidate.scored) else 0.0,
        denial=1.0 if passage.kind == "negative" and _YES_OR_NO.match(question) else 0.0,
    )
