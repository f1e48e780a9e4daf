"""The retriever's /score and /ground as the generator's scorer."""

import asyncio
from collections.abc import Sequence

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.grounding import PAIRS_MAX, Grounding, GroundRequest, GroundResponse, Pair
from services.shared.contracts.health import Health, PartHealth
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.search import ScoreRequest, ScoreResponse, TextScore
from services.shared.kit.http_client import ServiceClient

READY_WAIT_S = 1.5
"""Less than who asks for readiness has, so that the retriever is named and not the generator."""


class RetrieverScorer:
    """Scores by the index's own embedder and word statistics; grounds by the groundedness model."""

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

    async def ground(self, pairs: Sequence[Pair]) -> list[Grounding]:
        """One grounding a pair, in order; raises RagstoneError when the retriever does not give that."""
        found: list[Grounding] = []
        for at in range(0, len(pairs), PAIRS_MAX):
            body = GroundRequest(pairs=list(pairs[at : at + PAIRS_MAX]))
            found += (await self._client.post("/ground", body, GroundResponse)).groundings
        if len(found) != len(pairs):
            detail = f"The retriever grounded {len(found)} of {len(pairs)} pairs; run the same version everywhere."
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, detail)
        return found

    async def ready(self) -> PartHealth:
        """Whether the retriever answers at all; its own /readyz tells the rest."""
        try:
            async with asyncio.timeout(READY_WAIT_S):
                await self._client.get("/healthz", Health)
        except TimeoutError:
            return PartHealth(
                ready=False, detail=f"The retriever did not answer within {READY_WAIT_S:g} s; see its log."
            )
        except RagstoneError as error:
            return PartHealth(ready=False, detail=error.detail)
        return PartHealth(ready=True, detail="The retriever answers.")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
