"""Doors for the indexes of a space: build a second one, compare, switch, go back, remove."""

from typing import Any

from fastapi import APIRouter, Response

from services.gateway.app.common import PROBLEMS, GatewayOf, WriteSpace
from services.gateway.app.described import problems
from services.shared.contracts.ids import IndexId
from services.shared.contracts.indexes import Index, IndexList, IndexPhase, NewIndex, Promotion
from services.shared.kit.request_context import request_id

router = APIRouter(tags=["indexes"], responses=PROBLEMS)

LATER: dict[int | str, dict[str, Any]] = {
    202: {"model": Index, "description": "Not level yet: it serves as soon as its job has brought it level"}
}


@router.get("/v1/indexes")
async def list_indexes(gateway: GatewayOf, space: WriteSpace) -> IndexList:
    """The index that serves, and those that are built or kept beside it."""
    return await gateway.index_book.page(space)


@router.post("/v1/indexes", status_code=202, responses=problems(409))
async def start_index(wanted: NewIndex, response: Response, gateway: GatewayOf, space: WriteSpace) -> Index:
    """Build a second index with another embedder in the background, while the first one serves."""
    index = await gateway.indexes.start(space, wanted, request_id())
    response.headers["Location"] = f"/v1/indexes/{index.id}"
    return index


@router.get("/v1/indexes/{id}")
async def get_index(id: IndexId, gateway: GatewayOf, space: WriteSpace) -> Index:
    """One index: how far it is, and how it compares with the one that serves."""
    return await gateway.index_book.one(space, id)


@router.post("/v1/indexes/rollback", responses={**problems(404, 409), **LATER})
async def roll_back(response: Response, gateway: GatewayOf, space: WriteSpace) -> Index:
    """Let the index that served before serve again."""
    return _told(await gateway.indexes.rollback(space, request_id()), response)


@router.post("/v1/indexes/{id}/promote", responses={**problems(409), **LATER})
async def promote_index(
    id: IndexId, response: Response, gateway: GatewayOf, space: WriteSpace, how: Promotion | None = None
) -> Index:
    """Let an index serve in place of the one that does, in one step; refused when it finds less, unless forced."""
    force = how is not None and how.force
    return _told(await gateway.indexes.promote(space, id, force=force, request_id=request_id()), response)


@router.delete("/v1/indexes/{id}", status_code=202, responses=problems(409))
async def remove_index(id: IndexId, gateway: GatewayOf, space: WriteSpace) -> Index:
    """Give up an index that does not serve; its vectors are deleted in the background, and then its record."""
    return await gateway.indexes.remove(space, id, request_id())


def _told(index: Index, response: Response) -> Index:
    """202 where the index does not serve yet."""
    if index.state is not IndexPhase.SERVING:
        response.status_code = 202
    return index
