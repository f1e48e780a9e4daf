"""Before every route: who asks."""

from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.domain.callers import Caller


class Callers:
    """Finds out who asks, before any of the body is read, and leaves it in the request's state."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            client = scope.get("client")
            scope.setdefault("state", {})["caller"] = Caller(address=client[0] if client else "")
        await self.app(scope, receive, send)
