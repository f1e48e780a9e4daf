"""The gateway's HTTP application: all doors, one limit on bodies, and readiness."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware import Middleware

from services.gateway.app import (
    calibrations,
    documents,
    evaluations,
    feedback,
    golden,
    indexes,
    jobs,
    pages,
    questions,
)
from services.gateway.app.callers import Callers
from services.gateway.app.limits import BodyLimit, json_max_bytes
from services.gateway.app.origins import OwnOrigin
from services.gateway.settings import GatewaySettings
from services.gateway.wiring import Gateway
from services.shared.contracts.health import Readiness
from services.shared.kit.http_app import service_app

NEEDED = ("catalog", "retriever", "generator")
"""Parts without which no question is answered; the others are shown only."""


async def _nothing_to_close() -> None:
    pass


def gateway_app(gateway: Gateway, *, close: Callable[[], Awaitable[None]] = _nothing_to_close) -> FastAPI:
    """The application over a wired gateway; ``close`` runs at the end."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await close()

    app = service_app(service="gateway", title="Ragstone", lifespan=lifespan, ready=_ready)
    app.state.gateway = gateway
    app.user_middleware.append(Middleware(Callers))
    app.user_middleware.append(Middleware(OwnOrigin, allowed=gateway.settings.allowed_origins))
    # Innermost, so that a refusal carries the request's id and becomes a problem document.
    app.user_middleware.append(Middleware(BodyLimit, larger=_larger(gateway.settings)))
    for door in (questions, documents, jobs, evaluations, golden, feedback, calibrations, indexes, pages):
        app.include_router(door.router)
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
    return Readiness(ready=all(parts[name].ready for name in NEEDED), parts=parts)
