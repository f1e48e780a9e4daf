"""Keys that stand in web pages: from their own pages only, and for what a visitor does."""

import httpx
import pytest

from services.gateway.settings import GatewaySettings
from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.keys import Role
from tests.unit.gateway.fakes import World
from tests.unit.gateway.test_gateway_doors import assert_problem
from tests.unit.gateway.test_gateway_keys import FAR, SHOP, auth, search

EVIL = "https://evil.example"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}


def public(world: World, *origins: str) -> str:
    return world.keys.make(public=True, allowed_origins=list(origins or (SHOP,)))


async def preflight(world: World, origin: str) -> httpx.Response:
    async with world.client(FAR) as client:
        return await client.options("/v1/ask", headers={**PREFLIGHT, "Origin": origin})


async def test_a_page_asks_with_its_public_key_and_may_read_the_answer() -> None:
    world = World()
    found = await search(world, auth(public(world), Origin=SHOP))
    assert found.status_code == 200
    assert found.headers["Access-Control-Allow-Origin"] == SHOP
    assert "X-Request-ID" in found.headers["Access-Control-Expose-Headers"]
    assert "Retry-After" in found.headers["Access-Control-Expose-Headers"]
    assert "Origin" in found.headers["Vary"]
    assert "Access-Control-Allow-Credentials" not in found.headers


@pytest.mark.parametrize("origin", [EVIL, "null", "https://shop.example.evil.example", "http://shop.example", None])
async def test_no_other_page_and_no_program_uses_it(origin: str | None) -> None:
    world = World()
    secret = public(world)
    refused = await search(world, auth(secret) if origin is None else auth(secret, Origin=origin))
    assert_problem(refused, 403, ErrorCode.ORIGIN_NOT_ALLOWED)
    assert "Access-Control-Allow-Origin" not in refused.headers


async def test_the_key_of_one_page_is_not_anothers() -> None:
    world = World()
    first = public(world)
    public(world, EVIL)
    refused = await search(world, auth(first, Origin=EVIL))
    assert_problem(refused, 403, ErrorCode.ORIGIN_NOT_ALLOWED)
    assert refused.headers["Access-Control-Allow-Origin"] == EVIL


async def test_a_refusal_can_be_read_by_the_page() -> None:
    world = World()
    public(world)
    refused = await search(world, {"Origin": SHOP})
    assert_problem(refused, 401, ErrorCode.KEY_REQUIRED)
    assert refused.headers["Access-Control-Allow-Origin"] == SHOP


async def test_browsers_are_told_beforehand() -> None:
    world = World()
    public(world)
    told = await preflight(world, SHOP)
    assert told.status_code == 204
    assert told.headers["Access-Control-Allow-Origin"] == SHOP
    allowed = told.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type", "cache-control", "prefer", "ragstone-space"} <= set(allowed)
    assert "POST" in told.headers["Access-Control-Allow-Methods"]
    refused = await preflight(world, EVIL)
    assert_problem(refused, 403, ErrorCode.ORIGIN_NOT_ALLOWED)
    assert "Access-Control-Allow-Origin" not in refused.headers


async def test_without_public_keys_no_page_is_told_anything() -> None:
    world = World()
    assert (await preflight(world, SHOP)).status_code == 403
    world = World()
    world.keys.make()
    assert (await preflight(world, SHOP)).status_code == 403


async def test_answers_without_an_origin_vary_by_it_too() -> None:
    async with World().client() as client:
        assert "Origin" in (await client.get("/v1/me")).headers["Vary"]


async def test_a_public_key_only_asks() -> None:
    world = World()
    world.documents.hold("shed.md")
    headers = auth(public(world), Origin=SHOP)
    async with world.client(FAR) as client:
        source = await client.get("/v1/documents/shed.md/source", headers=headers)
        assert source.status_code == 200
        assert source.headers["Access-Control-Allow-Origin"] == SHOP
        for method, path in (("GET", "/v1/documents"), ("GET", "/v1/documents/shed.md"), ("DELETE", "/v1/documents/x")):
            refused = await client.request(method, path, headers=headers)
            assert_problem(refused, 403, ErrorCode.ROLE_INSUFFICIENT)


@pytest.mark.parametrize("role", [Role.READ, Role.WRITE, Role.ADMIN])
@pytest.mark.parametrize("origin", [SHOP, EVIL, "null"])
async def test_other_keys_are_not_for_pages_of_others_not_even_for_reading(role: Role, origin: str) -> None:
    world = World()
    public(world)
    headers = auth(world.keys.make(role), Origin=origin)
    assert_problem(await search(world, headers), 403, ErrorCode.ORIGIN_NOT_ALLOWED)
    async with world.client(FAR) as client:
        assert_problem(await client.get("/v1/documents", headers=headers), 403, ErrorCode.ORIGIN_NOT_ALLOWED)


async def test_the_own_page_and_addresses_of_the_owner_use_any_key() -> None:
    world = World(settings=GatewaySettings(allowed_origins=["https://docs.example"]))
    secret = world.keys.make()
    for origin in ("http://gateway", "https://docs.example"):
        assert (await search(world, auth(secret, Origin=origin))).status_code == 200
