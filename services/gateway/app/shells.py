"""In front of the keys: a browser that opens a source's address gets the page that shows it, which holds no text.

A browser sends no key when it follows a link. The page it gets is the same for every address, and says nothing of
what is there; its script fetches the text with the visitor's key, and that request is let in or not like any other.
"""

import re
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.app.pages import page_response

_SOURCE = re.compile(r"/v1/documents/.+/source")


class SourceShell:
    """Answers such requests itself, so that none of them can reach a document."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _opens_a_source(scope):
            await page_response("source.html", {"Vary": "Accept"})(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _opens_a_source(scope: Scope) -> bool:
    """Programs, and our own page's scripts, do not accept text/html by name."""
    if scope["method"] not in ("GET", "HEAD") or not _SOURCE.fullmatch(scope["path"]):
        return False
    asked = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return asked.get("as", ["text"])[-1] == "text" and "text/html" in Headers(scope=scope).get("accept", "").lower()
