"""The door for agents: MCP at /mcp, with the same keys and spaces as every other door."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI, Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.app.common import caller_of
from services.gateway.domain.callers import Caller
from services.gateway.domain.names import space_named
from services.gateway.wiring.flows import Gateway
from services.shared.agents.library import VersionText
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.documents import Document, DocumentList
from services.shared.contracts.ids import DEFAULT_SPACE, DocumentId, SpaceId, VersionId
from services.shared.contracts.keys import Role
from services.shared.contracts.search import SearchRequest, SearchResponse
from services.shared.kit.request_context import request_id

MCP_PATHS = ("/mcp", "/mcp/")
"""Both are the door: a redirect would lose what clients send with it."""


@dataclass(frozen=True)
class SpaceLibrary:
    """One space as one caller sees it."""

    gateway: Gateway
    space: SpaceId
    caller: Caller

    async def search(self, request: SearchRequest) -> SearchResponse:
        """Passages, no writing."""
        return await self.gateway.find.search(self.space, request)

    async def ask(self, request: AskRequest) -> Answer:
        """The whole answer, on the caller's budget."""
        return await self.gateway.ask.answer(self.space, request, request_id(), self.caller.payer)

    async def text(self, document_id: DocumentId, version: VersionId | None) -> VersionText:
        """A version's extracted text."""
        source = await self.gateway.documents.source(self.space, document_id, version)
        return VersionText(source.document_id, source.version, source.text)

    async def documents(self, type: str | None, cursor: str | None, limit: int) -> DocumentList:
        """A page of the space's documents."""
        return await self.gateway.documents.page(self.space, limit=limit, cursor=cursor, type=type, origin=None)

    async def document(self, document_id: DocumentId) -> Document:
        """One of them."""
        return await self.gateway.documents.one(self.space, document_id)


def _library_of(request: Request) -> SpaceLibrary:
    """Raises RagstoneError when the caller may not read there."""
    caller = caller_of(request)
    caller.check(Role.READ, public=False)
    named = request.headers.get("Ragstone-Space")
    space = caller.space_of(None if named is None else space_named(named), DEFAULT_SPACE)
    return SpaceLibrary(request.app.state.gateway, space, caller)


class _Door:
    """Lets in who may read, and hands on to the server that runs as long as the application."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        _library_of(request)
        server: ASGIApp = request.app.state.mcp
        await server(scope, receive, send)


ROUTES = [Route(path, _Door(), methods=["POST"], include_in_schema=False, name="mcp") for path in MCP_PATHS]


@asynccontextmanager
async def serving_agents(app: FastAPI) -> AsyncIterator[None]:
    """Runs the server behind the door; its SDK is imported here, where it is needed."""
    from services.shared.agents.streamable import serving

    async with serving(_library_of) as server:
        app.state.mcp = server
        yield
