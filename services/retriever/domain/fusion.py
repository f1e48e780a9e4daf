"""Reciprocal rank fusion: one order from many lists, without comparing their scores."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from services.retriever.domain.hits import RankedList
from services.shared.contracts.ids import ChunkId

RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet…", SIGIR 2009."""


@dataclass(frozen=True)
class Fused:
    """A chunk with its fused score, its rank (from 1) in each list that holds it, and its best raw values."""

    chunk_id: ChunkId
    score: float
    ranks: dict[str, int]
    distance: float | None
    bm25: float | None


def fuse(lists: Iterable[RankedList], k: int = RRF_K) -> list[Fused]:
    """Every chunk of the lists, best first; its score is the sum of 1/(k + rank) over the lists that hold it.

    A list that names a chunk twice counts its best rank only. The order is total and depends on nothing but
    the lists: by score, then best rank, then chunk id. The sum is exact, so the order of lists does not matter.
    """
    ranks: dict[ChunkId, dict[str, int]] = {}
    distances: dict[ChunkId, float] = {}
    scores: dict[ChunkId, float] = {}
    for ranked in lists:
        for rank, hit in enumerate(ranked.hits, start=1):
            ranks.setdefault(hit.chunk_id, {}).setdefault(ranked.name, rank)
            if ranked.kind == "vector":
                distances[hit.chunk_id] = min(hit.value, distances.get(hit.chunk_id, math.inf))
            else:
                scores[hit.chunk_id] = max(hit.value, scores.get(hit.chunk_id, 0.0))
    fused = [
        Fused(
            chunk_id=chunk_id,
            score=math.fsum(1 / (k + rank) for rank in by_list.values()),
            ranks=dict(sorted(by_list.items())),
            distance=distances.get(chunk_id),
            bm25=scores.get(chunk_id),
        )
        for chunk_id, by_list in ranks.items()
    ]
    return sorted(fused, key=lambda one: (-one.score, min(one.ranks.values()), one.chunk_id))
