"""Every route of the application is locked once a key exists, and each needs the role that it should."""

from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Route

from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.keys import Role
from tests.unit.gateway.fakes import World
from tests.unit.gateway.test_gateway_doors import assert_problem
from tests.unit.gateway.test_gateway_keys import FAR, SHOP, auth

OPEN = {
    *("/", "/healthz", "/readyz", "/widget.js", "/widget-example", "/openapi.json", "/docs"),
    *("/assets/{name}", "/assets/swagger/{name}"),
}
"""Named here once more, so that nobody opens another by mistake."""

VISITED = {
    *(
        ("POST", path)
        for path in ("/v1/ask", "/v1/warmup", "/v1/search", "/v1/feedback", "/v1/chat/completions", "/v1/warmup")
    ),
    *(("GET", path) for path in ("/v1/me", "/v1/documents/{id:path}/source", "/v1/models", "/v1/models/{id:path}")),
}
"""What a public key may do."""

READ = {
    *VISITED,
    *(("GET", path) for path in ("/v1/documents", "/v1/documents/{id:path}")),
    *(("GET", path) for path in ("/v1/jobs/{id}", "/v1/jobs/{id}/events")),
    *(("POST", path) for path in ("/v1/jobs/{id}/cancel", "/mcp", "/mcp/")),
}
"""What a key that only reads may do. A new route that is not named here must refuse it."""


def walked(routes: list[BaseRoute]) -> Iterator[tuple[str, str]]:
    """Every method and path, those of included routers too."""
    for route in routes:
        inner = getattr(getattr(route, "original_router", None), "routes", None)
        if inner is not None:
            yield from walked(inner)
        elif isinstance(route, Route | APIRoute):
            yield from ((method, route.path) for method in sorted(route.methods or {"POST"}) if method != "HEAD")
        else:
            raise AssertionError(f"this walk does not know {route!r}")


ROUTES = sorted(set(walked(World().app().routes)))
LOCKED = [(method, path) for method, path in ROUTES if path not in OPEN]


def filled(path: str) -> str:
    path = path.replace("swagger/{name}", "swagger/swagger-ui.css")
    return path.replace("{id:path}", "x").replace("{id}", "x").replace("{name}", "page.js")


def test_the_walk_finds_the_routes() -> None:
    assert {("POST", "/v1/ask"), ("POST", "/v1/keys"), ("GET", "/"), ("DELETE", "/v1/documents/{id:path}")} <= {*ROUTES}


@pytest.mark.parametrize(("method", "path"), LOCKED)
async def test_no_route_answers_without_a_key(method: str, path: str) -> None:
    world = World()
    world.keys.make()
    async with world.client() as client:
        refused = await client.request(method, filled(path))
        assert refused.status_code == 401
        assert refused.json()["code"] == ErrorCode.KEY_REQUIRED
        assert refused.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(("method", "path"), [one for one in ROUTES if one not in LOCKED])
async def test_the_page_and_health_need_no_key(method: str, path: str) -> None:
    world = World()
    world.keys.make()
    async with world.client(FAR) as client:
        assert (await client.request(method, filled(path))).status_code == 200


@pytest.mark.parametrize("path", ["/v1", "/v1/nothing", "/assets", "/docs/", "/healthz/", "/metrics/"])
async def test_what_is_no_route_tells_strangers_nothing(path: str) -> None:
    world = World()
    world.keys.make()
    async with world.client(FAR) as client:
        assert_problem(await client.get(path), 401, ErrorCode.KEY_REQUIRED)


@pytest.mark.parametrize(("method", "path"), [one for one in LOCKED if one not in READ])
async def test_a_key_that_reads_changes_nothing(method: str, path: str) -> None:
    world = World()
    async with world.client(FAR) as client:
        refused = await client.request(method, filled(path), headers=auth(world.keys.make()))
        assert_problem(refused, 403, ErrorCode.ROLE_INSUFFICIENT)


@pytest.mark.parametrize(("method", "path"), [one for one in LOCKED if one in READ])
async def test_a_key_that_reads_does_what_it_is_for(method: str, path: str) -> None:
    world = World()
    async with world.client(FAR) as client:
        found = await client.request(method, filled(path), headers=auth(world.keys.make()))
        assert found.status_code not in (401, 403)


@pytest.mark.parametrize(("method", "path"), [one for one in LOCKED if one in VISITED])
async def test_a_public_key_does_what_it_is_for(method: str, path: str) -> None:
    world = World()
    headers = auth(world.keys.make(public=True, allowed_origins=[SHOP]), Origin=SHOP)
    async with world.client(FAR) as client:
        assert (await client.request(method, filled(path), headers=headers)).status_code not in (401, 403)


@pytest.mark.parametrize(("method", "path"), [one for one in LOCKED if one not in VISITED])
async def test_a_public_key_is_for_visitors_only(method: str, path: str) -> None:
    world = World()
    headers = auth(world.keys.make(public=True, allowed_origins=[SHOP]), Origin=SHOP)
    async with world.client(FAR) as client:
        refused = await client.request(method, filled(path), headers=headers)
        assert_problem(refused, 403, ErrorCode.ROLE_INSUFFICIENT)


@pytest.mark.parametrize(("method", "path"), [one for one in LOCKED if one[1].startswith("/v1/keys")])
async def test_keys_are_for_admins(method: str, path: str) -> None:
    world = World()
    async with world.client(FAR) as client:
        refused = await client.request(method, filled(path), headers=auth(world.keys.make(Role.WRITE)))
        assert_problem(refused, 403, ErrorCode.ROLE_INSUFFICIENT)
