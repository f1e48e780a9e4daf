"""How one passage holds the words of a question: which, how close together, in which order."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

WINDOWS = (10, 20, 40, 80)
"""Lengths in tokens of the stretch of a passage that is looked at: a clause, a sentence, two, a paragraph."""

REACH = 3
"""Two words of a question are together in a passage when they are this many tokens apart at most."""

SATURATION = 1.5
"""BM25's k1: how slowly a word that is repeated goes on to count."""


@dataclass(frozen=True)
class Question:
    """A question as the critic sees it: its telling words, and what each of them weighs."""

    terms: tuple[str, ...]
    """In the question's order, repeats included."""
    weights: Mapping[str, float]
    """Of each distinct term its idf; a term that no chunk holds weighs as much as one that a single chunk holds."""
    unknown: frozenset[str] = frozenset()
    """Terms that no chunk of the index holds."""
    exact: frozenset[str] = frozenset()
    """Terms that must be met as they are: numbers, and names by their capital letter."""
    highest: float = 1.0
    """The idf of a term that a single chunk holds."""
    total: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(self.weights.values()) or 1.0)

    @classmethod
    def of(
        cls, text: str, *, terms: Callable[[str], Sequence[str]], idf: Callable[[str], float], highest: float
    ) -> "Question":
        """A question by an analyser's ``terms`` and an index's ``idf``, which is 0 for a term that no chunk holds.

        ``highest`` is the idf of a term that a single chunk holds.
        """
        asked = tuple(terms(text))
        known = {term: idf(term) for term in dict.fromkeys(asked)}
        words = text.split()
        # The first word has its capital letter from its place.
        named = [word for word in words[1:] if word[:1].isupper()]
        exact = {term for word in named for term in terms(word)} & set(known)
        exact |= {term for term in known if any(sign.isdigit() for sign in term)}
        return cls(
            terms=asked,
            weights={term: weight or highest for term, weight in known.items()},
            unknown=frozenset(term for term, weight in known.items() if not weight),
            exact=frozenset(exact),
            highest=highest or 1.0,
        )

    def weigh(self, terms: "set[str] | frozenset[str]") -> float:
        """The share of the question's weight that these of its terms make up, 0 to 1."""
        return sum(self.weights[term] for term in terms) / self.total


@dataclass(frozen=True)
class Match:
    """One passage against a question. Shares are of the question's weight, 0 to 1."""

    held: frozenset[str]
    share: float
    """Of the terms that it holds."""
    count: float
    """The same, each distinct term counting alike."""
    saturated: float
    """The same, a term counting more when it is repeated."""
    windows: tuple[float, ...]
    """Of the terms in the best stretch of each of ``WINDOWS``."""
    together: float
    """Of neighbours in the question, those that are within reach of each other in the passage, in this order."""
    nearness: float
    """The same, falling with the distance."""
    rarest: float
    """1 when it holds the question's rarest term."""
    missing: float
    """The idf of the rarest term that it does not hold, as a share of the highest."""


def match(question: Question, tokens: Sequence[str]) -> Match:
    """Compare a passage, given as the analyser's tokens in their order."""
    weights = question.weights
    places = [(place, token) for place, token in enumerate(tokens) if token in weights]
    repeats = Counter(token for _, token in places)
    held = frozenset(repeats)
    saturated = sum(weights[term] * times / (times + SATURATION) for term, times in repeats.items())
    share = question.weigh(held)
    together, nearness = _pairs(question, places) or (share, share)
    rarest = max(weights, key=lambda term: weights[term], default="")
    return Match(
        held=held,
        share=share,
        count=len(held) / max(len(weights), 1),
        saturated=saturated / question.total,
        windows=tuple(_best_window(question, places, length) for length in WINDOWS),
        together=together,
        nearness=nearness,
        rarest=float(rarest in held),
        missing=max((weight for term, weight in weights.items() if term not in held), default=0.0) / question.highest,
    )


def _best_window(question: Question, places: Sequence[tuple[int, str]], length: int) -> float:
    """The highest share of weight that any ``length`` tokens in a row hold."""
    inside: Counter[str] = Counter()
    weight = best = 0.0
    begin = 0
    for place, term in places:
        if not inside[term]:
            weight += question.weights[term]
        inside[term] += 1
        while place - places[begin][0] >= length:
            left = places[begin][1]
            inside[left] -= 1
            if not inside[left]:
                weight -= question.weights[left]
            begin += 1
        best = max(best, weight)
    return best / question.total


def _pairs(question: Question, places: Sequence[tuple[int, str]]) -> tuple[float, float] | None:
    """Neighbours of the question that the passage holds close together; None for a question of one term."""
    places_of: dict[str, list[int]] = {}
    for place, term in places:
        places_of.setdefault(term, []).append(place)
    total = together = near = 0.0
    for first, second in zip(question.terms, question.terms[1:], strict=False):
        if first == second:
            continue
        weight = question.weights[first] + question.weights[second]
        total += weight
        if first in places_of and second in places_of:
            apart = _apart(places_of[first], places_of[second])
            together += weight * (apart <= REACH)
            near += weight / (1 + max(0, apart - 1) / 4)
    return (together / total, near / total) if total else None


def _apart(first: Sequence[int], second: Sequence[int]) -> int:
    """The least distance of two terms in tokens; one in the wrong order counts double."""
    return min(b - a if b > a else 2 * (a - b) + 1 for a in first for b in second)
