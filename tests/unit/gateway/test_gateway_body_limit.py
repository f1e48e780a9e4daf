"""How much of a body is taken in before it is refused, and what of it reaches the application."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from services.gateway.app.limits import MESSAGE_MAX_BYTES, BodyLimit

PIECE = b"x" * 10_000
LARGER = {"/upload": 50_000}


class Endless:
    """A sender that does not stop, and counts what is taken of it."""

    def __init__(self, *, every_s: float = 0.0) -> None:
        self.taken = 0
        self._every_s = every_s

    async def receive(self) -> Message:
        await asyncio.sleep(self._every_s)
        self.taken += len(PIECE)
        return {"type": "http.request", "body": PIECE, "more_body": True}


async def sent_through(path: str, receive: Receive, *, timeout_s: float = 5.0) -> tuple[int, bytes | None]:
    """The status of the answer, and the body that the application has read; None when it did not begin."""
    began: list[bytes] = []
    answered: list[int] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        began.append(await Request(scope, receive).body())
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answered.append(message["status"])

    headers = [(b"transfer-encoding", b"chunked")]
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": path, "headers": headers}
    try:
        await BodyLimit(app, larger=LARGER, timeout_s=timeout_s)(scope, receive, send)
    except HTTPException as error:
        answered.append(error.status_code)
    return answered[0] if answered else 0, began[0] if began else None


@pytest.mark.parametrize(("path", "limit"), [("/ask", MESSAGE_MAX_BYTES), ("/upload", 50_000)])
async def test_an_endless_body_is_taken_in_to_its_limit_and_no_further(path: str, limit: int) -> None:
    sender = Endless()
    assert await sent_through(path, sender.receive) == (413, None)
    assert sender.taken == limit + len(PIECE)


async def test_an_endless_body_that_is_slow_is_cut_off_by_time() -> None:
    sender = Endless(every_s=0.05)
    assert await sent_through("/ask", sender.receive, timeout_s=0.2) == (408, None)
    assert sender.taken < 10 * len(PIECE)


@pytest.mark.parametrize("path", ["/ask", "/upload"])
async def test_a_body_in_pieces_arrives_whole_and_what_comes_after_it_too(path: str) -> None:
    async def played() -> AsyncIterator[Message]:
        for number in range(3):
            yield {"type": "http.request", "body": b"%d" % number, "more_body": number < 2}

    messages = played()
    assert await sent_through(path, lambda: anext(messages)) == (200, b"012")


async def test_a_client_that_leaves_while_it_sends_begins_nothing() -> None:
    async def gone() -> Message:
        return {"type": "http.disconnect"}

    assert await sent_through("/ask", gone) == (0, None)
