"""The MCP server over HTTP: one POST a message, no session, answered as JSON or as an event stream."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import mcp_types as types
import pydantic_core
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from services.shared.agents.server import LibraryOf, mcp_server
from services.shared.kit.replayed import replayed

_NO_MESSAGE = (
    'The body is no JSON-RPC message: send one object with jsonrpc "2.0", a method and, for an answer, an id; lists of '
    "them are not taken."
)


@asynccontextmanager
async def serving(library_of: LibraryOf) -> AsyncIterator[ASGIApp]:
    """What answers POSTs while the block lasts.

    Who may ask, from which Host and Origin and with how large a body is decided in front of it: its own check of
    Host would refuse every proxy that it does not know by name.
    """
    manager = StreamableHTTPSessionManager(
        mcp_server(library_of),
        stateless=True,
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    async with manager.run():
        yield _OnlyMessages(manager.handle_request)


class _OnlyMessages:
    """Refuses JSON that is no JSON-RPC message in one sentence; the SDK would show its own parts and their addresses.

    What is no JSON at all, and what a message asks for, is left to the SDK.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        if _is_refused(body):
            fault = types.JSONRPCError(
                jsonrpc="2.0", id=None, error=types.ErrorData(code=types.INVALID_REQUEST, message=_NO_MESSAGE)
            )
            said = {"id": None, **fault.model_dump(mode="json", by_alias=True, exclude_none=True)}
            await JSONResponse(said, status_code=400)(scope, receive, send)
        else:
            await self._app(scope, replayed(body, receive), send)


def _is_refused(body: bytes) -> bool:
    try:
        types.jsonrpc_message_adapter.validate_python(pydantic_core.from_json(body), by_name=False)
    except ValidationError:
        return True
    except ValueError:
        return False
    return False
