"""What finding passages needs from outside."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.retriever.domain.hits import Chunk, Covered, EmbedderIdentity, Hit, ServingIndex, SpaceState
from services.retriever.domain.judged import Candidate, Judged
from services.shared.contracts.grounding import Grounding, Pair
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId, VersionId
from services.shared.contracts.search import Filters

Vector = Sequence[float]


@dataclass(frozen=True)
class Embedded:
    """Vectors in the order of the texts, and which embedder made them."""

    vectors: list[Vector]
    embedder: EmbedderIdentity


@dataclass(frozen=True)
class Matched:
    """One question's BM25 list, and how much of the question its best chunk holds."""

    hits: list[Hit]
    covered: Covered


class Records(Protocol):
    """The catalog. Raises RagstoneError (catalog_unavailable)."""

    async def state(self, space: SpaceId, index: IndexId | None = None) -> SpaceState:
        """Where the space stands now; seq 0 for a space that nobody wrote to.

        With an index it is that one instead of the one that serves, if it can be searched; else raises RagstoneError
        (index_not_found).
        """

    async def live(self, space: SpaceId, ids: Sequence[ChunkId]) -> dict[ChunkId, Chunk]:
        """Those of the ids whose version is live now, with their texts."""

    async def chunks_of(self, space: SpaceId, document: DocumentId) -> list[Chunk]:
        """A document's live chunks in their order; none when the space does not hold it."""

    async def count(self, space: SpaceId) -> int:
        """Live chunks of the space."""


class Embedder(Protocol):
    """The embedding models. Raises RagstoneError (busy, model_unavailable)."""

    async def questions(self, embedder: EmbedderIdentity, texts: Sequence[str]) -> Embedded:
        """Embed questions by this very embedder, ahead of every waiting text."""

    async def similarities(self, embedder: EmbedderIdentity | None, question: str, texts: Sequence[str]) -> list[float]:
        """Cosine similarity of each text to the question, by this embedder; None is the one for new indexes."""


class Vectors(Protocol):
    """The vector store. Raises RagstoneError (vector_store_unavailable, index_incompatible)."""

    async def search(
        self,
        index: ServingIndex,
        vectors: Sequence[Vector],
        k: int,
        filters: Filters | None,
        without: Collection[ChunkId] = (),
    ) -> list[list[Hit]]:
        """For each vector the ``k`` nearest live chunks by cosine distance, nearest first, none of ``without``;
        fewer when there are fewer."""

    async def stored(self, index: ServingIndex, ids: Sequence[ChunkId]) -> dict[ChunkId, Vector]:
        """The vectors of these chunks; one that has none is left out."""

    async def complete(self, index: ServingIndex) -> bool:
        """Has every live chunk of the space a vector? As it was a few seconds ago; never waits."""


class Keywords(Protocol):
    """BM25, caught up with the catalog before it answers. Raises RagstoneError (retriever_unavailable)."""

    async def search(
        self,
        space: SpaceId,
        questions: Sequence[str],
        k: int,
        filters: Filters | None,
        without: Collection[ChunkId] = (),
    ) -> list[Matched]:
        """For each question the ``k`` best chunks by BM25 score, best first, none with a score of zero and none of
        ``without``."""

    async def coverage(self, space: SpaceId, question: str, texts: Sequence[str]) -> list[float]:
        """For each text the share of the question's terms in it, weighted by idf, 0 to 1."""


class Critic(Protocol):
    """A small trained model. Raises RagstoneError (model_unavailable, retriever_unavailable)."""

    async def judge(self, space: SpaceId, question: str, candidates: Sequence[Candidate]) -> Judged:
        """Is each of the candidates relevant to the question, and do they answer it together?"""


class Memory(Protocol):
    """What the indexes hold of versions. Raises RagstoneError (vector_store_unavailable, retriever_unavailable)."""

    async def gone(self, space: SpaceId, versions: Sequence[VersionId]) -> list[VersionId]:
        """Those that neither answer nor are on their way in."""

    async def forget_vectors(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        """Take their vectors out of every index of the space; how many there were."""

    async def forget_postings(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        """Take their chunks out of the keyword index, in memory and on disk; how many there were."""


class Grounder(Protocol):
    """A small trained model. Raises RagstoneError (busy, model_unavailable)."""

    async def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        """Does the evidence of each pair support its claim, or contradict it?"""
