"""The gateway's HTTP application: all doors, one limit on bodies, and readiness."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware import Middleware

from services.gateway.app import (
    agents,
    api_docs,
    calibrations,
    documents,
    evaluations,
    feedback,
    gaps,
    golden,
    indexes,
    jobs,
    keys,
    later,
    openai,
    operations,
    pages,
    questions,
    widget,
)
from services.gateway.app.callers import OPEN, Callers
from services.gateway.app.described import describe
from services.gateway.app.foreign_pages import ForeignPages
from services.gateway.app.limits import BodyLimit, json_max_bytes
from services.gateway.app.openai_errors import OpenAIErrors
from services.gateway.app.origins import OwnOrigin
from services.gateway.app.rates import AnswersAtOnce, RateLimits
from services.gateway.app.safe_headers import SafeHeaders
from services.gateway.app.shells import SourceShell
from services.gateway.settings import GatewaySettings
from services.gateway.wiring.flows import Gateway
from services.shared.contracts.health import Readiness
from services.shared.kit.http_app import service_app
from services.shared.kit.http_client import without_addresses

NEEDED = ("catalog", "retriever", "generator")
"""Parts without which no question is answered; the others are shown only."""

DOORS = (
    # Before the door of one question, which takes the same path.
    *(later, gaps, questions, documents, jobs, evaluations, golden, feedback, calibrations, indexes, keys, openai),
    *(pages, widget, api_docs, operations),
)


async def _nothing_to_close() -> None:
    pass


def gateway_app(gateway: Gateway, *, close: Callable[[], Awaitable[None]] = _nothing_to_close) -> FastAPI:
    """The application over a wired gateway; ``close`` runs at the end."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with agents.serving_agents(app):
            yield
        await close()

    app = service_app(
        service="gateway",
        title="Ragstone",
        lifespan=lifespan,
        ready=_ready,
        metrics=gateway.operations.metrics,
        begins_traces=True,
    )
    app.state.gateway = gateway
    # Around the request's id, whose own refusal is an answer too.
    app.user_middleware.insert(0, Middleware(SafeHeaders))
    app.user_middleware.append(Middleware(SourceShell))
    # Around all that may refuse.
    app.user_middleware.append(Middleware(OpenAIErrors))
    app.user_middleware.append(Middleware(ForeignPages, door=gateway.door))
    app.user_middleware.append(Middleware(Callers, door=gateway.door, trusted=gateway.settings.trusted_proxies))
    app.user_middleware.append(Middleware(OwnOrigin, allowed=gateway.settings.allowed_origins))
    app.user_middleware.append(Middleware(RateLimits, limits=gateway.limits))
    # So far inside that a refusal carries the request's id and becomes a problem document.
    body_timeout_s = gateway.settings.body_timeout_s
    app.user_middleware.append(Middleware(BodyLimit, larger=_larger(gateway.settings), timeout_s=body_timeout_s))
    app.user_middleware.append(Middleware(AnswersAtOnce, limits=gateway.limits))
    for door in DOORS:
        # An included router would build its routes a second time, which the first request waits for.
        app.router.routes.extend(door.router.routes)
    app.router.routes.extend(agents.ROUTES)
    describe(app, OPEN)
    return app


def _larger(settings: GatewaySettings) -> dict[str, int]:
    """Paths that take more than a question, each with its limit in bytes."""
    questions_bytes = json_max_bytes(settings.document_max_bytes)
    return {
        documents.UPLOAD_PATH: settings.body_max_bytes,
        evaluations.EVALUATIONS_PATH: questions_bytes,
        golden.GOLDEN_PATH: questions_bytes,
    }


async def _ready(app: FastAPI) -> Readiness:
    gateway: Gateway = app.state.gateway
    parts = await gateway.parts.look()
    if await gateway.door.strangers_may_come():
        parts = {
            name: part.model_copy(update={"detail": without_addresses(part.detail)}) for name, part in parts.items()
        }
    return Readiness(ready=all(parts[name].ready for name in NEEDED), parts=parts)
