"""Keeps the final passages from saying one thing five times, or all coming from one document."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.retriever.domain.hits import Chunk, Drop
from services.retriever.domain.likeness import Print, doubtful, same_meaning, same_text, says_all_of, turned
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


class Candidates:
    """The candidates in fused order, each compared with each at most once."""

    def __init__(self, ranked: Sequence[Ranked], top_k: int) -> None:
        self._ranked = ranked
        self._top_k = top_k
        self._prints = [] if self._untouched else [Print(one.chunk.text) for one in ranked]
        self._doubtful = {
            (first, second)
            for second in range(len(self._prints))
            for first in range(second)
            if doubtful(self._prints[first], self._prints[second])
        }

    @property
    def doubtful(self) -> list[ChunkId]:
        """The chunks whose vectors are wanted, because letters alone do not tell whether they say the same."""
        return [self._ranked[place].chunk.id for place in sorted({place for pair in self._doubtful for place in pair})]

    def choose(self, vectors: Mapping[ChunkId, Sequence[float]]) -> Chosen:
        """The ``top_k`` candidates to show.

        Of near-copies the better-sourced one is shown, in the place of the best-ranked, and the others are named
        with it: five times the same says no more than once. A document's fourth passage of five makes room when a
        comparable passage of another document waits.
        """
        ranked, top_k = self._ranked, self._top_k
        ids = [one.chunk.id for one in ranked]
        if self._untouched:
            return Chosen(ids[:top_k])
        groups = self._grouped(vectors)
        shown = [max(group, key=lambda place: (_sourced(ranked[place].chunk), -place)) for group in groups]
        kept: list[int] = []
        passed: list[int] = []
        for n in range(len(groups)):
            if len(kept) == top_k:
                break
            (passed if _crowds(ranked, shown, n, kept, top_k) else kept).append(n)
        filled = sorted([*kept, *passed[: top_k - len(kept)]])
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
        named = {id: copies for id, copies in also_in.items() if copies}
        return Chosen([ids[shown[n]] for n in filled], named, drops)

    @property
    def _untouched(self) -> bool:
        return self._top_k > TOP_K_LIMIT or len(self._ranked) < 2

    def _grouped(self, vectors: Mapping[ChunkId, Sequence[float]]) -> list[list[int]]:
        """Places of the candidates, near-copies of one text together, each group by its best-ranked."""
        groups: list[list[int]] = []
        for place in range(len(self._ranked)):
            home = next((group for group in groups if self._copies(group[0], place, vectors)), None)
            if home is None:
                groups.append([place])
            else:
                home.append(place)
        return groups

    def _copies(self, first: int, second: int, vectors: Mapping[ChunkId, Sequence[float]]) -> bool:
        one, other = self._ranked[first].chunk, self._ranked[second].chunk
        left, right = self._prints[first], self._prints[second]
        if (first, second) in self._doubtful:
            near, nearer = vectors.get(one.id), vectors.get(other.id)
            if near is not None and nearer is not None and same_meaning(near, nearer):
                return True
        elif same_text(left, right):
            return True
        return one.document_id == other.document_id and says_all_of(left, right) and not turned(left, right)


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
