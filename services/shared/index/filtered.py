"""The nearest chunks among those that are live and pass a filter, without Chroma's own filter.

Chroma reads the metadata of all chunks that pass, and then walks its graph until it has met enough of them: with
200,000 chunks 0.2 to 1 s, where an unfiltered query takes 6 ms. So:

- few chunks pass: their vectors are kept here, and measured exactly;
- many pass: the nearest of all are asked for, so many that enough of them should pass, and more if they do not;
- where that is not enough, or the vectors are not here yet, Chroma's own filter answers.
"""

import math
from collections import OrderedDict
from collections.abc import Collection, Sequence

from services.shared.contracts.ids import ChunkId
from services.shared.index.chroma_read import VectorHit, VectorReader, Vectors, measured, nearest
from services.shared.index.filters import Wanted
from services.shared.index.kept import KeptVectors
from services.shared.index.live import LiveVersions, Members

EXACT = 10_000
"""Chunks that are measured one by one: 2 ms once their vectors are here."""

MORE = 2.0
"""How many times the expected number of neighbours are asked for: what passes may lie farther than the rest."""

WIDEST = 4000
"""Neighbours asked for in one query at most: 35 ms with 200,000 chunks."""

SPARE = 20
"""Neighbours asked for beyond those wanted, for dead chunks, whose vectors stay in the index for a while."""

AGAIN = 3
"""Times that a search is done again when documents were replaced during it."""

DEEPER = 4
"""Factor by which a search asks again when it came out short."""

REMEMBERED = 5000
"""Chunks whose single vectors are kept: those that search after search brings to the top."""


class LiveVectors:
    """The vectors of one index, of which only live chunks are found. Threads may share it.

    Raises what ``VectorReader`` and ``LiveVersions`` raise.
    """

    def __init__(self, reader: VectorReader, live: LiveVersions) -> None:
        self._reader = reader
        self._live = live
        self._kept = KeptVectors(reader)
        self._single: OrderedDict[ChunkId, Vectors] = OrderedDict()

    def query(self, vectors: Vectors, k: int, wish: Wanted, without: Collection[ChunkId] = ()) -> list[list[VectorHit]]:
        """For each vector the ``k`` nearest live chunks that pass, by (distance, chunk id), without some chunks.

        A document that is replaced while the index is asked would be in neither version: what was live before has
        lost its vectors, and what has them was not live. So it is looked again.
        """
        members = self._live.passing(wish)
        hits, lacking = self._nearest(vectors, k, wish, without, members)
        for _ in range(AGAIN):
            before, members = members, self._live.passing(wish) if lacking else members
            if members is before:
                break
            hits, lacking = self._nearest(vectors, k, wish, without, members)
        return hits

    def _nearest(
        self, vectors: Vectors, k: int, wish: Wanted, without: Collection[ChunkId], members: Members
    ) -> tuple[list[list[VectorHit]], bool]:
        """Among these members; and whether the index lacks vectors of them, or has some of no member, as it has for a
        moment while a document is replaced."""
        if k <= 0 or not len(vectors):
            return [[] for _ in vectors], False
        if not members.chunks:
            return [[] for _ in vectors], True
        search = _Search(self._reader, vectors, k, members, frozenset(without))
        if wish.everything:
            search.until_full(wish)
            return search.hits, search.lacking
        kept = self._kept.of(members) if members.chunks <= EXACT else None
        if kept is not None:
            near = k + len(without)
            found = [nearest(measured(vector, *kept, near), k, search.without) for vector in vectors]
            return found, len(kept[0]) < members.chunks
        wide = math.ceil(MORE * k * members.total / members.chunks)
        while search.short and wide <= WIDEST:
            search.ask(Wanted(), wide)
            wide *= DEEPER
        search.until_full(wish)
        # What is asked of all chunks meets many of no member.
        return search.hits, any(len(hits) < k for hits in search.hits)

    def let_go_of_deleted(self) -> None:
        """Keep nothing in memory that is not live."""
        members = self._live.passing(Wanted())
        self._kept.let_go(all_but=members.versions)
        for id in [id for id in list(self._single) if not members.holds(id)]:
            self._single.pop(id, None)

    def stored(self, chunk_ids: Sequence[ChunkId]) -> dict[ChunkId, Vectors]:
        """The vectors of a few chunks, of length 1; one that has none is left out."""
        found = {id: vector for id in chunk_ids if (vector := self._single.get(id)) is not None}
        missing = [id for id in chunk_ids if id not in found]
        if missing:
            read = dict(zip(*self._reader.vectors(missing), strict=True))
            found |= read
            self._single.update(read)
            while len(self._single) > REMEMBERED:
                self._single.popitem(last=False)
        return found


class _Search:
    """One search under way: the hits so far, and which of its vectors have too few of them."""

    def __init__(
        self, reader: VectorReader, vectors: Vectors, k: int, members: Members, without: frozenset[ChunkId]
    ) -> None:
        self._reader = reader
        self._vectors = vectors
        self._k = k
        self._members = members
        self.short = list(range(len(vectors)))
        self.without = without
        self._strange = False
        self.hits: list[list[VectorHit]] = [[] for _ in vectors]

    def ask(self, wish: Wanted, wide: int) -> None:
        """Ask for the ``wide`` nearest to each vector that has too few hits, and keep those that are members."""
        found = self._reader.query(self._vectors[self.short], wide, wish, self.without)
        again = []
        for n, hits in zip(self.short, found, strict=True):
            mine = [hit for hit in hits if self._members.holds(hit.chunk_id)]
            self._strange |= len(mine) < len(hits)
            self.hits[n] = mine[: self._k]
            if len(self.hits[n]) < self._k and len(hits) >= wide:
                again.append(n)
        self.short = again

    @property
    def lacking(self) -> bool:
        """Were there chunks of no member, or fewer than wanted of the members?"""
        return self._strange or any(len(hits) < self._k for hits in self.hits)

    def until_full(self, wish: Wanted) -> None:
        """Ask until every vector has ``k`` hits or the index has no more: the vectors of dead chunks stay in it for
        a while, and may be the nearest."""
        wide = self._k + SPARE
        while self.short:
            self.ask(wish, wide)
            wide *= DEEPER
