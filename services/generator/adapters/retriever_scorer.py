"""The retriever's /score as the generator's scorer."""

from collections.abc import Sequence

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import Health, PartHealth
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.search import ScoreRequest, ScoreResponse, TextScore
from services.shared.kit.http_client import ServiceClient


class RetrieverScorer:
    """Scores by the index's own embedder and word statistics."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def score(self, space: SpaceId, question: str, texts: Sequence[str]) -> list[TextScore]:
        """One score a text, in order; raises RagstoneError when the retriever does not give that."""
        body = ScoreRequest(space=space, question=question, texts=list(texts))
        scores = (await self._client.post("/score", body, ScoreResponse)).scores
        if len(scores) != len(texts):
            detail = f"The retriever scored {len(scores)} of {len(texts)} texts; run the same version everywhere."
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, detail)
        return scores

    async def ready(self) -> PartHealth:
        """Whether the retriever answers at all; its own /readyz tells the rest."""
        try:
            await self._client.get("/healthz", Health)
        except RagstoneError as error:
            return PartHealth(ready=False, detail=error.detail)
        return PartHealth(ready=True, detail="The retriever answers.")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
