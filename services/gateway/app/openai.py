"""The OpenAI-compatible door, for chat clients that exist already."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter, Request, Response
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel

from services.gateway.app.common import PROBLEMS, CallerOf, GatewayOf, VisitedSpace
from services.gateway.app.openai_errors import stream_error
from services.gateway.app.streams import EVENTS, KEEPALIVE_S, ClientGoneError, never_silent, unless_gone
from services.gateway.domain.chat import Telling, asked_of, completion
from services.gateway.flow.ask import AskEvent
from services.shared.contracts.answers import Answer, SentenceEvent
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.openai_chat import MODEL, ChatCompletion, ChatRequest, Model, ModelList
from services.shared.kit.logs import get_logger
from services.shared.kit.request_context import request_id

log = get_logger(__name__)

router = APIRouter(tags=["openai"], responses=PROBLEMS)

_CLIENT_GONE = 499
_DONE = b"data: [DONE]\n\n"
_THE_MODEL = Model(id=MODEL, object="model", created=0, owned_by="ragstone")


@router.get("/v1/models")
async def list_models(_: VisitedSpace) -> ModelList:
    """The one model that there is."""
    return ModelList(object="list", data=[_THE_MODEL])


@router.get("/v1/models/{id:path}")
async def get_model(id: str, _: VisitedSpace) -> Model:
    """One model."""
    if id != MODEL:
        raise RagstoneError(ErrorCode.ROUTE_NOT_FOUND, f"There is no model {id[:80]!r}; there is {MODEL}.")
    return _THE_MODEL


@router.post("/v1/chat/completions", response_model=ChatCompletion, responses={**PROBLEMS, **EVENTS})
async def chat(
    said: ChatRequest, request: Request, gateway: GatewayOf, space: VisitedSpace, caller: CallerOf
) -> ChatCompletion | Response:
    """Answer the last user message from the documents; a chat client's other parameters are passed over."""
    asked = asked_of(said, gateway.settings.history_max_chars)
    id, created = f"chatcmpl-{request_id()}", int(time.time())
    base_url = str(request.base_url).rstrip("/")
    try:
        if said.stream:
            usage = said.stream_options is not None and bool(said.stream_options.include_usage)
            events = gateway.ask.events(space, asked, request_id(), caller.payer)
            telling = Telling(id=id, created=created, base_url=base_url)
            return await unless_gone(request, _streamed(_chunks(events, telling, usage=usage)))
        answer = await unless_gone(request, gateway.ask.answer(space, asked, request_id(), caller.payer))
    except ClientGoneError:
        return Response(status_code=_CLIENT_GONE)
    return completion(answer, id=id, created=created, base_url=base_url)


async def _chunks(
    events: AsyncGenerator[AskEvent, None], telling: Telling, *, usage: bool
) -> AsyncGenerator[bytes, None]:
    """The chunks on the wire, the first as soon as there is something to say."""
    began = False
    async with aclosing(events):
        async for event in events:
            if not isinstance(event, SentenceEvent | Answer):
                continue
            if not began:
                began = True
                yield _data(telling.begin())
            if isinstance(event, SentenceEvent):
                yield _data(telling.sentence(event.text))
            else:
                for chunk in telling.end(event, usage=usage):
                    yield _data(chunk)
    yield _DONE


async def _streamed(chunks: AsyncGenerator[bytes, None]) -> EventSourceResponse:
    """The chunks as a response; what fails before there is anything to say is a plain error, which clients retry.

    It is waited for only as long as a stream may be silent.
    """
    first = asyncio.ensure_future(anext(chunks))
    try:
        await asyncio.wait({first}, timeout=KEEPALIVE_S)
        if first.done():
            first.result()
    except BaseException:
        first.cancel()
        raise
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventSourceResponse(never_silent(_to_the_end(first, chunks), KEEPALIVE_S), headers=headers)


async def _to_the_end(first: asyncio.Future[bytes], rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(rest):
            yield await first
            async for chunk in rest:
                yield chunk
    except RagstoneError as error:
        yield stream_error(error)
    except Exception:
        log.exception("stream_failed")
        detail = "Something went wrong that should not have; the log has it under this request id."
        yield stream_error(RagstoneError(ErrorCode.INTERNAL, detail))


def _data(message: BaseModel) -> bytes:
    return format_sse_event(data_str=message.model_dump_json())
