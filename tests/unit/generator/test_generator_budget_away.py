"""The token budget while Redis is away: what was known holds, and nobody waits."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from redis.exceptions import ConnectionError as AwayError

from services.generator.adapters import redis_budget
from services.generator.adapters.redis_budget import AWAY_S, CLIENTS, RedisBudget
from services.shared.kit.settings import RedisSettings


class Counts:
    """A Redis whose counts are at hand, and that can be away."""

    def __init__(self) -> None:
        self.tokens: dict[str, int] = {}
        self.away = False
        self.asked = 0

    async def spent(self, key: str) -> int:
        self._ask()
        return self.tokens.get(key, 0)

    async def counted(self, key: str, tokens: int) -> int:
        self._ask()
        self.tokens[key] = self.tokens.get(key, 0) + tokens
        return self.tokens[key]

    def _ask(self) -> None:
        self.asked += 1
        if self.away:
            raise AwayError


class Scene:
    """A budget of 100 tokens over such counts, with a clock that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts, self.at = Counts(), 0.0
        self.budget = RedisBudget(
            RedisSettings(redis_url="redis://127.0.0.1:9/0"),
            daily_tokens=100,
            now=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC),
            clock=lambda: self.at,
        )
        monkeypatch.setattr(self.budget, "_spent", self.counts.spent)
        monkeypatch.setattr(self.budget, "_counted", self.counts.counted)


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(monkeypatch)


async def test_a_spent_budget_stays_spent_without_redis(scene: Scene) -> None:
    await scene.budget.spend("ann", 100)
    scene.counts.away = True
    assert not await scene.budget.left("ann")
    assert await scene.budget.left("bob")


async def test_what_is_spent_meanwhile_counts_at_once_and_in_redis_later(scene: Scene) -> None:
    await scene.budget.spend("ann", 40)
    scene.counts.away = True
    await scene.budget.spend("ann", 30)
    assert await scene.budget.left("ann")
    await scene.budget.spend("ann", 30)
    assert not await scene.budget.left("ann")
    scene.counts.away, scene.at = False, AWAY_S
    assert not await scene.budget.left("ann")
    await scene.budget.spend("ann", 1)
    assert list(scene.counts.tokens.values()) == [101]


async def test_a_clients_own_limit_goes_before_the_settings_in_either_direction(scene: Scene) -> None:
    await scene.budget.spend("ann", 150, 200)
    assert await scene.budget.left("ann", 200)
    assert not await scene.budget.left("ann", 150)
    assert not await scene.budget.left("ann")
    assert await scene.budget.left("ann", 0)
    await scene.budget.spend("bob", 500, 0)
    assert await scene.budget.left("bob", 1), "what a client without a limit uses is not counted"


async def test_redis_is_not_asked_again_for_some_seconds(scene: Scene) -> None:
    scene.counts.away = True
    for _ in range(5):
        assert await scene.budget.left("ann")
        await scene.budget.spend("ann", 1)
    assert scene.counts.asked == 1
    scene.at = AWAY_S
    await scene.budget.left("ann")
    assert scene.counts.asked == 2


async def test_a_redis_that_hangs_is_not_waited_for(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hangs(*_: Any) -> int:
        await asyncio.sleep(60)
        return 0

    monkeypatch.setattr(redis_budget, "LONGEST_S", 0.01)
    monkeypatch.setattr(scene.budget, "_spent", hangs)
    async with asyncio.timeout(5):
        assert await scene.budget.left("ann")


async def test_only_so_many_clients_are_remembered(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    assert CLIENTS >= 1000
    monkeypatch.setattr(redis_budget, "CLIENTS", 2)
    for who in ("ann", "bob", "cem"):
        await scene.budget.spend(who, 100)
    scene.counts.away = True
    assert [await scene.budget.left(who) for who in ("ann", "bob", "cem")] == [True, False, False]
