"""Who gets in, with which key, and what is said to those who do not."""

import asyncio
import hmac
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from services.gateway.domain.doors import bearer, host_name
from services.gateway.flow.door import REMEMBER_S
from services.gateway.ports.keys import KeyState, KnownKey
from services.gateway.settings import GatewaySettings
from services.shared.contracts import key_secrets
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.keys import Role
from services.shared.kit.listening import HERE, host_to_listen_on, is_loopback
from tests.unit.gateway.fake_keys import FakeKeys
from tests.unit.gateway.fakes import World
from tests.unit.gateway.test_gateway_doors import assert_problem

FAR = "203.0.113.7"
SHOP = "https://shop.example"


def auth(secret: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}", **more}


async def search(world: World, headers: dict[str, str] | None = None, address: str = FAR) -> httpx.Response:
    async with world.client(address) as client:
        return await client.post("/v1/search", json={"question": "When?"}, headers=headers or {})


async def me(world: World, headers: dict[str, str] | None = None, address: str = FAR) -> httpx.Response:
    async with world.client(address) as client:
        return await client.get("/v1/me", headers=headers or {})


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "127.9.9.9", "::ffff:127.0.0.1"])
async def test_without_keys_this_machine_is_the_owner(address: str) -> None:
    found = (await me(World(), address=address)).json()
    assert found == {"key_id": None, "name": None, "role": "admin", "space": None, "public": False}


@pytest.mark.parametrize("headers", [{}, auth("sk-of-another-service"), auth("rs_k9_" + "0" * 64)])
async def test_without_keys_other_machines_are_refused(headers: dict[str, str]) -> None:
    refused = await me(World(), headers)
    assert "ragstone keys create" in assert_problem(refused, 401, ErrorCode.KEY_REQUIRED)["detail"]
    assert refused.headers["WWW-Authenticate"] == "Bearer"


async def test_without_keys_the_key_of_another_service_does_no_harm_here() -> None:
    assert (await me(World(), auth("sk-anything"), address=HERE)).json()["role"] == "admin"


async def test_a_container_may_do_without_keys() -> None:
    world = World(settings=GatewaySettings(without_keys=True))
    assert (await me(world)).json()["role"] == "admin"
    world.keys.make()
    assert_problem(await me(world), 401, ErrorCode.KEY_REQUIRED)


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:9", "[::1]:8000", "LOCALHOST", "gateway"])
async def test_without_keys_the_gateway_is_called_by_its_own_names(host: str) -> None:
    assert (await me(World(), {"Host": host}, address=HERE)).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "0.0.0.0:8000", "", "["]
)
async def test_a_name_that_a_web_page_chose_is_refused(host: str) -> None:
    """DNS rebinding: the page's own name leads to this machine, so the browser takes it for the page's own server."""
    refused = await me(World(settings=GatewaySettings(host="0.0.0.0")), {"Host": host}, address=HERE)
    assert "RAGSTONE_ALLOWED_HOSTS" in assert_problem(refused, 403, ErrorCode.HOST_NOT_ALLOWED)["detail"]


async def test_with_keys_any_name_will_do() -> None:
    world = World()
    secret = world.keys.make()
    assert (await me(world, auth(secret, Host="docs.example"))).status_code == 200


async def test_a_key_says_what_its_holder_may_do() -> None:
    world = World()
    secret = world.keys.make(Role.WRITE, space="docs")
    found = (await me(world, auth(secret))).json()
    assert found == {"key_id": "k0", "name": "a key", "role": "write", "space": "docs", "public": False}


async def test_with_keys_nobody_gets_in_without_one() -> None:
    world = World()
    world.keys.make()
    for headers in ({}, {"Authorization": "Basic dXNlcjpwYXNz"}, {"Authorization": "Bearer"}, {"Authorization": ""}):
        refused = await me(world, headers, address=HERE)
        assert_problem(refused, 401, ErrorCode.KEY_REQUIRED)
        assert refused.headers["WWW-Authenticate"] == "Bearer"


async def test_every_wrong_key_is_refused_in_the_same_words() -> None:
    world = World()
    good, revoked, expired = (world.keys.make() for _ in range(3))
    world.keys.change(revoked, revoked_at=datetime.now(UTC))
    world.keys.change(expired, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    wrong = ["rs_k9_" + "0" * 64, good[:-1] + "f", revoked, expired, "nonsense", f"{good}x", good.upper(), "é"]
    said = set()
    for secret in wrong:
        refused = await me(world, {"Authorization": f"Bearer {secret}".encode("latin-1")})  # type: ignore[dict-item]
        said.add(assert_problem(refused, 401, ErrorCode.KEY_INVALID)["detail"])
        assert refused.headers["WWW-Authenticate"] == "Bearer"
    assert len(said) == 1


async def test_after_the_last_key_was_revoked_one_is_needed_still() -> None:
    world = World()
    world.keys.change(world.keys.make(), revoked_at=datetime.now(UTC))
    assert_problem(await me(world, address=HERE), 401, ErrorCode.KEY_REQUIRED)


async def test_keys_of_own_processes_do_not_lock_the_gateway() -> None:
    world = World()
    secret = world.keys.make(Role.READ, own=True)
    assert (await me(world, address=HERE)).json()["key_id"] is None
    assert (await me(world, auth(secret))).json()["role"] == "read"
    assert world.keys.used == []


@pytest.mark.parametrize("shown", ["rs_k0_" + "0" * 64, "rs_k0_" + "f" * 64, "rs_k9_" + "0" * 64, "nonsense"])
async def test_right_and_wrong_keys_are_hashed_and_compared_once(shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the time of a refusal would tell which ids there are."""
    world = World()
    world.keys.make()
    steps: list[str] = []
    hashed, compared = key_secrets.hash_of, hmac.compare_digest

    def hash_of(secret: str) -> str:
        steps.append("hash")
        return hashed(secret)

    def compare_digest(one: str, other: str) -> bool:
        steps.append(f"compare {len(one)} {len(other)}")
        return compared(one, other)

    monkeypatch.setattr(key_secrets, "hash_of", hash_of)
    monkeypatch.setattr(hmac, "compare_digest", compare_digest)
    assert (await me(world, auth(shown))).status_code == (200 if shown == "rs_k0_" + "0" * 64 else 401)
    assert steps == ["hash", "compare 64 64"]


async def test_the_catalog_is_not_asked_again_within_a_moment() -> None:
    world = World()
    secret = world.keys.make()
    async with world.client(FAR) as client:
        for _ in range(5):
            assert (await client.get("/v1/me", headers=auth(secret))).status_code == 200
            assert (await client.get("/v1/me")).status_code == 401
    assert sorted(world.keys.looks) == ["k0", "state"]
    await asyncio.sleep(0)
    assert world.keys.used == ["k0"]


async def test_a_key_that_another_process_revoked_stops_within_a_second() -> None:
    world = World()
    secret = world.keys.make()
    async with world.client(FAR) as client:
        assert (await client.get("/v1/me", headers=auth(secret))).status_code == 200
        world.keys.change(secret, revoked_at=datetime.now(UTC))
        await asyncio.sleep(REMEMBER_S)
        assert_problem(await client.get("/v1/me", headers=auth(secret)), 401, ErrorCode.KEY_INVALID)


async def test_a_key_that_runs_out_while_it_is_remembered_opens_no_more() -> None:
    world = World()
    secret = world.keys.make()
    world.keys.change(secret, expires_at=datetime.now(UTC) + timedelta(milliseconds=300))
    async with world.client(FAR) as client:
        assert (await client.get("/v1/me", headers=auth(secret))).status_code == 200
        await asyncio.sleep(0.35)
        assert_problem(await client.get("/v1/me", headers=auth(secret)), 401, ErrorCode.KEY_INVALID)


async def test_an_owner_makes_lists_and_revokes_keys() -> None:
    world = World()
    async with world.client() as owner:
        made = await owner.post("/v1/keys", json={"name": "me", "role": "admin"})
        assert made.status_code == 201
        secret = made.json()["secret"]
        assert_problem(await owner.get("/v1/keys"), 401, ErrorCode.KEY_REQUIRED)
        owner.headers["Authorization"] = f"Bearer {secret}"
        reader = (await owner.post("/v1/keys", json={"name": "site"})).json()
        listed = (await owner.get("/v1/keys")).json()["items"]
        assert [one["name"] for one in listed] == ["me", "site"]
        assert all("secret" not in one and "hash" not in one for one in listed)
        assert listed[1]["space"] == "main"
        ended = await owner.delete(f"/v1/keys/{reader['key']['id']}")
        assert ended.json()["revoked_at"]
        assert_problem(await owner.get("/v1/me", headers=auth(reader["secret"])), 401, ErrorCode.KEY_INVALID)
        assert_problem(await owner.delete("/v1/keys/none"), 404, ErrorCode.KEY_NOT_FOUND)
        assert_problem(await owner.post("/v1/keys", json={"name": "x", "public": True}), 422, ErrorCode.INVALID_REQUEST)


async def test_a_key_of_one_space_reaches_no_other() -> None:
    world = World()
    secret = world.keys.make(space="docs")
    assert (await search(world, auth(secret))).status_code == 200
    assert world.retriever.calls[-1].space == "docs"
    assert (await search(world, auth(secret, **{"Ragstone-Space": "docs"}))).status_code == 200
    refused = await search(world, auth(secret, **{"Ragstone-Space": "main"}))
    assert_problem(refused, 403, ErrorCode.SPACE_NOT_ALLOWED)


async def test_a_catalog_that_is_away_opens_to_nobody() -> None:
    world = World(keys=BrokenKeys())
    assert_problem(await me(world, address=HERE), 503, ErrorCode.CATALOG_UNAVAILABLE)
    assert_problem(await me(world, auth("rs_k0_" + "0" * 64)), 503, ErrorCode.CATALOG_UNAVAILABLE)
    async with world.client(FAR) as client:
        assert (await client.get("/healthz")).status_code == 200


class BrokenKeys(FakeKeys):
    async def find(self, id: str) -> KnownKey | None:
        raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, "away")

    async def state(self, now: datetime) -> KeyState:
        raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, "away")


async def test_an_address_that_tries_keys_is_held_up() -> None:
    world = World(settings=GatewaySettings(limit_wrong_keys="2/minute"))
    right, own = world.keys.make(), world.keys.make(Role.ADMIN, own=True)
    for n in range(2):
        assert_problem(await me(world, auth(f"rs_k9{n}_" + "0" * 64)), 401, ErrorCode.KEY_INVALID)
    for wrong in ("rs_k99_" + "0" * 64, right[:-1] + "f", "nonsense"):
        refused = assert_problem(await me(world, auth(wrong)), 429, ErrorCode.RATE_LIMITED)
        assert "2 a minute are allowed" in refused["detail"]
    for good in (right, own):
        assert (await me(world, auth(good))).status_code == 200, "the others there are not held up"
    assert_problem(await me(world), 401, ErrorCode.KEY_REQUIRED)


async def test_no_log_line_holds_a_secret(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    world = World()
    secret = world.keys.make(Role.ADMIN)
    await me(world, auth(secret))
    await me(world, auth(secret[:-1] + "e"))
    async with world.client(FAR) as client:
        made = (await client.post("/v1/keys", json={"name": "b"}, headers=auth(secret))).json()["secret"]
        await client.get("/v1/nothing", headers=auth(made))
    written = caplog.text + "".join(capfd.readouterr())
    assert "/v1/me" in written
    for one in (secret, made, secret[:-1] + "e"):
        assert one.split("_")[2] not in written


@pytest.mark.parametrize(
    ("host", "made", "without", "bound"),
    [
        ("0.0.0.0", False, False, HERE),
        ("", False, False, HERE),
        ("192.168.1.5", False, False, HERE),
        ("box.example", False, False, HERE),
        ("0.0.0.0", True, False, "0.0.0.0"),
        ("0.0.0.0", False, True, "0.0.0.0"),
        ("::1", False, False, "::1"),
        ("localhost", False, False, "localhost"),
    ],
)
def test_without_keys_only_this_machine_is_listened_to(host: str, made: bool, without: bool, bound: str) -> None:
    assert host_to_listen_on(host, keys_made=made, without_keys=without) == bound


@pytest.mark.parametrize("address", ["", "128.0.0.1", "localhost.evil.example", "::", "0.0.0.0", "testclient"])
def test_these_are_not_this_machine(address: str) -> None:
    assert not is_loopback(address)


@pytest.mark.parametrize(
    ("header", "shown"),
    [("Bearer a", "a"), ("bearer  a ", "a"), ("BEARER a", "a"), ("Token a", None), ("Bearer", None), (None, None)],
)
def test_a_key_comes_as_bearer_only(header: str | None, shown: str | None) -> None:
    assert bearer(header) == shown


@pytest.mark.parametrize(
    ("host", "name"), [("A.b:1".lower(), "a.b"), ("[::1]:80", "[::1]"), ("::1", "[::1]"), ("[", ""), ("a:b:c", "")]
)
def test_a_host_is_known_by_its_name(host: str, name: str) -> None:
    assert host_name(host) == name
