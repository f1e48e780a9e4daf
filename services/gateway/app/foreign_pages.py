"""Pages of other origins read answers with a public key (CORS, https://fetch.spec.whatwg.org/#http-cors-protocol)."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.app import rates
from services.gateway.app.callers import is_open
from services.gateway.flow.door import Door
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.http_app import problem_response
from services.shared.kit.request_context import REQUEST_ID_HEADER

EXPOSED = (REQUEST_ID_HEADER, "Location", "Preference-Applied", *rates.HEADERS)
"""What scripts of those pages may read beside the body."""

_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, Accept, Cache-Control, Prefer, Last-Event-ID, Ragstone-Space, "
        f"{REQUEST_ID_HEADER}"
    ),
    "Access-Control-Max-Age": "600",
}


class ForeignPages:
    """Tells browsers that pages of an origin which some public key names may read answers, errors too.

    Whether the key that comes along fits that origin, is found out at the door. Cookies are never allowed.
    """

    def __init__(self, app: ASGIApp, *, door: Door) -> None:
        self.app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_open(scope["path"]):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        try:
            known = origin is not None and await self._door.public_origin(origin)
        except RagstoneError as error:
            await problem_response(error)(scope, receive, send)
            return
        told = _telling(origin if known else None, send)
        if scope["method"] == "OPTIONS" and origin is not None and "access-control-request-method" in headers:
            await _preflight(origin, known=known)(scope, receive, told)
        else:
            await self.app(scope, receive, told)


def _preflight(origin: str, *, known: bool) -> ASGIApp:
    if known:
        return Response(status_code=204, headers=_PREFLIGHT)
    detail = f"No public key is for pages of {origin[:200]!r}; whoever runs this gateway can make one that names it."
    return problem_response(RagstoneError(ErrorCode.ORIGIN_NOT_ALLOWED, detail))


def _telling(origin: str | None, send: Send) -> Send:
    async def send_with_origin(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.add_vary_header("Origin")
            if origin is not None:
                headers["Access-Control-Allow-Origin"] = origin
                headers["Access-Control-Expose-Headers"] = ", ".join(EXPOSED)
        await send(message)

    return send_with_origin
