"""The story of scoring texts against a question."""

import asyncio

from services.retriever.ports import Embedder, Keywords
from services.shared.contracts.search import ScoreRequest, ScoreResponse, TextScore


class Scoring:
    """Tells how well texts fit a question, for services that hold no model."""

    def __init__(self, *, embedder: Embedder, keywords: Keywords) -> None:
        self._embedder = embedder
        self._keywords = keywords

    async def score(self, request: ScoreRequest) -> ScoreResponse:
        """Similarity and coverage of each text to the question, in the texts' order."""
        if not request.texts:
            return ScoreResponse(scores=[])
        similarities, shares = await asyncio.gather(
            self._embedder.similarities(request.question, request.texts),
            self._keywords.coverage(request.space, request.question, request.texts),
        )
        pairs = zip(similarities, shares, strict=True)
        return ScoreResponse(scores=[TextScore(similarity=near, coverage=share) for near, share in pairs])
