"""The retriever over HTTP."""

from services.shared.contracts.search import RetrieveRequest, SearchResponse
from services.shared.kit.http_client import ServiceClient


class HttpRetriever:
    """Errors of the retriever keep their code; one that cannot be reached is retriever_unavailable."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def retrieve(self, request: RetrieveRequest) -> SearchResponse:
        """Ask for passages."""
        return await self._client.post("/retrieve", request, SearchResponse)
