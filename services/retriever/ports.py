"""What finding passages needs from outside."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.retriever.domain.hits import Chunk, EmbedderIdentity, Hit, ServingIndex, SpaceState
from services.shared.contracts.ids import ChunkId, SpaceId
from services.shared.contracts.search import Filters

Vector = Sequence[float]


@dataclass(frozen=True)
class Embedded:
    """Vectors in the order of the texts, and which embedder made them."""

    vectors: list[Vector]
    embedder: EmbedderIdentity


@dataclass(frozen=True)
class Coverage:
    """How much of a question's words texts hold.

    ``shares``: for each text the share of the question's terms in it, weighted by idf, 0 to 1. ``rarity``: the
    highest idf among the question's known terms, as a share of the idf of a word that a single chunk holds.
    """

    shares: list[float]
    rarity: float


class Records(Protocol):
    """The catalog. Raises RagstoneError (catalog_unavailable)."""

    async def state(self, space: SpaceId) -> SpaceState:
        """Where the space stands now; seq 0 for a space that nobody wrote to."""

    async def live(self, space: SpaceId, ids: Sequence[ChunkId]) -> dict[ChunkId, Chunk]:
        """Those of the ids whose version is live now."""

    async def count(self, space: SpaceId) -> int:
        """Live chunks of the space."""


class Embedder(Protocol):
    """The embedding model. Raises RagstoneError (busy, model_unavailable)."""

    async def questions(self, texts: Sequence[str]) -> Embedded:
        """Embed questions, ahead of every waiting text."""

    async def similarities(self, question: str, texts: Sequence[str]) -> list[float]:
        """Cosine similarity of each text to the question."""


class Vectors(Protocol):
    """The vector store. Raises RagstoneError (vector_store_unavailable, index_incompatible)."""

    async def search(
        self, index: ServingIndex, vectors: Sequence[Vector], k: int, filters: Filters | None
    ) -> list[list[Hit]]:
        """For each vector the ``k`` nearest chunks by cosine distance, nearest first; fewer when there are fewer."""

    async def complete(self, index: ServingIndex) -> bool:
        """Has every live chunk of the space a vector? As it was a few seconds ago, so that asking costs nothing."""


class Keywords(Protocol):
    """BM25, caught up with the catalog before it answers. Raises RagstoneError (retriever_unavailable)."""

    async def search(
        self, space: SpaceId, questions: Sequence[str], k: int, filters: Filters | None
    ) -> list[list[Hit]]:
        """For each question the ``k`` best chunks by BM25 score, best first, none with a score of zero."""

    async def coverage(self, space: SpaceId, question: str, texts: Sequence[str]) -> Coverage:
        """How much of the question each text holds."""
