"""The generator's HTTP door."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from services.generator.flow.write import Event
from services.generator.settings import GeneratorSettings
from services.generator.wiring import Generator, running
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import Readiness
from services.shared.contracts.writing import WriteRequest
from services.shared.kit.http_app import problem_of, service_app
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import ServiceSettings

log = get_logger(__name__)

NDJSON = "application/x-ndjson"


def create_app(settings: GeneratorSettings | None = None, services: ServiceSettings | None = None) -> FastAPI:
    """The app; settings come from the environment unless given."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(settings or GeneratorSettings(), services or ServiceSettings()) as generator:
            app.state.generator = generator
            yield

    app = service_app(service="generator", title="Ragstone generator", lifespan=lifespan, ready=_ready)

    @app.post("/write", response_class=StreamingResponse)
    async def write(request: Request, body: WriteRequest) -> StreamingResponse:
        """Lines of WriteEvent, each sentence as soon as it is checked; the last line is `done` or an error."""
        generator: Generator = request.app.state.generator
        return StreamingResponse(_lines(generator.flow.begin(body)), media_type=NDJSON)

    return app


async def _ready(app: FastAPI) -> Readiness:
    generator: Generator = app.state.generator
    return await generator.readiness()


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
