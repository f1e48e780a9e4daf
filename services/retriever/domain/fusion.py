"""Fusion: one order from many lists, by ranks alone or by scores made comparable."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from services.retriever.domain.hits import Hit, RankedList
from services.retriever.domain.scale import COMMON, Scale
from services.shared.contracts.ids import ChunkId

RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet…", SIGIR 2009."""

LIST_DEPTH = 100
"""Hits of each list that count. With 10, agreement further down is lost: nDCG@10 on Cranfield 0.458 against 0.473,
on Medline 0.750 against 0.798 (``benchmarks/fusion.py``)."""


CRITIC_WEIGHT = 0.8
"""What the critic's word counts beside the lists' where it judged. Of 0.5 to 0.8 the best mean nDCG@10 on Cranfield,
Medline and the SQuAD 2.0 slice, none of which the critic was trained on."""

ODDS = 7.0
"""Log odds beyond this are as good as certain."""


PROMINENCE = 0.25
"""Exponent of a list's prominence. 0 to 1 rank within 0.003 of each other, except where an embedder does not know the
language: there 0, plain min-max, loses 0.025 (PIAF, French)."""


class Fusion(StrEnum):
    """How lists become one order."""

    RRF = "rrf"
    """Sum of 1 / (60 + rank)."""
    RELATIVE = "relative"
    """Sum of min-max-normalised scores, a list counting more when its best hits stand out from its others."""


@dataclass(frozen=True)
class Fused:
    """A chunk with its fused score, its ranks (from 1, by list), and its best raw values."""

    chunk_id: ChunkId
    score: float
    ranks: dict[str, int]
    distance: float | None
    bm25: float | None


def fuse(
    lists: Iterable[RankedList], method: Fusion = Fusion.RRF, depth: int = LIST_DEPTH, scale: Scale = COMMON
) -> list[Fused]:
    """Every chunk of the lists' first ``depth`` hits, best first; ``scale`` is that of the vectors' distances.

    A list that names a chunk twice counts its best rank only. The order is total and depends on nothing but the
    lists: by score, then best rank, then chunk id. Sums are exact, so the order of the lists does not matter.
    """
    unique = [RankedList(ranked.kind, ranked.question, _first_of_each(ranked, depth)) for ranked in lists]
    credits = _by_rank(unique) if method is Fusion.RRF else _by_score(unique, scale)
    shares: dict[ChunkId, list[float]] = {}
    ranks: dict[ChunkId, dict[str, int]] = {}
    near: dict[ChunkId, float] = {}
    scores: dict[ChunkId, float] = {}
    for ranked, credit in sorted(zip(unique, credits, strict=True), key=lambda one: one[0].name):
        name, by_vector = ranked.name, ranked.kind == "vector"
        for rank, (hit, share) in enumerate(zip(ranked.hits, credit, strict=True), start=1):
            id, value = hit.chunk_id, hit.value
            shares.setdefault(id, []).append(share)
            ranks.setdefault(id, {})[name] = rank
            if by_vector:
                near[id] = min(value, near.get(id, math.inf))
            else:
                scores[id] = max(value, scores.get(id, -math.inf))
    fused = [Fused(id, math.fsum(parts), ranks[id], near.get(id), scores.get(id)) for id, parts in shares.items()]
    return sorted(fused, key=lambda one: (-one.score, min(one.ranks.values()), one.chunk_id))


def weighed_by_critic(fused: Sequence[Fused], relevant: Mapping[ChunkId, float]) -> list[Fused]:
    """The order with the critic's word in it: those that it judged first, by their score and its log odds, weighed.

    Scores stay between 0 and the best fused score and never rise; what was not judged follows in its old order.
    """
    if not relevant:
        return list(fused)
    best = fused[0].score or 1.0
    judged = sorted(
        (
            replace(one, score=best * ((1 - CRITIC_WEIGHT) * one.score / best + CRITIC_WEIGHT * _surely(relevant[id])))
            for one in fused
            if (id := one.chunk_id) in relevant
        ),
        key=lambda one: (-one.score, min(one.ranks.values()), one.chunk_id),
    )
    ceiling = judged[-1].score
    rest = [
        one if one.score <= ceiling else replace(one, score=ceiling) for one in fused if one.chunk_id not in relevant
    ]
    return [*judged, *rest]


def _surely(probability: float) -> float:
    """Log odds from -7 to 7, stretched to 0 to 1."""
    safe = min(max(probability, 1e-9), 1 - 1e-9)
    return (min(max(math.log(safe / (1 - safe)), -ODDS), ODDS) + ODDS) / (2 * ODDS)


def _first_of_each(ranked: RankedList, depth: int) -> tuple[Hit, ...]:
    first: dict[ChunkId, Hit] = {}
    for hit in ranked.hits[:depth]:
        first.setdefault(hit.chunk_id, hit)
    return tuple(first.values())


def _by_rank(lists: Sequence[RankedList]) -> list[list[float]]:
    return [[1 / (RRF_K + rank) for rank in range(1, len(ranked.hits) + 1)] for ranked in lists]


def _by_score(lists: Sequence[RankedList], scale: Scale) -> list[list[float]]:
    """Each hit's share: 1 is the best of every list.

    A list's scores are stretched to 0 to 1; its weight is the fourth root of how many standard deviations its best
    score lies above its mean: an index that knows nothing of the question (an English model of a French one) ranks
    everything much alike. A list shorter than the longest one has zeros in place of the hits that it lacks.
    """
    longest = max((len(ranked.hits) for ranked in lists), default=0)
    stretched = [_stretched(_scores(ranked, scale), longest) for ranked in lists]
    weights = [_prominence(scores + [0.0] * (longest - len(scores))) if scores else 0.0 for scores in stretched]
    total = math.fsum(weights)
    return [[score * weight / total for score in scores] for scores, weight in zip(stretched, weights, strict=True)]


def _scores(ranked: RankedList, scale: Scale) -> list[float]:
    """Higher is better, and 0 is nothing in common."""
    if ranked.kind == "vector":
        return [max(0.0, 1.0 - scale.common(hit.value)) for hit in ranked.hits]
    return [hit.value for hit in ranked.hits]


def _stretched(scores: Sequence[float], longest: int) -> list[float]:
    """To 0 at the end of a full list, and 1 at its best; a list that ran out of hits ends at nothing in common."""
    if not scores:
        return []
    best = max(scores)
    floor = min(scores) if longest == len(scores) >= LIST_DEPTH else 0.0
    return [(score - floor) / (best - floor) if best > floor else 1.0 for score in scores]


def _prominence(scores: Sequence[float]) -> float:
    mean = math.fsum(scores) / len(scores)
    spread = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    return ((max(scores) - mean) / spread) ** PROMINENCE if spread else 1.0
