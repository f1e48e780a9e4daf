"""Before every route: who asks."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.app.addresses import Network, client_of
from services.gateway.domain.callers import Caller
from services.gateway.domain.doors import Knock
from services.gateway.flow.door import Door
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.keys import Role
from services.shared.kit.http_app import problem_response
from services.shared.kit.listening import is_loopback

OPEN = frozenset({"/", "/healthz", "/readyz", "/widget.js", "/widget-example", "/openapi.json", "/docs"})
"""What needs no key: it says nothing of anybody's documents."""

OPEN_FOLDER = "/assets/"

_UNAUTHORIZED = 401
_FORWARDING = ("x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-host", "x-forwarded-proto")
"""What a proxy writes. One that writes none of it cannot be told from a program on its machine."""


def is_open(path: str) -> bool:
    """Does it need no key?"""
    return path in OPEN or path.startswith(OPEN_FOLDER)


class Callers:
    """Finds out who asks, before any of the body is read, and leaves it in the request's state."""

    def __init__(self, app: ASGIApp, *, door: Door, trusted: Sequence[Network]) -> None:
        self.app = app
        self._door = door
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                caller = await self._caller(scope)
            except RagstoneError as error:
                response = problem_response(error)
                if error.status == _UNAUTHORIZED:
                    response.headers["WWW-Authenticate"] = "Bearer"
                await response(scope, receive, send)
                return
            scope.setdefault("state", {})["caller"] = caller
        await self.app(scope, receive, send)

    async def _caller(self, scope: Scope) -> Caller:
        client = client_of(scope, self._trusted)
        if is_open(scope["path"]):
            return Caller(address=client.address, role=Role.READ, public=True)
        headers = Headers(scope=scope)
        # What a proxy on this machine passes on comes from anywhere, unless trusted ones say that it is from here.
        passed_on = not client.named and any(name in headers for name in _FORWARDING)
        return await self._door.caller(
            Knock(
                authorization=headers.get("authorization"),
                origin=headers.get("origin"),
                host=headers.get("host", ""),
                address=client.address,
                local=is_loopback(client.address) and not passed_on,
            )
        )
