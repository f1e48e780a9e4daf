"""Which places of the passages support a model's sentence: facts by rule, meaning by scores from elsewhere.

The evidence for a sentence is one to three neighbouring sentences of a passage, or up to three such places together
where no single one says all of it. Instructions that somebody planted in a document are no evidence for anything.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.generator.domain import quoting, terms, trusted
from services.generator.domain.additions import added
from services.generator.domain.attachments import misattached
from services.generator.domain.facts import faults
from services.generator.domain.model_text import Written
from services.generator.domain.sentences import Sentence
from services.shared.contracts.grounding import Grounding
from services.shared.contracts.search import Passage, TextScore
from services.shared.contracts.writing import Span

CANDIDATES = 8
"""Pieces of evidence that are compared by meaning; the closest by words."""
THRESHOLD = 0.5
"""Least similarity to the evidence where no groundedness is to be had; the least share of words without either."""
GROUNDED = 0.5
"""Least probability of support by the groundedness model."""
SHARED = 0.2
"""Least share of the sentence's words in its evidence; under it the groundedness model only guesses."""
NEAR = 0.9
"""From this share of its words on a sentence that denies the claim speaks of the same."""
LONGEST = 3
"""Sentences, or places, that one piece of evidence takes together."""
LONGEST_HEADING = 8
"""Words; a longer line, such as a persona, is no heading."""
NEW_WORDS = 0.15
"""A further place must add this share of the sentence's words."""


@dataclass(frozen=True)
class Place:
    """``passages[passage].text[start:end]``. ``evidence`` is what it says: a table's row with its column names."""

    passage: int
    start: int
    end: int
    evidence: str
    sentences: int = 1


@dataclass(frozen=True)
class Evidence:
    """What may support a sentence; ``context`` names what its passages are about and is known without a source."""

    places: tuple[Place, ...]
    context: str

    @property
    def text(self) -> str:
        """The places as one text."""
        return "\n".join(place.evidence for place in self.places)

    def for_claim(self, claim: str) -> str:
        """The text, led by those short headings and names that the claim takes up and the text takes for granted."""
        open_words = set(terms.words(claim)) - set(terms.words(self.text))
        led: list[str] = []
        for line in self.context.splitlines():
            words = set(terms.words(line))
            if words & open_words and len(words) <= LONGEST_HEADING:
                led.append(line.rsplit(" > ", 1)[-1])
                open_words -= words
        return ": ".join([*led, self.text])


@dataclass(frozen=True)
class Support:
    """One quotation of each supporting passage, the best first; none when the sentence is not supported.

    ``why`` then says what is wrong with it.
    """

    spans: tuple[Span, ...]
    score: float
    why: str = ""


def evidence(written: Written, passages: Sequence[Passage], known: str) -> list[Evidence]:
    """What the cited passages, or all when none is cited, hold for the sentence; the closest words first.

    The closest of each cited passage goes before all others. ``known`` are names that need no source anywhere: the
    persona and the subject.
    """
    wanted = set(terms.words(written.claim))
    cited = [number for number in written.cited if number < len(passages)]
    rated: list[tuple[bool, float, int, Evidence]] = []
    for number in cited or range(len(passages)):
        context = _context(passages[number], known)
        heading = set(terms.words(context))
        own = [
            (-_share(wanted, set(terms.words(place.evidence)) | heading), place.sentences, Evidence((place,), context))
            for place in places(number, passages[number])
        ]
        own.sort(key=lambda one: (one[0], one[1], one[2].places[0].start))
        rated.extend((not cited or at > 0, *one) for at, one in enumerate(own[: CANDIDATES // 2]))
    rated.sort(key=lambda one: one[:3])
    ordered = [one for *_, one in rated]
    together = _together(wanted, ordered)
    return [*ordered[:CANDIDATES], together] if together else ordered[:CANDIDATES]


def admissible(claim: str, found: Sequence[Evidence]) -> tuple[list[Evidence], str]:
    """The evidence to which no rule objects, and the objection against the closest where none is left."""
    objections = [_objections(claim, one) for one in found]
    if denied := _denied(claim, found, objections):
        return [], denied
    able = [one for one, wrong in zip(found, objections, strict=True) if not wrong]
    if able or not found:
        return able, "" if found else "nothing to hold it against"
    return [], "; ".join(sorted(objections, key=len)[0])


def _objections(claim: str, one: Evidence) -> list[str]:
    return faults(claim, one.text, one.context) or [
        *misattached(claim, one.text),
        *added(claim, [place.evidence for place in one.places], one.context),
    ]


def _denied(claim: str, found: Sequence[Evidence], objections: Sequence[list[str]]) -> str:
    """The objection of a single sentence that holds the claim's words and says the opposite: no other outweighs it."""
    for one, wrong in zip(found, objections, strict=True):
        near = one.places[0].sentences == len(one.places) == 1 and terms.overlap(claim, one.text) >= NEAR
        if near and any(each.startswith("negation") for each in wrong):
            return next(each for each in wrong if each.startswith("negation"))
    return ""


def word_for_word(claim: str, found: Sequence[Evidence]) -> list[Evidence]:
    """The evidence that says just this: it needs no further judgement."""
    said = _plain_words(claim)
    return [one for one in found if said and _plain_words(one.text) == said]


def by_grounding(claim: str, texts: Sequence[str], groundings: Sequence[Grounding]) -> list[float]:
    """Support by each text; one that rather contradicts, or shares next to no word with the claim, gives none."""
    return [
        one.supported if one.supported > one.contradicted and terms.overlap(claim, text) >= SHARED else 0.0
        for text, one in zip(texts, groundings, strict=True)
    ]


def by_closeness(claim: str, able: Sequence[Evidence], scores: Sequence[TextScore] | None) -> list[float]:
    """Similarity in place of groundedness; without scores the share of the claim's words."""
    if scores is None:
        return [terms.overlap(claim, one.for_claim(claim)) for one in able]
    return [max(0.0, min(1.0, score.similarity)) for score in scores]


def judge(
    written: Written,
    passages: Sequence[Passage],
    able: Sequence[Evidence],
    support: Sequence[float],
    *,
    threshold: float,
) -> Support:
    """The best evidence with the smallest quotations, and one more of each other cited passage that says the same."""
    order = sorted(range(len(able)), key=lambda at: (-support[at], len(able[at].places), at))
    best = support[order[0]] if order else 0.0
    if not order or best < threshold:
        return Support((), round(best, 4), "meaning: no passage says so")
    chosen: list[Evidence] = []
    taken: set[int] = set()
    for at in order:
        there = {place.passage for place in able[at].places}
        if support[at] < threshold or there & taken or (chosen and not there <= set(written.cited)):
            continue
        chosen.append(able[at])
        taken |= there
    spans = [span for one in chosen for span in _spans(written, passages, one)]
    return Support(tuple(spans), round(min(1.0, best), 4))


def places(number: int, passage: Passage) -> Iterator[Place]:
    """Each one to LONGEST neighbouring sentences of the passage that no heading parts, without what was planted.

    A sentence comes alone first, then with those behind it.
    """
    text = passage.text
    found = trusted.sentences(text, after=passage.lead)
    for at, first in enumerate(found):
        yield Place(number, first.start, first.end, _spoken(text, first))
        if first.kind != "prose":
            continue
        for count, (before, last) in enumerate(itertools.pairwise(found[at : at + LONGEST]), start=2):
            if last.kind != "prose" or re.search(r"[^\W\d_]", text[before.end : last.start]):
                break
            yield Place(number, first.start, last.end, text[first.start : last.end], count)


def _spoken(text: str, sentence: Sentence) -> str:
    own = text[sentence.start : sentence.end]
    if sentence.kind == "row" and sentence.header:
        cells = [cell.strip() for cell in own.split("|")]
        return ", ".join(f"{head}: {cell}" for head, cell in zip(sentence.header, cells, strict=False) if cell)
    return own


def _together(wanted: set[str], found: Sequence[Evidence]) -> Evidence | None:
    """The closest evidence with what says the rest of the sentence, where no single place says all."""
    chosen: list[Evidence] = []
    covered: set[str] = set()
    singles = [one for one in found if one.places[0].sentences == 1]
    while len(chosen) < LONGEST and singles:
        best = max(singles, key=lambda one: len(wanted & set(terms.words(one.text)) - covered))
        new = wanted & set(terms.words(best.text)) - covered
        if _share(wanted, new) < NEW_WORDS:
            break
        chosen.append(best)
        covered |= new
        singles = [one for one in singles if one is not best]
    if len(chosen) < 2:
        return None
    chosen.sort(key=lambda one: (one.places[0].passage, one.places[0].start))
    context = "\n".join(dict.fromkeys(one.context for one in chosen))
    return Evidence(tuple(place for one in chosen for place in one.places), context)


def _spans(written: Written, passages: Sequence[Passage], one: Evidence) -> Iterator[Span]:
    seen: set[tuple[int, int, int]] = set()
    for place in one.places:
        text = passages[place.passage].text
        start, end = place.start, place.end
        if len(one.places) == 1 and place.evidence == text[start:end]:
            start, end = quoting.smallest(written.claim, text, start, end, one.context)
        if (place.passage, start, end) not in seen:
            seen.add((place.passage, start, end))
            yield Span(passage=place.passage, start=start, end=end, quote=text[start:end])


def _context(passage: Passage, known: str) -> str:
    return "\n".join(part for part in (known, passage.title, passage.section, passage.source) if part)


def _share(wanted: set[str], found: set[str]) -> float:
    return len(wanted & found) / len(wanted) if wanted else 0.0


def _plain_words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())
