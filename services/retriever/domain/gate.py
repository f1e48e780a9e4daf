"""The quality gate: are the found passages near enough to the question to be worth reading?"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.retriever.domain.hits import Chunk, Drop, RankedList
from services.shared.contracts.ids import ChunkId

KEYWORDS_ALONE = 0.5
"""Where no vectors were searched, the best passage must hold half of the question's weight. Hand-set."""


RARE = 0.5
"""From this share of the highest idf a word is rare: at most the square root of all passages hold it."""


@dataclass(frozen=True)
class Covered:
    """How much of a question its best BM25 passage holds, and how rare the question's rarest word is; 0 to 1."""

    share: float
    rarity: float


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


@dataclass(frozen=True)
class Found:
    """What one search of both indexes brought, and what the gate makes of it."""

    lists: tuple[RankedList, ...]
    chunks: Mapping[ChunkId, Chunk]
    drops: tuple[Drop, ...]
    evidence: Evidence
    judgement: Judgement


def gather_evidence(lists: Iterable[RankedList], covered: Iterable[Covered], *, vectors_asked: bool) -> Evidence:
    """The best distance over the vector lists and the best coverage over the BM25 lists."""
    nearest = [ranked.hits[0].value for ranked in lists if ranked.kind == "vector" and ranked.hits]
    return Evidence(
        distance=min(nearest, default=None),
        covered=max(covered, key=lambda one: (one.share, one.rarity), default=None),
        vectors_asked=vectors_asked,
    )


def judge(evidence: Evidence, *, distance_limit: float, confident_coverage: float) -> Judgement:
    """Poor when the nearest passage is farther than the limit, unless BM25 is confident.

    BM25 is confident when the question has a rare word and the best passage holds at least
    ``confident_coverage`` of the question's words, weighted by their rarity (idf): part numbers and names are
    what embeddings miss and exact words find.
    """
    distance, covered = evidence.distance, evidence.covered or Covered(0.0, 0.0)
    if distance is not None and distance <= distance_limit:
        return Judgement(False, f"the nearest passage is at cosine distance {distance:.2f}, limit {distance_limit:.2f}")
    confident = covered.share >= confident_coverage and covered.rarity >= RARE
    if confident or (not evidence.vectors_asked and covered.share >= KEYWORDS_ALONE):
        return Judgement(False, f"one passage holds {covered.share:.0%} of the question's words, weighted by rarity")
    words = f"no passage holds more than {covered.share:.0%} of the question's words, weighted by rarity"
    if distance is None:
        return Judgement(True, words)
    return Judgement(
        True, f"the nearest passage is at cosine distance {distance:.2f}, limit {distance_limit:.2f}; {words}"
    )


INTERCEPT, PER_DISTANCE, PER_COVERAGE = 2.5, -7.3, 2.0
"""For all-MiniLM-L6-v2, fitted by ``benchmarks/gate_fit.py`` on SQuAD 2.0 questions, answerable and not in equal
weight. Not calibrated for anybody's own content, nor for another embedder, whose distances differ."""

UNKNOWN_DISTANCE, UNKNOWN_COVERAGE = 0.55, 0.5
"""What an index that was not asked is taken to have said: nothing for, nothing against."""


def answerable(evidence: Evidence) -> float:
    """Probability that the passages answer the question: a logistic function of the evidence.

    Falls with the distance and rises with the coverage, always.
    """
    distance = UNKNOWN_DISTANCE if evidence.distance is None else evidence.distance
    coverage = UNKNOWN_COVERAGE if evidence.covered is None else evidence.covered.share
    return 1 / (1 + math.exp(-(INTERCEPT + PER_DISTANCE * distance + PER_COVERAGE * coverage)))
