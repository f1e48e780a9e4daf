"""Where to draw the lines: a probability that keeps to a risk, and limits that lose next to nothing answerable."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

LOSES = 0.01
"""Share of the answerable questions that a gate, floor or cut may cost."""
STOPS = 0.95
"""Share of the off-topic questions that it should stop; beyond that it is lenient."""
ROOM = 0.1
"""Part of the way from what stops those to what costs that: questions that are made of passages repeat their words
more than visitors do, so most of the room is the visitors'."""


@dataclass(frozen=True)
class Sides:
    """Probabilities of questions that the content answers, and of questions that it does not; each ascending."""

    answerable: Sequence[float]
    unanswerable: Sequence[float]

    def kept(self, least: float) -> float:
        """Share of the answerable questions that are answered from ``least`` on."""
        return _from(self.answerable, least) / max(1, len(self.answerable))


@dataclass(frozen=True)
class Expected:
    """What a threshold does: ``risk`` is the share of the answered questions that should have been turned away."""

    risk: float
    coverage: float
    """Share of the answerable questions that are answered."""


def sides_of(probabilities: Sequence[float], truth: Sequence[bool]) -> Sides:
    """The two sides of what was asked."""
    pairs = list(zip(probabilities, truth, strict=True))
    return Sides(sorted(p for p, was in pairs if was), sorted(p for p, was in pairs if not was))


def answer_from(sides: Sides, risk: float) -> float | None:
    """The least probability from which to answer so that at most ``risk`` of the answered should be turned away.

    The mix counts answerable and unanswerable questions equally, however many of each were asked: half of what
    visitors ask is taken to be unanswerable. Of a site where fewer are, fewer of the answered are wrong.

    One unanswerable question more than was seen is counted as answered, so that the risk is kept on average over
    new questions and not just on these (as conformal risk control does, Angelopoulos et al. 2022). None when no
    threshold keeps to it.
    """
    steps = sorted({*sides.answerable, *sides.unanswerable})
    for step in steps:
        kept = sides.kept(step)
        wrong = (_from(sides.unanswerable, step) + 1) / (len(sides.unanswerable) + 1)
        if wrong <= risk * (kept + wrong):
            # Up to the next answerable question: what lies between would add to the risk and not to the coverage.
            # Then midway down to what was seen below it, so that rounding makes no difference.
            least = sides.answerable[bisect_left(sides.answerable, step)]
            below = max((one for one in steps if one < least), default=0.0)
            middle = (below + least) / 2
            return middle if middle > below else least
    return None


def expected(sides: Sides, threshold: float | None) -> Expected:
    """What the threshold does to these questions, both sides counted equally; None answers everything."""
    least = -math.inf if threshold is None else threshold
    kept = sides.kept(least)
    wrong = _from(sides.unanswerable, least) / max(1, len(sides.unanswerable))
    return Expected(risk=wrong / (kept + wrong) if kept + wrong else 0.0, coverage=kept)


def held_out(probabilities: Sequence[float], truth: Sequence[bool], fold: Sequence[int], risk: float) -> Expected:
    """What to expect of questions that neither the fit nor the choice of the threshold has seen.

    Each fold is judged by the threshold that the other folds give; ``probabilities`` are cross-fitted already.
    """
    answered = [0.0] * len(probabilities)
    for here in sorted(set(fold)):
        others = [place for place, n in enumerate(fold) if n != here]
        threshold = answer_from(sides_of([probabilities[n] for n in others], [truth[n] for n in others]), risk)
        for place, p in enumerate(probabilities):
            if fold[place] == here and threshold is not None:
                answered[place] = float(p >= threshold)
    return expected(sides_of(answered, truth), 0.5)


def _from(ascending: Sequence[float], least: float) -> int:
    return len(ascending) - bisect_left(ascending, least)


def highest_that_loses_little(answerable: Sequence[float], off_topic: Sequence[float]) -> float | None:
    """A floor under which a value is too low: it costs at most one in a hundred answerable questions.

    It is no higher than it takes to stop 95 % of the off-topic questions, and a little, where the two leave room.
    None without values of answerable questions.
    """
    if not answerable:
        return None
    most = sorted(answerable)[math.floor(LOSES * len(answerable))]
    if not off_topic:
        return most
    enough = sorted(off_topic, reverse=True)[math.floor((1 - STOPS) * len(off_topic))]
    return enough + ROOM * (most - enough) if enough < most else most


def lowest_that_loses_little(answerable: Sequence[float], off_topic: Sequence[float]) -> float | None:
    """The same for a limit above which a value, such as a distance, is too high."""
    found = highest_that_loses_little([-one for one in answerable], [-one for one in off_topic])
    return None if found is None else -found
