"""The daily token budget in a real Redis, and without one."""

import asyncio
import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import redis

from services.generator.adapters.redis_budget import RedisBudget
from services.shared.kit.settings import RedisSettings
from tests.contract.generator.ollama_server import finished, ollama_server, said
from tests.contract.generator.test_generator_service import generator
from tests.unit.generator.fakes import passage, request

MIDDAY = datetime(2026, 11, 30, 12, tzinfo=UTC)


async def test_a_client_pays_for_itself_and_for_its_day(redis_url: str) -> None:
    redis.Redis.from_url(redis_url).flushdb()
    now = [MIDDAY]
    settings = RedisSettings(redis_url=redis_url)
    budget = RedisBudget(settings, daily_tokens=100, now=lambda: now[0])
    other = RedisBudget(settings, daily_tokens=100, now=lambda: now[0])
    try:
        await budget.spend("ann", 60)
        assert await other.left("ann")
        await other.spend("ann", 40)
        assert not await budget.left("ann")
        assert await budget.left("bob")
        now[0] += timedelta(days=1)
        assert await budget.left("ann")
    finally:
        await budget.close()
        await other.close()


async def test_a_key_has_a_budget_of_its_own_where_the_setting_has_none(redis_url: str) -> None:
    redis.Redis.from_url(redis_url).flushdb()
    settings = RedisSettings(redis_url=redis_url)
    budget, other = RedisBudget(settings, daily_tokens=0), RedisBudget(settings, daily_tokens=0)
    try:
        await budget.spend("key-1", 70, 100)
        assert await other.left("key-1", 100)
        await other.spend("key-1", 30, 100)
        assert not await budget.left("key-1", 100)
        assert await budget.left("key-1", 101)
        assert await budget.left("key-2", 100)
    finally:
        await budget.close()
        await other.close()


async def test_counts_expire_and_hold_no_name(redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url, decode_responses=True)
    client.flushdb()
    budget = RedisBudget(RedisSettings(redis_url=redis_url), daily_tokens=100)
    try:
        await budget.spend("sk-secret \ud800", 1)
    finally:
        await budget.close()
    (key,) = [str(key) for key in client.scan_iter()]
    assert key.startswith("ragstone:tokens:")
    assert "sk-secret" not in key
    assert 0 < client.ttl(key) <= timedelta(days=2).total_seconds()


async def test_no_limit_asks_nobody_and_no_redis_holds_nobody_back() -> None:
    nowhere = RedisSettings(redis_url="redis://127.0.0.1:9/0", redis_timeout_s=0.2)
    for daily_tokens in (0, 10):
        budget = RedisBudget(nowhere, daily_tokens=daily_tokens)
        try:
            await budget.spend("ann", 5)
            assert await budget.left("ann")
        finally:
            await budget.close()


async def test_a_redis_that_hangs_delays_nobody() -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read(-1)

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    budget = RedisBudget(RedisSettings(redis_url=f"redis://127.0.0.1:{port}/0"), daily_tokens=10)
    began = time.monotonic()
    try:
        assert await budget.left("ann")
        await budget.spend("ann", 10)
        assert not await budget.left("ann")
        assert time.monotonic() - began < 1
    finally:
        await budget.close()
        server.close()


async def test_over_the_budget_answers_are_verbatim_and_say_so(redis_url: str) -> None:
    redis.Redis.from_url(redis_url).flushdb()
    text = "The dock opens at 05:45 on weekdays. It closes at noon."
    asked = request("When does the dock open?", passage(text))
    parted = {"question": "When does the dock open and who holds the dock key?", "language": "en"}
    async with (
        ollama_server() as server,
        generator(
            "http://127.0.0.1:9", redis_url=redis_url, ollama_host=server.url, daily_tokens=40, writer_probe_s=60
        ) as client,
    ):
        server.script = [said("The dock opens at 05:45 on weekdays [1]."), finished()]

        async def done(who: str) -> dict[str, Any]:
            own = 50 if who == "key-1" else None
            body = asked.model_copy(update={"client": who, "daily_tokens": own}).model_dump_json()
            told: dict[str, Any] = json.loads((await client.post("/write", content=body)).text.splitlines()[-1])
            return told

        first, second, other = await done("ann"), await done("ann"), await done("bob")
        keyed = [await done("key-1") for _ in range(3)]
        apart = (await client.post("/decompose", json={**parted, "client": "ann"})).json()
    assert (first["model"]["writer"], first["usage"]) == ("ollama", {"prompt": 40, "answer": 8})
    assert second["model"]["writer"] == "extractive"
    assert "budget_spent" in second["degraded"]
    assert other["model"]["writer"] == "ollama"
    assert (apart["by"], apart["degraded"]) == ("rule", ["budget_spent"])
    # Of 50 own tokens, the first leaves 2, which the second overdraws.
    assert [told["model"]["writer"] for told in keyed] == ["ollama", "ollama", "extractive"]
    assert "budget_spent" in keyed[2]["degraded"]
    assert len(server.asked) == 4
