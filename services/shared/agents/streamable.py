"""The MCP server over HTTP: one POST a message, no session, answered as JSON or as an event stream."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from services.shared.agents.server import LibraryOf, mcp_server


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
        yield manager.handle_request
