"""Other people's web pages do nothing through a visitor's browser but what a public key is for."""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.domain.callers import Caller
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.http_app import problem_response

READING = frozenset({"GET", "HEAD", "OPTIONS"})


class OwnOrigin:
    """Refuses what a page of another origin sends: without keys, a form on any web page could else upload documents
    to a gateway on the visitor's own machine.

    Nor does a page of another origin use a key that is not public, for reading either: it should not have it. A public
    key's origin was compared at the door. Programs send no Origin and are not concerned. A proxy that does not pass
    the Host on needs its address in ``allowed``.
    """

    def __init__(self, app: ASGIApp, *, allowed: Collection[str]) -> None:
        self.app = app
        self._allowed = frozenset(origin.rstrip("/").lower() for origin in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _concerned(scope):
            headers = Headers(scope=scope)
            origin = headers.get("origin", "").lower()
            own = urlsplit(origin).netloc == headers.get("host", "").lower()
            if origin and not own and origin not in self._allowed:
                detail = f"A page of {origin} may not send this; if it is yours, name it in RAGSTONE_ALLOWED_ORIGINS."
                await problem_response(RagstoneError(ErrorCode.ORIGIN_NOT_ALLOWED, detail))(scope, receive, send)
                return
        await self.app(scope, receive, send)


def _concerned(scope: Scope) -> bool:
    caller: Caller = scope["state"]["caller"]
    if caller.key_id is not None:
        return not caller.public
    return scope["method"] not in READING
