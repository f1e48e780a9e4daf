"""Doors for golden questions: see them, import reviewed ones, have some proposed."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from services.gateway.app.common import PROBLEMS, Cursor, GatewayOf, Limit, WriteSpace
from services.shared.contracts.golden import (
    GoldenImport,
    GoldenImported,
    GoldenList,
    GoldenMakeRequest,
    GoldenState,
    StartedJob,
)
from services.shared.kit.request_context import request_id

GOLDEN_PATH = "/v1/golden"

router = APIRouter(tags=["golden questions"], responses=PROBLEMS)

States = Annotated[list[GoldenState] | None, Query(description="Only questions in one of these states")]
Flagged = Annotated[bool | None, Query(description="Only those to look at again, or only the others")]


@router.get(GOLDEN_PATH)
async def list_golden(
    gateway: GatewayOf,
    space: WriteSpace,
    state: States = None,
    flagged: Flagged = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> GoldenList:
    """The space's golden questions by id, with counts by state."""
    return await gateway.golden.page(space, states=state, flagged=flagged, limit=limit, cursor=cursor)


@router.put(GOLDEN_PATH)
async def import_golden(sent: GoldenImport, gateway: GatewayOf, space: WriteSpace) -> GoldenImported:
    """Add reviewed questions; the same id replaces. All of them are taken in, or none."""
    return await gateway.curate.put(space, sent)


@router.post("/v1/golden/make", status_code=202)
async def make_golden(
    wanted: GoldenMakeRequest, response: Response, gateway: GatewayOf, space: WriteSpace
) -> StartedJob:
    """Have questions proposed from the documents, in the background; an owner approves or rejects them."""
    started = await gateway.curate.make(space, wanted, request_id())
    response.headers["Location"] = f"/v1/jobs/{started.job_id}"
    return started


@router.delete("/v1/golden/{id:path}", status_code=204)
async def remove_golden(id: str, gateway: GatewayOf, space: WriteSpace) -> None:
    """Forget a golden question."""
    await gateway.golden.remove(space, id)
