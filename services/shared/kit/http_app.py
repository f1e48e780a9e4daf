"""The common front of every HTTP service: request ids, problem documents, health."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.shared.contracts.errors import ErrorCode, Problem, RagstoneError
from services.shared.contracts.health import Health, Readiness
from services.shared.kit.logs import get_logger
from services.shared.kit.metrics import CONTENT_TYPE, METRICS_PATH, Metrics
from services.shared.kit.request_context import REQUEST_ID_HEADER, enter_request, note_problem, request_id
from services.shared.kit.requests_seen import Seen, fits, leaves, watching
from services.shared.kit.version import product_version

log = get_logger(__name__)

PROBLEM_TYPE = "application/problem+json"

_CODE_OF_STATUS = {
    404: ErrorCode.ROUTE_NOT_FOUND,
    405: ErrorCode.METHOD_NOT_ALLOWED,
    413: ErrorCode.BODY_TOO_LARGE,
    415: ErrorCode.UNSUPPORTED_MEDIA_TYPE,
}

UNREADY: dict[int | str, dict[str, Any]] = {503: {"model": Readiness, "description": "A part that is needed is not"}}

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
ReadyCheck = Callable[[FastAPI], Awaitable[Readiness]]


def service_app(
    *,
    service: str,
    title: str,
    lifespan: Lifespan,
    ready: ReadyCheck,
    metrics: Metrics,
    begins_traces: bool = False,
) -> FastAPI:
    """A FastAPI app that answers /healthz and /readyz, counts its requests and turns every error into a problem
    document. ``begins_traces``: its requests are the first that we hear of something."""
    # The pages that FastAPI makes of the document fetch their scripts from elsewhere.
    app = FastAPI(title=title, version=product_version(), lifespan=lifespan, docs_url=None, redoc_url=None)
    app.add_middleware(RequestContext, seen=Seen(metrics, begins_traces=begins_traces))
    app.add_exception_handler(RagstoneError, _ragstone_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)

    @app.get("/healthz", tags=["health"])
    async def healthz() -> Health:
        """Alive: the process answers."""
        return Health(status="ok", service=service, version=product_version())

    @app.get("/readyz", tags=["health"], response_model=Readiness, responses=UNREADY)
    async def readyz(request: Request) -> JSONResponse:
        """Ready to work, each part named; 503 while one is not."""
        readiness = await ready(request.app)
        return JSONResponse(readiness.model_dump(mode="json"), status_code=200 if readiness.ready else 503)

    return app


def add_metrics_door(app: FastAPI, metrics: Metrics) -> None:
    """/metrics of a service that only our own can reach."""

    @app.get(METRICS_PATH, tags=["health"], include_in_schema=False)
    async def page() -> Response:
        """Everything for Prometheus."""
        return Response(metrics.page(), media_type=CONTENT_TYPE)


def problem_response(error: RagstoneError, status: int | None = None) -> JSONResponse:
    """The wire form of an error; ``status`` when it is not that of the error's code."""
    problem = problem_of(error)
    if status is not None:
        problem = problem.model_copy(update={"status": status})
    headers = {} if error.retry_after_s is None else {"Retry-After": str(error.retry_after_s)}
    return JSONResponse(
        problem.model_dump(mode="json"), status_code=problem.status, media_type=PROBLEM_TYPE, headers=headers
    )


def problem_of(error: RagstoneError) -> Problem:
    """The problem document of an error, with this request's id."""
    note_problem(error.code)
    return Problem(
        type=f"urn:ragstone:problem:{error.code}",
        title=error.code.replace("_", " ").capitalize(),
        status=error.status,
        detail=error.detail,
        code=error.code,
        request_id=request_id(),
    )


async def _ragstone_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RagstoneError)
    return problem_response(error)


async def _validation_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    detail = _unread_json(request, error) or describe_validation(error)
    return problem_response(RagstoneError(ErrorCode.INVALID_REQUEST, detail))


def _unread_json(request: Request, error: RequestValidationError) -> str | None:
    """Says so when a body was not taken for JSON only because its header does not call it that."""
    sent_type = request.headers.get("content-type", "")
    whole_body = any(tuple(fault["loc"]) == ("body",) and fault["type"] != "missing" for fault in error.errors())
    if not whole_body or "json" in sent_type.lower():
        return None
    if not sent_type:
        return "The header Content-Type: application/json is missing, so the body was not read as JSON; send it too."
    return f"The body was not read as JSON, since its Content-Type is {sent_type[:80]!r}; send application/json."


def describe_validation(error: RequestValidationError) -> str:
    """The faulty fields of a request as one sentence each."""
    parts = []
    for fault in error.errors()[:8]:
        # Without it where only one line of the body was read as JSON; its message says enough.
        if fault["type"] == "json_invalid" and "ctx" in fault:
            why = fault["ctx"]["error"]
            return f"The body is not JSON (near character {int(fault['loc'][-1]) + 1}): {why}."
        where = ".".join(str(step) for step in fault["loc"] if step != "body") or "body"
        parts.append(f"{where}: {fault['msg']}")
    return "; ".join(parts)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = _CODE_OF_STATUS.get(error.status_code, ErrorCode.INVALID_REQUEST)
    if error.status_code >= 500:
        code = ErrorCode.INTERNAL
    detail = {
        ErrorCode.ROUTE_NOT_FOUND: f"There is no route {request.url.path}; see /openapi.json for all of them.",
        ErrorCode.METHOD_NOT_ALLOWED: f"{request.url.path} does not take {request.method}.",
    }.get(code, str(error.detail))
    response = problem_response(RagstoneError(code, detail), error.status_code)
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    if code is ErrorCode.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = _allowed(request)
    return response


def _allowed(request: Request) -> str:
    """The methods of every route of this path; the framework names those of the first one."""
    routes = [route for route in leaves(request.app.routes) if fits(route, request.url.path)]
    return ", ".join(sorted({method for route in routes for method in getattr(route, "methods", None) or ()}))


class RequestContext:
    """Gives each request its id, answers 500 as a problem document, and has one access line written and counted."""

    def __init__(self, app: ASGIApp, *, seen: Seen) -> None:
        self.app = app
        self._seen = seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        chosen = enter_request(Headers(scope=scope).get(REQUEST_ID_HEADER))
        with watching(self._seen, scope) as look:

            async def send_with_id(message: Message) -> None:
                if message["type"] == "http.response.start":
                    look.status = int(message["status"])
                    MutableHeaders(scope=message)[REQUEST_ID_HEADER] = chosen
                await send(message)

            try:
                await self.app(scope, receive, send_with_id)
            except Exception:
                log.exception("request_failed", path=scope["path"])
                if look.status:
                    raise
                detail = f"Something went wrong that should not have; the log has it under request id {chosen}."
                await problem_response(RagstoneError(ErrorCode.INTERNAL, detail))(scope, receive, send_with_id)
