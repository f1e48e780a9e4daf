"""Doors for gaps: the questions that the content does not answer, and what an owner makes of them."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from services.gateway.app.common import PROBLEMS, Cursor, GatewayOf, Limit, WriteSpace
from services.gateway.app.described import problems
from services.shared.contracts.gaps import AddedFact, Gap, GapList, GapState, NewFact
from services.shared.kit.request_context import request_id

router = APIRouter(tags=["gaps"], responses=PROBLEMS)

States = Annotated[list[GapState] | None, Query(description="Only gaps in one of these states")]


@router.get("/v1/gaps")
async def list_gaps(
    gateway: GatewayOf, space: WriteSpace, state: States = None, limit: Limit = 50, cursor: Cursor = None
) -> GapList:
    """The space's gaps: those that were asked for and judged bad most often first."""
    return await gateway.gap_book.page(space, states=state, limit=limit, cursor=cursor)


@router.post("/v1/gaps/{id}/fact", status_code=202, responses=problems(409))
async def add_fact(id: str, fact: NewFact, response: Response, gateway: GatewayOf, space: WriteSpace) -> AddedFact:
    """Say what is true; it becomes a document of type fact, and the question is answered once the job succeeded."""
    added = await gateway.gaps.add_fact(space, id, fact, request_id())
    response.headers["Location"] = f"/v1/jobs/{added.job_id}"
    return added


@router.post("/v1/gaps/{id}/dismiss", responses=problems(409))
async def dismiss_gap(id: str, gateway: GatewayOf, space: WriteSpace) -> Gap:
    """Nothing is to be done about it; questions like it are counted and stay dismissed."""
    return await gateway.gap_book.dismiss(space, id)


@router.post("/v1/gaps/{id}/reopen")
async def reopen_gap(id: str, gateway: GatewayOf, space: WriteSpace) -> Gap:
    """Something is to be done about it after all. A fact that was added stays until its document is deleted."""
    return await gateway.gap_book.reopen(space, id)
