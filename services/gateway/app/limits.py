"""No body is read beyond its limit, and none is waited for without end."""

import asyncio
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.http_app import problem_response
from services.shared.kit.replayed import replayed

MESSAGE_MAX_BYTES = 1_000_000
"""Largest body of anything but an upload or a set of questions: a question with its history."""

FLOWING_BYTES = 1024
"""What has to come within each timeout for an upload to count as flowing."""

TOO_SLOW = 408


def json_max_bytes(text_bytes: int) -> int:
    """Largest JSON body that carries so much text; a character may take three times its bytes (such as \\u0434)."""
    return 3 * text_bytes + MESSAGE_MAX_BYTES


class BodyLimit:
    """Answers 413 at once when the announced length is too large, else as soon as too much has come; 408 when it
    comes too slowly.

    ``larger`` holds the limits of those paths that take more than a question: their bodies pass through as they come,
    for as long as they flow. Any other body has ``timeout_s`` to arrive, and begins nothing before it is there.
    Starlette's own limiter answers an announced length in plain text, which no client of ours expects.
    """

    def __init__(self, app: ASGIApp, *, larger: Mapping[str, int], timeout_s: float) -> None:
        self.app = app
        self._larger = larger
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._larger.get(scope["path"], MESSAGE_MAX_BYTES)
        headers = Headers(scope=scope)
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > limit:
            await _too_large(limit)(scope, receive, send)
        elif scope["path"] in self._larger:
            await self.app(scope, _flowing(receive, limit, self._timeout_s), send)
        elif announced not in ("", "0") or "transfer-encoding" in headers:
            await self._whole(scope, receive, send, limit)
        else:
            await self.app(scope, receive, send)

    async def _whole(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        """Read the body, and only then begin."""
        body = bytearray()
        try:
            async with asyncio.timeout(self._timeout_s):
                more = True
                while more:
                    message = await receive()
                    if message["type"] != "http.request":
                        return  # the client has left
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > limit:
                        await _too_large(limit)(scope, receive, send)
                        return
        except TimeoutError:
            await _too_slow(self._timeout_s)(scope, receive, send)
            return
        await self.app(scope, replayed(bytes(body), receive), send)


def _flowing(receive: Receive, limit: int, timeout_s: float) -> Receive:
    """The body as it comes; what the application does between two pieces takes none of the client's time."""
    received = flowed = 0
    waited = 0.0
    ended = False

    async def receive_flowing() -> Message:
        nonlocal received, flowed, waited, ended
        if ended:
            return await receive()
        now = asyncio.get_running_loop().time
        began = now()
        try:
            async with asyncio.timeout(timeout_s - waited):
                message = await receive()
        except TimeoutError:
            # FastAPI passes an HTTPException on where it would turn another into "bad body".
            raise HTTPException(TOO_SLOW, _slow_detail(timeout_s), {"Connection": "close"}) from None
        waited += now() - began
        ended = message["type"] != "http.request" or not message.get("more_body", False)
        piece = len(message.get("body", b""))
        received += piece
        flowed += piece
        if received > limit:
            raise HTTPException(413, _large_detail(limit))
        if flowed >= FLOWING_BYTES:
            flowed, waited = 0, 0.0
        return message

    return receive_flowing


def _too_large(limit: int) -> ASGIApp:
    return problem_response(RagstoneError(ErrorCode.BODY_TOO_LARGE, _large_detail(limit)))


def _too_slow(timeout_s: float) -> ASGIApp:
    response = problem_response(RagstoneError(ErrorCode.INVALID_REQUEST, _slow_detail(timeout_s)), TOO_SLOW)
    # Else the rest of the body would be waited for, to find the next request behind it.
    response.headers["Connection"] = "close"
    return response


def _large_detail(limit: int) -> str:
    return f"The body may have {limit} bytes; send less at once."


def _slow_detail(timeout_s: float) -> str:
    return f"The body did not arrive within {timeout_s:g} s; send it without pauses."
