"""What speaks for and against a candidate, each as a plain number."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.generator.domain import polarity, terms
from services.generator.domain.asked import Asked
from services.generator.domain.candidates import Candidate
from services.generator.domain.hints import kind_hint
from services.generator.domain.terms import Token
from services.shared.contracts.search import Passage, TextScore

_LONG = 60
"""Words from which on a sentence is simply long."""
_FAR_DOWN = 4
"""Places from which on a passage is simply far down."""
_SAME = 0.8
"""``terms.akin`` from which on a name is held."""


@dataclass(frozen=True)
class Fit:
    """How well a candidate suits, for the order of the candidates: 0 to 1 (similarity -1 to 1), more is better."""

    similarity: float
    coverage: float
    hint: float
    """1 where the sentence holds the kind of thing that is asked for, 0 where it does not, 0.5 if none is asked."""
    code: float
    """1 where the question names a number or code and the sentence holds all of them, else 0."""
    denial: float
    """1 for a fact that says explicitly what is not so, where the question wants a yes or a no."""


@dataclass(frozen=True)
class Doubt:
    """What makes the best candidate an answer or a near miss, all 0 to 1; the first three speak for it."""

    similarity: float
    plain_words: float
    """Share of the question's telling words, names aside, that the sentence holds."""
    length: float
    """A long sentence says more."""
    nearby: float
    """Share of the question's telling words that the passage holds; those that the sentence lacks speak against it."""
    rank: float
    """How far down the passage stands, 0 for the first."""
    name_missing: float
    """1 where a name or code of the question is neither in the sentence nor in its title, else 0."""
    number_missing: float
    """The same for numbers, in digits or words."""
    denied_otherwise: float
    """1 where the question denies and the sentence does not, else 0."""
    opposite: float
    """1 where the sentence holds the opposite of a word of the question and not the word, else 0."""


def fit(asked: Asked, passage: Passage, candidate: Candidate, score: TextScore | None) -> Fit:
    """Of one candidate; without a score from the retriever, words alone."""
    lexical = 0.0 if score else terms.overlap(asked.text, candidate.scored)
    codes = terms.codes(asked.text)
    return Fit(
        similarity=score.similarity if score else lexical,
        coverage=score.coverage if score else lexical,
        hint=kind_hint(asked.text, passage.text[candidate.own_start : candidate.end]),
        code=1.0 if codes and codes <= terms.known_codes(candidate.scored) else 0.0,
        denial=1.0 if passage.kind == "negative" and asked.yes_or_no else 0.0,
    )


def doubt(asked: Asked, passage: Passage, candidate: Candidate, score: TextScore | None) -> Doubt:
    """Of one candidate; costs more than ``fit``, for the best few."""
    own = terms.tokens(candidate.spoken)
    place = {word.stem for word in terms.tokens(f"{passage.title} {passage.section}")}
    held = {word.stem for word in own}
    around = {word.stem for word in terms.tokens(passage.text)}
    return Doubt(
        similarity=score.similarity if score else terms.overlap(asked.text, candidate.scored),
        plain_words=_mean([_nearest(word, held) for word in asked.plain]),
        length=min(len(own), _LONG) / _LONG,
        nearby=_mean([float(word in around) for word in set(asked.plain) | set(asked.names)]),
        rank=min(candidate.passage, _FAR_DOWN) / _FAR_DOWN,
        name_missing=float(any(_nearest(name, held | place) < _SAME for name in asked.names)),
        number_missing=float(not asked.numbers <= terms.known_codes(f"{passage.title} {candidate.spoken}")),
        denied_otherwise=float(asked.denies and not polarity.denies(candidate.spoken)),
        opposite=float(_says_the_opposite(asked, own)),
    )


def broken_name(asked: Asked, passages: Sequence[Passage]) -> bool:
    """Whether a full name of the question stands nowhere as a whole, although both of its words are known.

    Anna Berg is not Anna Lind, and not Peter Berg either.
    """
    stems = [[word.stem for word in terms.tokens(f"{one.title} {one.section} {one.text}")] for one in passages]
    known = {stem for each in stems for stem in each}
    together = {pair for each in stems for pair in pairwise(each)}
    return any(
        {one, two} <= known and (one, two) not in together and (two, one) not in together
        for one, two in asked.full_names
    )


def held_words(asked: Asked, candidate: Candidate) -> frozenset[str]:
    """The question's telling words that a candidate holds."""
    held = {word.stem for word in terms.tokens(candidate.spoken)}
    return frozenset(word for word in (*asked.plain, *asked.names) if _nearest(word, held) >= _SAME)


def _nearest(word: str, held: set[str]) -> float:
    return 1.0 if word in held else max((terms.akin(word, other) for other in held), default=0.0)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 1.0


def _says_the_opposite(asked: Asked, own: Sequence[Token]) -> bool:
    words = frozenset(word.stem for word in own)
    return any(polarity.same_denied_otherwise(word, words) for word in set(asked.spoken) - words)
