"""The retriever over HTTP: finding passages, comparing questions, and forgetting what deleted documents left."""

from collections.abc import Sequence

from services.shared.contracts.forgetting import ForgetRequest, ForgetResponse
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.search import RetrieveRequest, ScoreRequest, ScoreResponse, SearchResponse
from services.shared.kit.http_client import ServiceClient


class HttpRetriever:
    """Errors of the retriever keep their code; one that cannot be reached is retriever_unavailable."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def retrieve(self, request: RetrieveRequest) -> SearchResponse:
        """Ask for passages."""
        return await self._client.post("/retrieve", request, SearchResponse)


class HttpLikeness:
    """The same service and its embedder."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def similarities(self, space: SpaceId, question: str, others: Sequence[str]) -> list[float]:
        """Ask for all of them in one call."""
        asked = ScoreRequest(space=space, question=question, texts=list(others))
        return [one.similarity for one in (await self._client.post("/score", asked, ScoreResponse)).scores]


class HttpIndexes:
    """The same service, not waited for as long: a deletion has somebody else to go on with what takes longer."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def forget(self, request: ForgetRequest) -> ForgetResponse:
        """Take versions out of every index of their space."""
        return await self._client.post("/forget", request, ForgetResponse)
