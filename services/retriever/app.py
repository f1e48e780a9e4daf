"""The retriever's HTTP doors; internal, for the gateway and the generator."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from fastapi import FastAPI, HTTPException, Request

from services.retriever.adapters.metrics import RetrieverMetrics
from services.retriever.settings import Settings
from services.retriever.wiring import Retriever, running
from services.shared.contracts.forgetting import ForgetRequest, ForgetResponse
from services.shared.contracts.grounding import GroundRequest, GroundResponse
from services.shared.contracts.health import PartHealth, Readiness
from services.shared.contracts.search import RetrieveRequest, ScoreRequest, ScoreResponse, SearchResponse
from services.shared.contracts.ways import TuningInUse
from services.shared.kit.http_app import add_metrics_door, service_app

T = TypeVar("T")

CALLER_LEFT = 499
"""Nobody reads this status; it marks the access line."""


def create_app(
    settings: Settings,
    run: Callable[[Settings, RetrieverMetrics], AbstractAsyncContextManager[Retriever]] = running,
) -> FastAPI:
    """The application; everything is built when it starts, not before."""
    metrics = RetrieverMetrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with run(settings, metrics) as retriever:
            app.state.retriever = retriever
            yield

    app = service_app(service="retriever", title="Ragstone retriever", lifespan=lifespan, ready=_ready, metrics=metrics)
    add_metrics_door(app, metrics)

    @app.post("/retrieve")
    async def retrieve(body: RetrieveRequest, request: Request) -> SearchResponse:
        """Passages for a question, and whether they answer it."""
        return metrics.found(await _while_connected(request, _retriever(request).retrieval.retrieve(body)))

    @app.post("/score")
    async def score(body: ScoreRequest, request: Request) -> ScoreResponse:
        """How well texts fit a question."""
        return await _while_connected(request, _retriever(request).scoring.score(body))

    @app.post("/ground")
    async def ground(body: GroundRequest, request: Request) -> GroundResponse:
        """Whether texts support claims."""
        return await _while_connected(request, _retriever(request).claims.ground(body))

    @app.post("/forget")
    async def forget(body: ForgetRequest, request: Request) -> ForgetResponse:
        """Take deleted versions out of the indexes."""
        return await _retriever(request).forgetting.forget(body)

    @app.post("/warmup")
    async def warmup(request: Request) -> PartHealth:
        """Have the models loaded now; which are here then."""
        return await _retriever(request).warming.warm_up()

    @app.get("/tuning")
    async def tuning(request: Request) -> TuningInUse:
        """By which settings passages are found."""
        return TuningInUse(settings=_retriever(request).tuning)

    return app


def _retriever(request: Request) -> Retriever:
    retriever: Retriever = request.app.state.retriever
    return retriever


async def _ready(app: FastAPI) -> Readiness:
    retriever: Retriever = app.state.retriever
    return await retriever.readiness.now()


async def _while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do the work for as long as the caller waits; the server itself would go on for nobody."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise HTTPException(CALLER_LEFT, "The caller left.")
    finally:
        leaving.cancel()
        working.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
