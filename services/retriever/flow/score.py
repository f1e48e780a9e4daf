"""The story of scoring texts against a question."""

import asyncio
from collections.abc import Sequence

from services.retriever.domain.scale import COMMON, scale_of
from services.retriever.ports import Embedder, Keywords, Records
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.search import ScoreRequest, ScoreResponse, TextScore


class Scoring:
    """Tells how well texts fit a question, for services that hold no model."""

    def __init__(self, *, records: Records, embedder: Embedder, keywords: Keywords) -> None:
        self._records = records
        self._embedder = embedder
        self._keywords = keywords

    async def score(self, request: ScoreRequest) -> ScoreResponse:
        """Similarity and coverage of each text to the question, in the texts' order."""
        if not request.texts:
            return ScoreResponse(scores=[])
        similarities, shares = await asyncio.gather(
            self._similarities(request.space, request.question, request.texts),
            self._keywords.coverage(request.space, request.question, request.texts),
        )
        pairs = zip(similarities, shares, strict=True)
        return ScoreResponse(scores=[TextScore(similarity=near, coverage=share) for near, share in pairs])

    async def _similarities(self, space: SpaceId, question: str, texts: Sequence[str]) -> list[float]:
        """By the embedder of the space's own index, on the common scale."""
        index = (await self._records.state(space)).index
        embedder = None if index is None else index.embedder
        scale = COMMON if embedder is None else scale_of(embedder.name)
        near = await self._embedder.similarities(embedder, question, texts)
        return [1.0 - scale.common(1.0 - one) for one in near]
