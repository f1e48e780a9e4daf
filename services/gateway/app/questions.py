"""Doors for questions: ask and search."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request, Response

from services.gateway.app.common import PROBLEMS, CallerOf, GatewayOf, VisitedSpace
from services.gateway.app.later import LATER, LINES, accepted
from services.gateway.app.later import fresh as wanted_fresh
from services.gateway.app.streams import EVENTS, ClientGoneError, Named, event_stream, unless_gone
from services.gateway.domain.asked_later import wants_it_later
from services.gateway.flow.ask import AskEvent
from services.shared.contracts.answers import Answer, AskRequest, SentenceEvent, SourcesEvent, StageEvent
from services.shared.contracts.search import SearchRequest, SearchResponse
from services.shared.kit.request_context import request_id

router = APIRouter(tags=["questions"], responses=PROBLEMS)

_CLIENT_GONE = 499
"""For the log alone; the client is not there to read it."""

_EVENT_NAME: dict[type[Any], str] = {
    StageEvent: "stage",
    SourcesEvent: "sources",
    SentenceEvent: "sentence",
    Answer: "answer",
}


@router.post("/v1/ask", response_model=Answer, responses={**PROBLEMS, **EVENTS, **LATER}, openapi_extra=LINES)
async def ask(
    asked: AskRequest, request: Request, gateway: GatewayOf, space: VisitedSpace, caller: CallerOf
) -> Answer | Response:
    """Answer a question from the documents, each sentence cited; say so when they do not answer it.

    As events: stage, sources, sentence, and answer (the whole Answer) or error last. An equal question that was
    answered before gets that answer again (cached: true) while nothing that it rests on changed; with the header
    Cache-Control: no-cache it is answered anew. With Prefer: respond-async it becomes a job (202), whose result the
    Answer is; a public key, which could not look at that, is answered at once.
    """
    fresh = wanted_fresh(request)
    if wants_it_later(request.headers.getlist("prefer")) and not caller.public:
        return accepted(await gateway.later.one(space, asked, caller, request_id(), fresh=fresh))
    if asked.stream or "text/event-stream" in request.headers.get("accept", "").lower():
        return await event_stream(_named(gateway.ask.events(space, asked, request_id(), caller.payer, fresh=fresh)))
    try:
        return await unless_gone(request, gateway.ask.answer(space, asked, request_id(), caller.payer, fresh=fresh))
    except ClientGoneError:
        return Response(status_code=_CLIENT_GONE)


@router.post("/v1/search", response_model=SearchResponse)
async def search(
    asked: SearchRequest, request: Request, gateway: GatewayOf, space: VisitedSpace
) -> SearchResponse | Response:
    """Find passages, without writing."""
    try:
        return await unless_gone(request, gateway.find.search(space, asked))
    except ClientGoneError:
        return Response(status_code=_CLIENT_GONE)


async def _named(events: AsyncGenerator[AskEvent, None]) -> AsyncGenerator[Named, None]:
    async with aclosing(events):
        async for event in events:
            yield _EVENT_NAME[type(event)], event
