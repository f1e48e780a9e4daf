"""The quality gate: are the found passages near enough to the question to be worth reading?"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.retriever.domain.hits import Covered, RankedList
from services.retriever.domain.limits import Limits
from services.retriever.domain.scale import COMMON, Scale
from services.shared.contracts.calibration import Logistic

KEYWORDS_ALONE = 0.5
"""Where no vectors were searched, the best passage must hold half of the question's weight. Hand-set."""


RARE = 0.5
"""From this share of the highest idf a word is rare: at most the square root of all passages hold it."""


@dataclass(frozen=True)
class Evidence:
    """The best of each index over all questions. None: that index was not asked, or has no passage at all."""

    distance: float | None
    covered: Covered | None
    vectors_asked: bool


@dataclass(frozen=True)
class Judgement:
    """Poor or not, and the sentence that says why."""

    poor: bool
    reason: str


def gather_evidence(lists: Iterable[RankedList], covered: Iterable[Covered], *, vectors_asked: bool) -> Evidence:
    """The best distance over the vector lists and the best coverage over the BM25 lists."""
    nearest = [ranked.hits[0].value for ranked in lists if ranked.kind == "vector" and ranked.hits]
    return Evidence(
        distance=min(nearest, default=None),
        covered=max(covered, key=lambda one: (one.share, one.rarity), default=None),
        vectors_asked=vectors_asked,
    )


def judge(evidence: Evidence, limits: Limits) -> Judgement:
    """Poor when the nearest passage is farther than the limit, unless BM25 is confident.

    BM25 is confident when the question has a rare word and the best passage holds at least ``gate_coverage`` of
    the question's words, weighted by their rarity (idf): part numbers and names are what embeddings miss and exact
    words find.
    """
    distance, covered = evidence.distance, evidence.covered or Covered(0.0, 0.0)
    limit = limits.gate_distance
    if distance is not None and distance <= limit:
        return Judgement(False, f"the nearest passage is at cosine distance {distance:.2f}, limit {limit:.2f}")
    confident = covered.share >= limits.gate_coverage and covered.rarity >= RARE
    if confident or (not evidence.vectors_asked and covered.share >= KEYWORDS_ALONE):
        return Judgement(False, f"one passage holds {covered.share:.0%} of the question's words, weighted by rarity")
    words = f"no passage holds more than {covered.share:.0%} of the question's words, weighted by rarity"
    if distance is None:
        return Judgement(True, words)
    return Judgement(True, f"the nearest passage is at cosine distance {distance:.2f}, limit {limit:.2f}; {words}")


INTERCEPT, PER_DISTANCE, PER_COVERAGE = 2.5, -7.3, 2.0
"""On the common scale, fitted by ``benchmarks/gate_fit.py`` on SQuAD 2.0 questions, answerable and not in equal
weight. Used where the critic did not run."""

UNKNOWN_DISTANCE, UNKNOWN_COVERAGE = 0.55, 0.5
"""What an index that was not asked is taken to have said: nothing for, nothing against."""


def answerable_by_lists(evidence: Evidence, scale: Scale = COMMON) -> float:
    """Probability that the passages answer the question, by the best distance and coverage alone.

    Falls with the distance and rises with the coverage, always.
    """
    distance = UNKNOWN_DISTANCE if evidence.distance is None else scale.common(evidence.distance)
    coverage = UNKNOWN_COVERAGE if evidence.covered is None else evidence.covered.share
    return _sigmoid(INTERCEPT + PER_DISTANCE * distance + PER_COVERAGE * coverage)


def answerable_by_features(features: Mapping[str, float], fitted: Logistic) -> float:
    """Probability by a calibration; a feature that this call has not counts as nothing."""
    return _sigmoid(
        fitted.intercept + math.fsum(weight * features.get(name, 0.0) for name, weight in fitted.weights.items())
    )


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, x))))
