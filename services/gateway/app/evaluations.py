"""Doors for evaluations: order one, see what came out."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response

from services.gateway.app.common import PROBLEMS, Cursor, GatewayOf, Limit, WriteSpace
from services.gateway.app.described import problems
from services.shared.contracts.evaluation import Evaluation, EvaluationList, EvaluationRequest, StartedEvaluation
from services.shared.kit.request_context import request_id

EVALUATIONS_PATH = "/v1/evaluations"

router = APIRouter(tags=["evaluations"], responses=PROBLEMS)

REPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The report: one page without any other file, or Markdown",
        "content": {
            "text/html": {"schema": {"type": "string"}},
            "text/markdown": {"schema": {"type": "string"}},
        },
    }
}

_REPORT_HEADERS = {
    # The page brings its own styles, scripts and pictures. It repeats what models and documents said, so it may
    # fetch nothing, and is of no origin: a script that slipped in could not speak to this gateway.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_MEDIA_TYPE = {"html": "text/html", "markdown": "text/markdown"}

As = Annotated[Literal["html", "markdown"], Query(alias="as", description="A page for browsers, or Markdown")]


@router.post(EVALUATIONS_PATH, status_code=202, responses=problems(404))
async def start_evaluation(
    ordered: EvaluationRequest, response: Response, gateway: GatewayOf, space: WriteSpace
) -> StartedEvaluation:
    """Evaluate the space in the background; a job asks every question as a client would.

    Without questions, the approved and unflagged golden questions are asked as they are at this moment.
    """
    started = await gateway.evaluate.start(space, ordered, request_id())
    response.headers["Location"] = f"{EVALUATIONS_PATH}/{started.id}"
    return started


@router.get(EVALUATIONS_PATH)
async def list_evaluations(
    gateway: GatewayOf, space: WriteSpace, limit: Limit = 50, cursor: Cursor = None
) -> EvaluationList:
    """The space's evaluations, newest first, those under way too."""
    return await gateway.evaluations.page(space, limit=limit, cursor=cursor)


@router.get("/v1/evaluations/{id}", responses=problems(409))
async def get_evaluation(id: str, gateway: GatewayOf, space: WriteSpace) -> Evaluation:
    """A finished evaluation, whole: every question's outcome and what it comes to; 409 while it is not finished."""
    return await gateway.evaluations.one(space, id)


@router.get("/v1/evaluations/{id}/report", response_class=Response, responses={**problems(409), **REPORT})
async def get_report(id: str, gateway: GatewayOf, space: WriteSpace, form: As = "html") -> Response:
    """A finished evaluation's report, for people."""
    text = await gateway.evaluations.report(space, id, form)
    return Response(text, media_type=_MEDIA_TYPE[form], headers=_REPORT_HEADERS)
