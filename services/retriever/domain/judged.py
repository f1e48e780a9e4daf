"""What the critic is given, and what it says."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.retriever.domain.hits import Chunk


@dataclass(frozen=True)
class Candidate:
    """A chunk to be judged against the question, with what its lists say; None: that list does not hold it."""

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
