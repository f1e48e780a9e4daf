"""`ragstone mcp`."""

import asyncio

from services.local.agents import serve
from services.local.commands.options import Space, Url
from services.local.terminal import gateway


def mcp(space: Space = None, url: Url = None) -> None:
    """Give an agent the documents: an MCP server on standard input and output, for a client that starts it.

    A gateway serves the same at /mcp by itself.
    """
    with gateway(url, space) as api:
        asyncio.run(serve(api.url, api.headers))
