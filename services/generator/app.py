"""The generator's HTTP door."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse

from services.generator.adapters.metrics import GeneratorMetrics
from services.generator.flow.write import Event
from services.generator.settings import GeneratorSettings
from services.generator.wiring import Generator, running
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import PartHealth, Readiness
from services.shared.contracts.ways import WriterInUse
from services.shared.contracts.writing import Decomposed, DecomposeRequest, WriteRequest
from services.shared.kit.http_app import add_metrics_door, problem_of, service_app
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import RedisSettings, ServiceSettings

log = get_logger(__name__)

NDJSON = "application/x-ndjson"
CLIENT_LEFT = 499
"""Status in the log of a request whose client is gone; nobody receives it."""

Answered = TypeVar("Answered")


def create_app(
    settings: GeneratorSettings | None = None,
    services: ServiceSettings | None = None,
    redis: RedisSettings | None = None,
) -> FastAPI:
    """The app; settings come from the environment unless given."""
    metrics = GeneratorMetrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        parts = (settings or GeneratorSettings(), services or ServiceSettings(), redis or RedisSettings())
        async with running(*parts) as generator:
            app.state.generator = generator
            metrics.watch(generator.model_state)
            yield

    app = service_app(service="generator", title="Ragstone generator", lifespan=lifespan, ready=_ready, metrics=metrics)
    add_metrics_door(app, metrics)

    @app.post("/write", response_class=StreamingResponse)
    async def write(request: Request, body: WriteRequest) -> StreamingResponse:
        """Lines of WriteEvent, each sentence as soon as it is checked; the last line is `done` or an error."""
        generator: Generator = request.app.state.generator
        return StreamingResponse(_lines(metrics.writing(generator.flow.begin(body))), media_type=NDJSON)

    @app.post("/decompose", response_model=Decomposed)
    async def decompose(request: Request, body: DecomposeRequest) -> Decomposed | Response:
        """The questions that a question is made of; none where it has to be searched as it is."""
        generator: Generator = request.app.state.generator
        return await _while_there(request, _counted(generator.decomposing.decompose(body), metrics))

    @app.get("/writer")
    async def writer(request: Request) -> WriterInUse:
        """Who would write an answer now, and by which settings."""
        generator: Generator = request.app.state.generator
        return generator.in_use()

    @app.post("/warmup")
    async def warmup(request: Request) -> PartHealth:
        """Loads the model, as before a busy hour, and says what writes then."""
        generator: Generator = request.app.state.generator
        return await generator.warm_up()

    return app


async def _counted(work: Coroutine[Any, Any, Decomposed], metrics: GeneratorMetrics) -> Decomposed:
    return metrics.decomposed(await work)


async def _ready(app: FastAPI) -> Readiness:
    generator: Generator = app.state.generator
    return await generator.readiness()


async def _while_there(request: Request, work: Coroutine[Any, Any, Answered]) -> Answered | Response:
    """What the work comes to; a client that leaves stops it, which no framework does for an answer in one piece."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_left(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else Response(status_code=CLIENT_LEFT)
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(request: Request) -> None:
    """Returns when the client has closed the connection; the body is read already."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _lines(events: AsyncGenerator[Event, None]) -> AsyncIterator[str]:
    """The events as lines; what fails after the start becomes the last line."""
    try:
        async with aclosing(events):
            async for event in events:
                yield event.model_dump_json() + "\n"
    except RagstoneError as error:
        yield _error_line(error)
    except Exception:
        log.exception("writing_failed")
        detail = "Something went wrong while writing; the generator's log has it under this request id."
        yield _error_line(RagstoneError(ErrorCode.INTERNAL, detail))


def _error_line(error: RagstoneError) -> str:
    return json.dumps({"event": "error", **problem_of(error).model_dump(mode="json")}) + "\n"
