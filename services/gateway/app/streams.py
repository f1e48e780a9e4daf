"""Server-sent events that never fall silent and never end without saying why, and clients that leave."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from fastapi import Request
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from pydantic import BaseModel

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.http_app import problem_of
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

KEEPALIVE_S = 5.0
"""Longest silence on a stream; half of what clients are promised."""

_EVENT = {
    "type": "object",
    "required": ["data"],
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}, "id": {"type": "string"}},
}
EVENTS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {"itemSchema": _EVENT}}}}
"""For OpenAPI: this route can answer with events."""

_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
"""Ends of lines by Unicode, though not in these streams: some clients split there, in the middle of an event."""

Named = tuple[str, BaseModel]
Worked = TypeVar("Worked")


class ClientGoneError(Exception):
    """Nobody waits for the answer any more."""


async def event_stream(events: AsyncGenerator[Named, None]) -> EventSourceResponse:
    """The events as a response that proxies neither keep nor hold back.

    The first event is awaited before anything is sent, so a request at fault gets a plain error.
    """
    first = await anext(events)
    return _response(_encoded(events, first=first))


def at_once(events: AsyncGenerator[Named, None], id_of: Callable[[BaseModel], str]) -> EventSourceResponse:
    """The same, begun before there is a first event, each with an id by which a client that comes back names it."""
    return _response(_encoded(events, id_of=id_of))


def _response(pieces: AsyncGenerator[bytes, None]) -> EventSourceResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventSourceResponse(never_silent(pieces, KEEPALIVE_S), headers=headers)


async def _encoded(
    events: AsyncGenerator[Named, None],
    *,
    first: Named | None = None,
    id_of: Callable[[BaseModel], str] | None = None,
) -> AsyncGenerator[bytes, None]:
    if first is not None:
        yield _event(*first)
    try:
        async with aclosing(events):
            async for name, data in events:
                yield _event(name, data, None if id_of is None else id_of(data))
    except RagstoneError as error:
        yield _event("error", problem_of(error))
    except Exception:
        log.exception("stream_failed")
        detail = "Something went wrong that should not have; the log has it under this request id."
        yield _event("error", problem_of(RagstoneError(ErrorCode.INTERNAL, detail)))


def _event(name: str, data: BaseModel, id: str | None = None) -> bytes:
    return format_sse_event(event=name, data_str=data.model_dump_json().translate(_LINE_ENDS), id=id)


async def never_silent(pieces: AsyncGenerator[bytes, None], every_s: float) -> AsyncIterator[bytes]:
    """The pieces, with a comment line whenever none came for ``every_s`` seconds.

    The pieces are made in a task of their own: leaving this iteration, even by cancellation, cancels that
    task, and the generator cleans up there undisturbed.
    """
    made: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=1)
    abandoned = False

    async def make() -> None:
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    await made.put(piece)
        finally:
            # Where nobody reads any more, put() would wait for ever.
            if not abandoned:
                await made.put(None)

    maker = asyncio.create_task(make())
    try:
        while True:
            try:
                piece = await asyncio.wait_for(made.get(), every_s)
            except TimeoutError:
                piece = KEEPALIVE_COMMENT
            if piece is None:
                break
            yield piece
    finally:
        abandoned = True
        maker.cancel()


async def unless_gone(request: Request, work: Coroutine[Any, Any, Worked]) -> Worked:
    """Do the work while the client waits for it; raises ClientGoneError, the work cancelled, when it left."""
    working = asyncio.create_task(work)
    gone = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGoneError
        return working.result()
    finally:
        working.cancel()
        gone.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
