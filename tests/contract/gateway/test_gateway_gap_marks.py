"""Who asked what, in a real Redis: once an hour, not too many, and nothing that names anybody."""

from collections.abc import AsyncIterator

import pytest
import redis

from services.gateway.adapters import gap_marks
from services.gateway.adapters.gap_marks import RedisMarks
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.kit.settings import RedisSettings

MAIN, OTHER = SpaceId("main"), SpaceId("other")


@pytest.fixture
async def marks(redis_url: str) -> AsyncIterator[RedisMarks]:
    redis.Redis.from_url(redis_url).flushdb()
    one = RedisMarks(RedisSettings(redis_url=redis_url))
    yield one
    await one.close()


async def test_the_first_time_is_only_once_an_hour_for_each_client_space_and_matter(
    marks: RedisMarks, redis_url: str
) -> None:
    assert await marks.first(MAIN, "10.0.0.1", "a")
    assert not await marks.first(MAIN, "10.0.0.1", "a")
    assert await marks.first(MAIN, "10.0.0.1", "b")
    assert await marks.first(MAIN, "10.0.0.2", "a")
    assert await marks.first(OTHER, "10.0.0.1", "a")
    again = RedisMarks(RedisSettings(redis_url=redis_url))
    assert not await again.first(MAIN, "10.0.0.1", "a"), "another process knows it too"
    await again.close()


async def test_very_many_are_too_many(marks: RedisMarks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gap_marks, "QUESTIONS_AN_HOUR", 3)
    assert [await marks.few(MAIN, "10.0.0.1") for _ in range(5)] == [True, True, True, False, False]
    assert await marks.few(MAIN, "10.0.0.2")


async def test_nothing_names_anybody_and_everything_ends(marks: RedisMarks, redis_url: str) -> None:
    await marks.first(MAIN, "10.0.0.1", "asked:why")
    await marks.few(MAIN, "10.0.0.1")
    stored = redis.Redis.from_url(redis_url)
    keys = [key for key in stored.scan_iter() if isinstance(key, bytes)]
    assert len(keys) == 3
    for key in keys:
        assert b"10.0.0.1" not in key
        assert b"why" not in key
        left = stored.ttl(key)
        assert isinstance(left, int)
        assert 0 < left <= gap_marks.SALT_S


async def test_without_redis_it_says_so() -> None:
    away = RedisMarks(RedisSettings(redis_url="redis://127.0.0.1:1/0", redis_timeout_s=0.2))
    with pytest.raises(RagstoneError) as refused:
        await away.first(MAIN, "c", "a")
    assert refused.value.code is ErrorCode.QUEUE_UNAVAILABLE
    await away.close()
