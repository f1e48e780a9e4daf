"""Does a sentence speak of what was asked? The nearest of the passages' own sentences sets the mark.

How near a right answer comes to its question differs from question to question; how near it comes beside the nearest
sentence at hand differs little.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.generator.domain import terms
from services.generator.domain.asked import Asked
from services.generator.domain.candidates import Candidate
from services.shared.contracts.search import Passage, TextScore
from services.shared.contracts.writing import Span

FAR = 0.4
"""Share of the nearest sentence's similarity under which a sentence is beside the point.

With NEARER and WORDS this turns away half of the sentences of the sample corpus's passages that do not answer, and 4
of 100 that do.
"""
NEARER = 0.6
"""The same for one without the question's name, or next to none of its words, where others have them."""
WORDS = 0.2
"""Share of the nearest sentence's coverage that is next to none."""
NO_SUCH_KIND = 0.5
"""What a confidence is worth where "Which text editor?" is asked and no passage speaks of any editor: a city is often
named without the word, and as often what is named then is something else.
"""

_VAGUE = frozenset(terms.words("different differently differ difference similar several various compared related"))
_WHICH = re.compile(
    r"\bwhich ((?:[^\W\d_]+ ){1,3}?)(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would)\b", re.I
)


@dataclass(frozen=True)
class Mark:
    """For one question, or one part of it, how near each of the passages' own sentences comes to it."""

    found: tuple[Candidate, ...]
    scores: tuple[TextScore, ...]
    named: tuple[bool, ...]
    """Whether the sentence or its headings hold a name of the question; True for all where it has none."""


def asked_of(question: str, subject: Sequence[str]) -> Asked:
    """The question taken to pieces; what the content is all about tells no sentence from another."""
    asked, own = Asked.of(question, subject), set(terms.words(" ".join(subject)))
    return replace(asked, names=tuple(name for name in asked.names if name not in own))


def mark(asked: Asked, passages: Sequence[Passage], found: Sequence[Candidate], scores: Sequence[TextScore]) -> Mark:
    """Of all candidates; ``scores`` are theirs, in order."""
    named = tuple(not asked.names or _holds_name(asked, one.spoken, passages[one.passage]) for one in found)
    return Mark(tuple(found), tuple(scores), named)


def misses(spans: Sequence[Span], mark: Mark) -> bool:
    """Whether all that a sentence rests on is far off what was asked although another place is not.

    The model's own words do not count: who answers does not say again what was asked.
    """
    similarity = max((one.similarity for one in mark.scores), default=0.0)
    coverage = max((one.coverage for one in mark.scores), default=0.0)
    own = [at for at, one in enumerate(mark.found) if any(_overlap(one, span) for span in spans)]
    if similarity <= 0 or not own:
        return False
    near = max(mark.scores[at].similarity for at in own) / similarity
    without_name = any(mark.named) and not any(mark.named[at] for at in own)
    without_words = max(mark.scores[at].coverage for at in own) < WORDS * coverage
    return near < FAR or (near < NEARER and (without_name or without_words))


def adds_nothing(
    text: str, spans: Sequence[Span], passages: Sequence[Passage], asked: Sequence[Asked], known: str
) -> bool:
    """Whether no word that the sentence has from its source is new: "The teams differ" to "Compare the teams".

    ``known`` are question and names that need no source. A yes or no may well be the question turned round.
    """
    if any(one.yes_or_no for one in asked) or terms.known_codes(text) - terms.known_codes(known):
        return False
    new = set(terms.words(text)) - set(terms.words(known)) - _VAGUE
    sources = [f"{passages[one.passage].title} {passages[one.passage].section} {one.quote}" for one in spans]
    given = {stem for source in sources for stem in terms.words(source)} - set(terms.words(known))
    return not any(terms.akin(word, stem) for word in new for stem in given)


def certainty(asked: Sequence[Asked], passages: Sequence[Passage]) -> float:
    """NO_SUCH_KIND where a part asks for one of a kind that no passage speaks of, else 1."""
    kinds = [word for one in asked for kind in _WHICH.findall(one.text) for word in terms.words(kind)[-1:]]
    stems = {stem for one in passages for stem in terms.words(f"{one.title} {one.section} {one.text}")} if kinds else ()
    return 1.0 if all(kind in stems for kind in kinds) else NO_SUCH_KIND


def _overlap(one: Candidate, span: Span) -> bool:
    return one.passage == span.passage and one.own_start < span.end and span.start < one.end


def _holds_name(asked: Asked, text: str, passage: Passage) -> bool:
    """Whether the text or the place where it stands holds a name of the question, maybe with another ending."""
    stems = set(terms.words(f"{passage.title} {passage.section} {passage.source or ''} {text}"))
    return any(terms.akin(name, stem) for name in asked.names for stem in stems)
