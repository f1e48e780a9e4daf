"""Doors for questions that are answered later: one that prefers it, and many at once as lines."""

import codecs
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import Scope

from services.gateway.app.common import PROBLEMS, CallerOf, GatewayOf, ReadSpace
from services.gateway.app.uploads import NDJSON, invalid
from services.gateway.domain.asked_later import RESPOND_ASYNC
from services.gateway.domain.limiting import Kind
from services.gateway.flow.limiting import too_many
from services.shared.contracts.answers import AskRequest
from services.shared.contracts.documents import SubmittedJobs
from services.shared.contracts.jobs import Job
from services.shared.kit.request_context import request_id

LINES: dict[str, Any] = {
    "requestBody": {
        "content": {
            "application/x-ndjson": {
                "schema": {
                    "type": "string",
                    "description": "One question as JSON a line, at most 1000; each is answered later, by its own job",
                }
            }
        }
    }
}
"""For OpenAPI, which shows one door a path."""

LATER: dict[int | str, dict[str, Any]] = {
    202: {
        "model": Job | SubmittedJobs,
        "description": "Answered later, because of Prefer: respond-async (a job), or of a body of lines (their jobs)",
    }
}


class LinesRoute(APIRoute):
    """Takes bodies of lines where the same path takes JSON otherwise."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Nothing but a body of lines."""
        media_type = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        return super().matches(scope) if media_type in NDJSON else (Match.NONE, {})


router = APIRouter(tags=["questions"], responses=PROBLEMS, route_class=LinesRoute)


@router.post("/v1/ask", status_code=202, include_in_schema=False)
async def ask_many(request: Request, gateway: GatewayOf, space: ReadSpace, caller: CallerOf) -> SubmittedJobs:
    """Answer every question later; one line that is at fault queues none."""
    lines = _questions(await request.body())
    gateway.later.check(lines)
    if len(lines) > 1:
        # The request itself was counted as the first one.
        standing = await gateway.limits.charge(caller, Kind.QUESTION, len(lines), counted=1)
        if standing is not None:
            request.state.standing = standing
            if not standing.allowed:
                raise too_many(standing, len(lines))
    return await gateway.later.many(space, lines, caller, request_id(), fresh=fresh(request))


def fresh(request: Request) -> bool:
    """Does the client want nothing that was given before?"""
    return "no-cache" in request.headers.get("cache-control", "").lower()


def accepted(job: Job) -> Response:
    """The receipt of one question."""
    headers = {"Location": f"/v1/jobs/{job.id}", "Preference-Applied": RESPOND_ASYNC}
    return Response(job.model_dump_json(), status_code=202, headers=headers, media_type="application/json")


def _questions(body: bytes) -> list[tuple[int, AskRequest]]:
    """Every line with its number; raises RequestValidationError that names the first one at fault."""
    body = body.removeprefix(codecs.BOM_UTF8)
    lines = [(number, line) for number, line in enumerate(body.split(b"\n"), start=1) if line.strip()]
    return [(number, _question(number, line)) for number, line in lines]


def _question(number: int, line: bytes) -> AskRequest:
    try:
        return AskRequest.model_validate_json(line)
    except ValidationError as error:
        raise invalid(error, f"line {number}") from error
