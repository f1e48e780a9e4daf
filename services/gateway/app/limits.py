"""No body is read beyond its limit."""

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.http_app import problem_response

MESSAGE_MAX_BYTES = 1_000_000
"""Largest body of anything but an upload or a set of questions: a question with its history."""


def json_max_bytes(text_bytes: int) -> int:
    """Largest JSON body that carries so much text; a character may take three times its bytes (such as \\u0434)."""
    return 3 * text_bytes + MESSAGE_MAX_BYTES


class BodyLimit:
    """Answers 413 at once when the announced length is too large, else as soon as too much has come.

    ``larger`` holds the limits of those paths that take more than a question.
    Starlette's own limiter answers an announced length in plain text, which no client of ours expects.
    """

    def __init__(self, app: ASGIApp, *, larger: Mapping[str, int]) -> None:
        self.app = app
        self._larger = larger

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self._larger.get(scope["path"], MESSAGE_MAX_BYTES)
        detail = f"The body may have {limit} bytes; send less at once."
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > limit:
            await problem_response(RagstoneError(ErrorCode.BODY_TOO_LARGE, detail))(scope, receive, send)
            return
        received = 0

        async def receive_within_limit() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                if received > limit:
                    # FastAPI passes an HTTPException on where it would turn another into "bad body".
                    raise HTTPException(413, detail)
            return message

        await self.app(scope, receive_within_limit, send)
