"""Doors for keys: make, see and revoke them; and what the caller's own key lets it do."""

from fastapi import APIRouter

from services.gateway.app.common import PROBLEMS, Admin, CallerOf, Cursor, GatewayOf, Limit
from services.shared.contracts.keys import CreatedKey, Key, KeyList, NewKey
from services.shared.contracts.me import Me

router = APIRouter(tags=["keys"], responses=PROBLEMS)


@router.get("/v1/keys")
async def list_keys(gateway: GatewayOf, _: Admin, limit: Limit = 50, cursor: Cursor = None) -> KeyList:
    """All keys without their secrets, newest first, revoked ones too."""
    return await gateway.keys.page(limit=limit, cursor=cursor)


@router.post("/v1/keys", status_code=201)
async def create_key(wanted: NewKey, gateway: GatewayOf, _: Admin) -> CreatedKey:
    """Make a key; its secret is in this answer and nowhere else. With the first one, everybody needs a key."""
    return await gateway.door.create(wanted)


@router.delete("/v1/keys/{id}")
async def revoke_key(id: str, gateway: GatewayOf, _: Admin) -> Key:
    """Revoke a key; every gateway refuses it within a second, and answers under way are finished."""
    return await gateway.door.revoke(id)


@router.get("/v1/me")
async def who_am_i(caller: CallerOf) -> Me:
    """What the caller may do."""
    return Me(key_id=caller.key_id, name=caller.name, role=caller.role, space=caller.space, public=caller.public)
