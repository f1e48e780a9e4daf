"""Around everything: what browsers and caches may do with an answer, whoever gave it, errors too."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

DEFAULTS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # Answers hold content that not everybody may see.
    "Cache-Control": "no-store",
    # For a browser that shows an answer as a page: it runs nothing, fetches nothing and stands in no frame.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    # No page of another origin gets it as a picture, script or frame; reading by CORS is another matter.
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""For every answer that does not say otherwise: pages and their files allow more, and are no secret."""


class SafeHeaders:
    """Adds to each answer those of ``DEFAULTS`` that it lacks."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in DEFAULTS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)
