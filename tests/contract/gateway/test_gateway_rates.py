"""Limits on who asks how often, counted in a real Redis by gateways on real sockets."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import redis

from services.gateway.adapters.rates import LONGEST_S, RedisRates
from services.gateway.domain.limiting import Charge
from services.gateway.settings import GatewaySettings
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.key_secrets import written
from services.shared.contracts.keys import Role
from services.shared.kit.settings import RedisSettings
from tests.contract.gateway.front import front
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, passage, sentence

PAGE = "https://example.com"
LOOPBACK = ["127.0.0.1"]


def world(**settings: Any) -> World:
    """A gateway that answers."""
    made = World(settings=GatewaySettings(document_max_bytes=1000, body_max_bytes=5000, **settings))
    one = passage()
    made.answers(one, script=[sentence("It opens at nine.", (one, "opens at nine"), of=[one]), done()])
    return made


@pytest.fixture
def counts(redis_url: str) -> str:
    """A Redis in which nothing is counted yet."""
    redis.Redis.from_url(redis_url).flushdb()
    return redis_url


@contextlib.asynccontextmanager
async def counting(url: str, *, when_away: Any = "allow", timeout_s: float = 1.0) -> AsyncIterator[RedisRates]:
    rates = RedisRates(RedisSettings(redis_url=url, redis_timeout_s=timeout_s), when_away=when_away)
    try:
        yield rates
    finally:
        await rates.close()


def limited(response: httpx.Response) -> bool:
    """Is it a whole 429?"""
    if response.status_code != 429:
        assert response.status_code == 200, response.text
        return False
    assert response.json()["code"] == "rate_limited"
    assert 1 <= int(response.headers["Retry-After"]) <= 120
    assert (response.headers["RateLimit-Remaining"], response.headers["X-Request-ID"]) > ("0", "")
    return True


async def test_a_limit_holds_over_two_gateways_and_tells_what_is_left(counts: str) -> None:
    settings = {"limit_address": "5/minute"}
    async with front(world(**settings), counts) as one, front(world(**settings), counts) as two:
        answers = [await gateway.ask() for gateway in (one, two) * 4]
        assert [limited(answer) for answer in answers] == [False] * 5 + [True] * 3
        assert [answer.headers["RateLimit-Limit"] for answer in answers] == ["5"] * 8
        assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0", "0", "0"]
        assert 1 <= int(answers[-1].headers["RateLimit-Reset"]) <= 60


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/ask", {"question": "When?", "stream": True}),
        ("/v1/search", {"question": "When?"}),
        ("/v1/chat/completions", {"model": "ragstone", "messages": [{"role": "user", "content": "When?"}]}),
    ],
)
async def test_every_way_to_ask_counts(counts: str, path: str, body: dict[str, Any]) -> None:
    async with front(world(limit_address="2/minute"), counts) as gateway:
        statuses = [(await gateway.client.post(path, json=body)).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert limited(await gateway.ask())


async def test_a_question_to_the_tools_counts(counts: str) -> None:
    async with front(world(limit_address="1/minute"), counts) as gateway:
        await gateway.ask()
        assert (await gateway.client.post("/mcp", json={})).status_code == 429


async def test_health_and_the_page_are_never_limited(counts: str) -> None:
    async with front(world(limit_address="1/minute", limit_requests="1/minute"), counts) as gateway:
        for path in ("/healthz", "/readyz", "/", "/assets/page.js"):
            for _ in range(3):
                response = await gateway.client.get(path)
                assert response.status_code == 200
                assert "RateLimit-Limit" not in response.headers
        assert [(await gateway.client.get("/v1/documents")).status_code for _ in range(2)] == [200, 429]
        assert not limited(await gateway.ask()), "what is no question is counted apart"


async def test_without_keys_nothing_is_limited_unless_it_is_set(counts: str) -> None:
    async with front(world(), counts) as gateway:
        assert not any([limited(await gateway.ask()) for _ in range(70)])
    assert not redis.Redis.from_url(counts).keys("ragstone:rates*")


async def test_behind_a_trusted_proxy_each_client_is_counted_for_itself(counts: str) -> None:
    made = world(limit_address="3/minute", trusted_proxies=LOOPBACK, without_keys=True)
    async with front(made, counts) as gateway:
        flooder = [await gateway.ask(**{"X-Forwarded-For": f"{n}.1.1.1, 198.51.100.7"}) for n in range(5)]
        other = [await gateway.ask(**{"X-Forwarded-For": "198.51.100.8"}) for _ in range(3)]
        assert [limited(answer) for answer in flooder] == [False] * 3 + [True] * 2
        assert not any(limited(answer) for answer in other)
        household = [await gateway.ask(**{"X-Forwarded-For": f"2001:db8:1:2::{n}"}) for n in range(5)]
        assert [limited(answer) for answer in household] == [False] * 3 + [True] * 2


async def test_invented_addresses_escape_nothing(counts: str) -> None:
    async with front(
        world(limit_address="3/minute", trusted_proxies=["10.0.0.0/8"], without_keys=True), counts
    ) as gateway:
        answers = [await gateway.ask(**{"X-Forwarded-For": f"198.51.100.{n}", "X-Real-IP": "::1"}) for n in range(5)]
        assert [limited(answer) for answer in answers] == [False] * 3 + [True] * 2


async def test_two_keys_from_one_address_do_not_disturb_each_other(counts: str) -> None:
    made = world(limit_key="4/minute", limit_address="1/minute")
    one, two, slow = made.keys.make(), made.keys.make(), made.keys.make(requests_per_minute=2)
    async with front(made, counts) as gateway:
        assert [limited(await gateway.ask(one)) for _ in range(6)] == [False] * 4 + [True] * 2
        assert [limited(await gateway.ask(slow)) for _ in range(3)] == [False] * 2 + [True]
        assert not any([limited(await gateway.ask(two)) for _ in range(4)])


async def test_a_public_key_is_counted_by_address_and_as_a_whole(counts: str) -> None:
    made = world(limit_address="2/minute", limit_key="5/minute", trusted_proxies=LOOPBACK)
    key = made.keys.make(public=True, allowed_origins=[PAGE])

    async with front(made, counts) as gateway:

        async def visit(last: int) -> bool:
            return limited(await gateway.ask(key, Origin=PAGE, **{"X-Forwarded-For": f"198.51.100.{last}"}))

        assert [await visit(1) for _ in range(4)] == [False, False, True, True]
        # Those that were refused by address took nothing of the whole.
        assert [await visit(n) for n in (2, 3, 4, 5)] == [False, False, False, True]


async def test_wrong_keys_in_a_loop_are_limited_and_hold_no_right_one_up(counts: str) -> None:
    made = world(limit_wrong_keys="5/minute", trusted_proxies=LOOPBACK)
    key = made.keys.make()
    async with front(made, counts) as gateway:
        assert (await gateway.ask(written("guess", "0" * 64))).status_code == 401
        assert "guess" in made.keys.looks
        for wrong in ("rs_k9_0000", f"{key[:-4]}ffff", "nonsense"):
            redis.Redis.from_url(counts).flushdb()
            statuses = [(await gateway.ask(wrong)).status_code for _ in range(8)]
            assert statuses == [401] * 5 + [429] * 3, wrong
        last = [await gateway.ask(written(f"guess{n}", "0" * 64)) for n in range(8)]
        assert {answer.status_code for answer in last} == {429}
        assert not limited(await gateway.ask(key)), "from the same address"
        assert int(last[0].headers["Retry-After"]) >= 1
        elsewhere = await gateway.ask("nonsense", **{"X-Forwarded-For": "198.51.100.8"})
        assert elsewhere.status_code == 401, "only that address is held up"


async def test_ragstones_own_processes_are_never_held_up(counts: str) -> None:
    made = world(limit_key="1/minute", limit_requests="1/minute", answers_at_once=1)
    made.keys.make()
    own = made.keys.make(Role.ADMIN, own=True)
    async with front(made, counts) as gateway:
        assert not any([limited(await gateway.ask(own)) for _ in range(5)])


async def test_while_redis_is_away_each_gateway_counts_for_itself(nowhere: str) -> None:
    async with front(world(limit_address="3/minute"), nowhere) as gateway:
        began = time.monotonic()
        answers = [await gateway.ask() for _ in range(5)]
        assert [limited(answer) for answer in answers] == [False] * 3 + [True] * 2
        assert time.monotonic() - began < 3


async def test_while_redis_is_away_a_strict_gateway_refuses_what_has_a_limit(nowhere: str) -> None:
    async with front(world(limit_address="3/minute", limits_when_away="refuse"), nowhere) as gateway:
        refused = await gateway.ask()
        assert (refused.status_code, refused.json()["code"]) == (503, "limits_unavailable")
        assert int(refused.headers["Retry-After"]) >= 1
        assert (await gateway.client.get("/healthz")).status_code == 200
        assert (await gateway.client.get("/v1/documents")).status_code == 200, "this has no limit"


@pytest.mark.parametrize("away", [False, True])
async def test_what_is_given_back_is_there_again(counts: str, nowhere: str, away: bool) -> None:
    charge = Charge("questions", "4/minute", "ann")
    async with counting(nowhere if away else counts) as rates:
        assert (await rates.hit(charge)).remaining == 3
        assert not (await rates.hit(charge, 4)).allowed
        back = await rates.give_back(charge, 1, 4)
        assert (back.allowed, back.remaining) == (False, 4)
        whole = await rates.hit(charge, 4)
        assert (whole.allowed, whole.remaining) == (True, 0)


async def test_lines_that_are_refused_cost_nothing(counts: str) -> None:
    made = world(limit_key="3/minute")
    key = made.keys.make()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"}
    async with front(made, counts) as gateway:

        async def sent(lines: int) -> tuple[int, str]:
            body = '{"question": "a"}\n' * lines
            response = await gateway.client.post("/v1/ask", content=body, headers=headers)
            return response.status_code, response.headers["RateLimit-Remaining"]

        told = [await sent(lines) for lines in (4, 4, 2, 2, 1)]
    assert told == [(422, "3"), (422, "3"), (202, "1"), (429, "1"), (202, "0")]


async def test_whoever_waits_as_told_gets_in_again(counts: str) -> None:
    charge = Charge("questions", "4/2 seconds", "ann")
    async with counting(counts) as rates:
        assert [(await rates.hit(charge)).allowed for _ in range(5)] == [True] * 4 + [False]
        for _ in range(3):
            refused = await rates.hit(charge)
            assert not refused.allowed
            await asyncio.sleep(refused.reset_s)
            assert (await rates.hit(charge)).allowed
            while (await rates.hit(charge)).allowed:
                pass


async def test_a_limit_is_not_overrun_by_questions_at_the_same_moment(counts: str) -> None:
    charge = Charge("questions", "10/minute", "ann")
    async with counting(counts) as one, counting(counts) as two:
        found = await asyncio.gather(*(rates.hit(charge) for rates in (one, two) * 30))
        assert sum(one.allowed for one in found) == 10


async def test_counts_expire_and_hold_no_address(counts: str) -> None:
    client = redis.Redis.from_url(counts, decode_responses=True)
    async with counting(counts) as rates:
        await rates.hit(Charge("questions", "10/minute", "address 198.51.100.7"))
    (key,) = [str(key) for key in client.scan_iter()]
    assert key.startswith("ragstone:rates:")
    assert "198.51" not in key
    assert 0 < client.ttl(key) <= 120


async def test_a_redis_that_hangs_holds_nobody_up() -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read(-1)

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
    charge = Charge("questions", "2/minute", "ann")
    try:
        began = time.monotonic()
        async with counting(url, timeout_s=30) as rates:
            assert [(await rates.hit(charge)).allowed for _ in range(3)] == [True, True, False]
        async with counting(url, timeout_s=30, when_away="refuse") as rates:
            with pytest.raises(RagstoneError) as refused:
                await rates.hit(charge)
            assert refused.value.code is ErrorCode.LIMITS_UNAVAILABLE
        assert time.monotonic() - began < 5 * LONGEST_S
    finally:
        server.close()


async def test_counting_costs_little(counts: str) -> None:
    """Well under the 5 ms that the whole gateway may take."""
    charge = Charge("questions", "100000/minute", "ann")
    async with counting(counts) as rates:
        await rates.hit(charge)
        took = []
        for _ in range(50):
            began = time.perf_counter()
            await rates.hit(charge)
            took.append(time.perf_counter() - began)
    assert sorted(took)[len(took) // 2] < 0.005


def test_a_front_is_what_the_process_serves() -> None:
    """These tests say something of the real process only while it is built the same way."""
    import inspect

    from services.gateway import __main__ as process

    served, tested = inspect.getsource(process), inspect.getsource(front)
    assert "**how_served(" in served
    assert "**how_served(" in tested
