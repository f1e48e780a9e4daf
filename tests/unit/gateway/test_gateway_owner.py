"""Who is the owner behind a proxy while there are no keys, and what strangers are told once there are some."""

import pytest

from services.gateway.settings import GatewaySettings
from services.shared.contracts.errors import ErrorCode
from services.shared.kit.listening import HERE
from tests.unit.gateway.fakes import World
from tests.unit.gateway.test_gateway_doors import assert_problem
from tests.unit.gateway.test_gateway_keys import me

FORWARDING = ("x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-host", "x-forwarded-proto")


@pytest.mark.parametrize("name", FORWARDING)
async def test_what_an_unknown_proxy_passes_on_is_not_this_machine(name: str) -> None:
    assert_problem(await me(World(), {name: "127.0.0.1"}, address=HERE), 401, ErrorCode.KEY_REQUIRED)


@pytest.mark.parametrize(
    ("trusted", "headers"),
    [
        ("10.0.0.1", {"X-Forwarded-For": "203.0.113.9"}),
        ("10.0.0.1", {"X-Forwarded-For": "127.0.0.1"}),
        *[
            (HERE, {"X-Forwarded-For": said})
            for said in ("203.0.113.9", "unknown", "unix:", "_hidden", "", "203.0.113.9, unknown", "unknown, 127.0.0.1")
        ],
        *[(HERE, {name: "for=203.0.113.9"}) for name in FORWARDING],
    ],
)
async def test_behind_a_proxy_nobody_is_the_owner_unless_it_says_so(trusted: str, headers: dict[str, str]) -> None:
    world = World(settings=GatewaySettings(trusted_proxies=[trusted]))
    assert_problem(await me(world, headers, address=HERE), 401, ErrorCode.KEY_REQUIRED)


@pytest.mark.parametrize("headers", [{}, {"X-Forwarded-For": HERE, "X-Forwarded-Proto": "https"}])
async def test_a_trusted_proxy_may_name_this_machine(headers: dict[str, str]) -> None:
    world = World(settings=GatewaySettings(trusted_proxies=[HERE]))
    assert (await me(world, headers, address=HERE)).json()["role"] == "admin"


async def test_addresses_inside_are_told_to_nobody_once_there_are_keys() -> None:
    world = World()
    world.parts.down["retriever"] = "vectors: the collection c at http://10.1.2.3:8001/api cannot be used: no."
    async with world.client() as client:
        assert "10.1.2.3" in (await client.get("/readyz")).text
    world = World(keys=world.keys, parts=world.parts)
    world.keys.make()
    async with world.client() as client:
        said = (await client.get("/readyz")).json()["parts"]["retriever"]
    assert said == {"ready": False, "detail": "vectors: the collection c cannot be used: no."}
