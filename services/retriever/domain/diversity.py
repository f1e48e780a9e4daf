"""Keeps the final passages from saying one thing five times, or all coming from one document."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.retriever.domain.hits import Chunk, Drop
from services.retriever.domain.likeness import (
    Print,
    doubtful,
    fingerprint,
    same_meaning,
    same_text,
    says_all_of,
    turned,
)
from services.shared.contracts.ids import ChunkId

TOP_K_LIMIT = 10
"""Above this a caller wants the ranking itself, for paging or measuring, and gets it untouched."""

COMPARABLE = 0.8
"""A passage is comparable with another at this share of its fused score. Hand-set."""

DOCUMENT_SHARE = 0.6
"""Largest share of the final passages from one document: three of five."""


@dataclass(frozen=True)
class Ranked:
    """A candidate in fused order."""

    chunk: Chunk
    score: float


@dataclass(frozen=True)
class Chosen:
    """What is shown, in its order; where else each of them stands; and what was passed over, with the reason."""

    kept: list[ChunkId]
    also_in: dict[ChunkId, list[ChunkId]] = field(default_factory=dict)
    drops: list[Drop] = field(default_factory=list)


def doubtful_chunks(ranked: Sequence[Ranked], top_k: int) -> list[ChunkId]:
    """The chunks whose vectors are wanted, because letters alone do not tell whether they say the same."""
    if _untouched(ranked, top_k):
        return []
    prints = [fingerprint(one.chunk.text) for one in ranked]
    asked = {
        place
        for left in range(len(ranked))
        for right in range(left)
        if doubtful(prints[left], prints[right])
        for place in (left, right)
    }
    return [ranked[place].chunk.id for place in sorted(asked)]


def diversify(ranked: Sequence[Ranked], top_k: int, vectors: Mapping[ChunkId, Sequence[float]]) -> Chosen:
    """The ``top_k`` candidates to show.

    Of near-copies the better-sourced one is shown, in the place of the best-ranked, and the others are named with
    it: five times the same says no more than once. A document's fourth passage of five makes room when a comparable
    passage of another document waits.
    """
    if _untouched(ranked, top_k):
        return Chosen([one.chunk.id for one in ranked[:top_k]])
    groups = _grouped(ranked, vectors)
    shown = [max(group, key=lambda place: (_sourced(ranked[place].chunk), -place)) for group in groups]
    kept: list[int] = []
    passed: list[int] = []
    for n in range(len(groups)):
        if len(kept) == top_k:
            break
        (passed if _crowds(ranked, shown, n, kept, top_k) else kept).append(n)
    filled = sorted([*kept, *passed[: top_k - len(kept)]])
    ids = [one.chunk.id for one in ranked]
    also_in = {ids[shown[n]]: [ids[place] for place in groups[n] if place != shown[n]] for n in filled}
    drops = [
        Drop(copy, "diversity", f"near_duplicate of {kept_id}")
        for kept_id, copies in also_in.items()
        for copy in copies
    ]
    drops += [
        Drop(ids[shown[n]], "diversity", f"document {ranked[shown[n]].chunk.document_id} has enough passages")
        for n in passed
        if n not in filled
    ]
    return Chosen([ids[shown[n]] for n in filled], {id: copies for id, copies in also_in.items() if copies}, drops)


def _untouched(ranked: Sequence[Ranked], top_k: int) -> bool:
    return top_k > TOP_K_LIMIT or len(ranked) < 2


def _grouped(ranked: Sequence[Ranked], vectors: Mapping[ChunkId, Sequence[float]]) -> list[list[int]]:
    """Places of the candidates, near-copies of one text together, each group by its best-ranked."""
    prints = [fingerprint(one.chunk.text) for one in ranked]
    groups: list[list[int]] = []
    for place, one in enumerate(ranked):
        home = next(
            (group for group in groups if _copies(ranked[group[0]], one, prints, group[0], place, vectors)), None
        )
        if home is None:
            groups.append([place])
        else:
            home.append(place)
    return groups


def _copies(
    first: Ranked, second: Ranked, prints: Sequence[Print], a: int, b: int, vectors: Mapping[ChunkId, Sequence[float]]
) -> bool:
    if same_text(prints[a], prints[b]):
        return True
    if first.chunk.document_id == second.chunk.document_id and says_all_of(prints[a], prints[b]):
        return not turned(prints[a], prints[b])
    left, right = vectors.get(first.chunk.id), vectors.get(second.chunk.id)
    if left is None or right is None or not doubtful(prints[a], prints[b]):
        return False
    return same_meaning(left, right)


def _sourced(chunk: Chunk) -> int:
    """How well a reader can check where it comes from."""
    return 2 * bool(chunk.source) + bool(chunk.section)


def _crowds(ranked: Sequence[Ranked], shown: Sequence[int], n: int, kept: Sequence[int], top_k: int) -> bool:
    document, score = ranked[shown[n]].chunk.document_id, ranked[shown[n]].score
    limit = max(1, math.ceil(DOCUMENT_SHARE * top_k))
    if sum(ranked[shown[other]].chunk.document_id == document for other in kept) < limit:
        return False
    return any(
        ranked[later].chunk.document_id != document and ranked[later].score >= COMPARABLE * score
        for later in shown[n + 1 :]
    )
