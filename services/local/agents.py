"""The documents of a gateway for an agent that starts `ragstone mcp`: MCP on standard input and output."""

from collections.abc import Callable, Mapping
from urllib.parse import quote, urlencode

from services.shared.agents.library import VersionText
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.documents import Document, DocumentList
from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.search import SearchRequest, SearchResponse
from services.shared.kit.http_client import ServiceClient

ANSWER_S = 300.0
"""Longest wait for an answer, a cold model's load included."""


class FarLibrary:
    """One space of a gateway elsewhere, by its public API."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def search(self, request: SearchRequest) -> SearchResponse:
        """Passages, no writing."""
        return await self._client.post("/v1/search", request, SearchResponse)

    async def ask(self, request: AskRequest) -> Answer:
        """The whole answer."""
        return await self._client.post("/v1/ask", request, Answer)

    async def text(self, document_id: DocumentId, version: VersionId | None) -> VersionText:
        """A version's extracted text; which one is the newest is asked first, for the text itself does not say."""
        known = version or (await self.document(document_id)).version
        path = f"{_path(document_id)}/source?{urlencode({'as': 'text', 'version': known})}"
        return VersionText(document_id, known, await self._client.get_text(path))

    async def documents(self, type: str | None, cursor: str | None, limit: int) -> DocumentList:
        """A page of the space's documents."""
        wanted = {"limit": str(limit), "type": type, "cursor": cursor}
        given = {name: value for name, value in wanted.items() if value is not None}
        return await self._client.get(f"/v1/documents?{urlencode(given)}", DocumentList)

    async def document(self, document_id: DocumentId) -> Document:
        """One of them."""
        return await self._client.get(_path(document_id), Document)


def _path(document_id: DocumentId) -> str:
    return f"/v1/documents/{quote(document_id, safe='')}"


async def serve(url: str, headers: Callable[[], Mapping[str, str]]) -> None:
    """Answer on standard output what comes on standard input, until it ends."""
    from mcp.server.stdio import stdio_server

    from services.shared.agents.server import mcp_server

    client = ServiceClient(
        name="gateway", base_url=url, unavailable=ErrorCode.GATEWAY_UNAVAILABLE, timeout_s=ANSWER_S, signed=headers
    )
    library = FarLibrary(client)
    server = mcp_server(lambda _: library)
    try:
        async with stdio_server() as (said, saying):
            await server.run(said, saying, server.create_initialization_options())
    finally:
        await client.close()
