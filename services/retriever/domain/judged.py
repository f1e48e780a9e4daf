"""What the critic is given, and what it says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from services.retriever.domain.hits import Chunk, RankedList
from services.retriever.domain.scale import COMMON, Scale


@dataclass(frozen=True)
class Candidate:
    """A chunk to be judged against the question, with what its lists say; None: that list does not hold it.

    ``distance`` is on the common scale.
    """

    chunk: Chunk
    distance: float | None
    bm25: float | None
    vector_rank: int | None
    bm25_rank: int | None


@dataclass(frozen=True)
class Judged:
    """The critic's verdicts: a probability of relevance for each candidate, in their order, and for all of them
    together the probability that they answer the question, with the features that it follows from."""

    relevant: list[float]
    answerable: float
    features: Mapping[str, float]


def as_named(candidates: Sequence[Candidate], near: Iterable[RankedList], scale: Scale = COMMON) -> list[Candidate]:
    """The same candidates, as near as they are to the named wording where its list holds them."""
    named = {
        hit.chunk_id: (scale.common(hit.value), rank) for one in near for rank, hit in enumerate(one.hits, start=1)
    }
    return [
        replace(one, distance=named[one.chunk.id][0], vector_rank=named[one.chunk.id][1])
        if one.chunk.id in named
        else one
        for one in candidates
    ]
