"""Whose pages may write through a browser."""

import httpx
import pytest

from services.gateway.settings import GatewaySettings
from services.shared.contracts.errors import ErrorCode
from tests.unit.gateway.fakes import World
from tests.unit.gateway.test_gateway_doors import assert_problem


async def search(origin: str | None, allowed: list[str] | None = None) -> httpx.Response:
    world = World(settings=GatewaySettings(allowed_origins=allowed or []))
    headers = {} if origin is None else {"Origin": origin}
    async with world.client() as client:
        return await client.post("/v1/search", json={"question": "When?"}, headers=headers)


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", "http://gateway:9999"])
async def test_a_page_from_elsewhere_may_not_write(origin: str) -> None:
    assert (
        "RAGSTONE_ALLOWED_ORIGINS" in assert_problem(await search(origin), 403, ErrorCode.ORIGIN_NOT_ALLOWED)["detail"]
    )


@pytest.mark.parametrize("origin", ["http://gateway", None])
async def test_the_own_page_and_programs_may(origin: str | None) -> None:
    assert (await search(origin)).status_code == 200


async def test_an_address_that_the_owner_named_may() -> None:
    assert (await search("https://Elsewhere.example", ["https://elsewhere.example/"])).status_code == 200


async def test_reading_is_nobodys_harm() -> None:
    async with World().client() as client:
        assert (await client.get("/healthz", headers={"Origin": "https://elsewhere.example"})).status_code == 200
