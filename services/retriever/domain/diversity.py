"""Keeps the final passages from saying one thing five times, or all coming from one document."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from services.retriever.domain.hits import Chunk, Drop
from services.retriever.domain.likeness import Print, doubtful, same_subject, same_text
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
        """The chunks whose vectors are wanted, because letters alone do not tell whether they speak of the same."""
        return [self._ranked[place].chunk.id for place in sorted({place for pair in self._doubtful for place in pair})]

    def choose(self, vectors: Mapping[ChunkId, Sequence[float]]) -> Chosen:
        """The ``top_k`` candidates to show.

        Of passages that say the same word for word the better-sourced one is shown, in the place of the best-ranked,
        and the others are named with it. One that is much like a better-ranked one, by its vector, makes room for
        others and is never merged: it may say the opposite. So does a document's fourth passage of five when a
        comparable passage of another document waits.
        """
        ranked, top_k = self._ranked, self._top_k
        ids = [one.chunk.id for one in ranked]
        if self._untouched:
            return Chosen(ids[:top_k])
        groups = self._grouped()
        shown = [max(group, key=lambda place: (_sourced(ranked[place].chunk), -place)) for group in groups]
        kept: list[int] = []
        passed: dict[int, str] = {}
        for n in range(len(groups)):
            if len(kept) == top_k:
                break
            like = next((other for other in kept if self._alike(shown[other], shown[n], vectors)), None)
            if like is not None:
                passed[n] = f"much like {ids[shown[like]]}"
            elif _crowds(ranked, shown, n, kept, top_k):
                passed[n] = f"document {ranked[shown[n]].chunk.document_id} has enough passages"
            else:
                kept.append(n)
        filled = sorted([*kept, *list(passed)[: top_k - len(kept)]])
        also_in = {ids[shown[n]]: [ids[place] for place in groups[n] if place != shown[n]] for n in filled}
        drops = [
            Drop(copy, "diversity", f"near_duplicate of {kept_id}")
            for kept_id, copies in also_in.items()
            for copy in copies
        ]
        drops += [Drop(ids[shown[n]], "diversity", why) for n, why in passed.items() if n not in filled]
        named = {id: copies for id, copies in also_in.items() if copies}
        return Chosen([ids[shown[n]] for n in filled], named, drops)

    @property
    def _untouched(self) -> bool:
        return self._top_k > TOP_K_LIMIT or len(self._ranked) < 2

    def _grouped(self) -> list[list[int]]:
        """Places of the candidates, copies of one text together, each group by its best-ranked."""
        groups: list[list[int]] = []
        for place, text in enumerate(self._prints):
            home = next((group for group in groups if same_text(self._prints[group[0]], text)), None)
            if home is None:
                groups.append([place])
            else:
                home.append(place)
        return groups

    def _alike(self, first: int, second: int, vectors: Mapping[ChunkId, Sequence[float]]) -> bool:
        if (min(first, second), max(first, second)) not in self._doubtful:
            return False
        near, other = vectors.get(self._ranked[first].chunk.id), vectors.get(self._ranked[second].chunk.id)
        return near is not None and other is not None and same_subject(near, other)


def _sourced(chunk: Chunk) -> int:
    """How well a reader can check where it comes from."""
    return int(bool(chunk.source))


def _crowds(ranked: Sequence[Ranked], shown: Sequence[int], n: int, kept: Sequence[int], top_k: int) -> bool:
    document, score = ranked[shown[n]].chunk.document_id, ranked[shown[n]].score
    limit = max(1, math.ceil(DOCUMENT_SHARE * top_k))
    if sum(ranked[shown[other]].chunk.document_id == document for other in kept) < limit:
        return False
    return any(
        ranked[later].chunk.document_id != document and ranked[later].score >= COMPARABLE * score
        for later in shown[n + 1 :]
    )
