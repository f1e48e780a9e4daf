"""Answers that Redis remembers for a while, and a Redis that is away, slow or restarted."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection

import pytest
import redis

from services.gateway.adapters.answers import AT_ONCE, RedisAnswers
from services.gateway.ports.answering import KeptAnswer
from services.shared.contracts.answers import AnswerStatus
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.kit.settings import RedisSettings
from tests.contract.gateway.test_gateway_leaving import until

AllLive = Callable[[SpaceId, Collection[DocumentId]], Awaitable[bool]]

MAIN, OTHER = SpaceId("main"), SpaceId("other")
ANSWER = KeptAnswer("a1", "When? 😀", "At nine. [1]", AnswerStatus.ANSWERED, [DocumentId("a/b.md")])


async def all_live(_: SpaceId, __: Collection[DocumentId]) -> bool:
    return True


def answers_at(url: str, keep_s: int = 60, timeout_s: float = 1.0, live: AllLive = all_live) -> RedisAnswers:
    return RedisAnswers(RedisSettings(redis_url=url, redis_timeout_s=timeout_s), keep_s=keep_s, all_live=live)


async def written(answers: RedisAnswers) -> None:
    await until(lambda: not answers._writing)


@pytest.fixture
async def answers(redis_url: str) -> AsyncIterator[RedisAnswers]:
    redis.Redis.from_url(redis_url).flushall()
    one = answers_at(redis_url)
    yield one
    await one.close()


async def test_an_answer_is_found_by_its_id_in_its_space_for_a_while(answers: RedisAnswers, redis_url: str) -> None:
    answers.keep(MAIN, ANSWER)
    await written(answers)
    assert await answers.find(MAIN, "a1") == ANSWER
    assert await answers.find(OTHER, "a1") is None
    assert await answers.find(MAIN, "a2") is None
    client = redis.Redis.from_url(redis_url)
    (key,) = client.keys("ragstone:answer:*")
    assert 50 < client.ttl(key) <= 60
    client.delete(key)
    assert await answers.find(MAIN, "a1") is None


async def test_what_another_release_wrote_is_read_when_it_can_be(answers: RedisAnswers, redis_url: str) -> None:
    answers.keep(MAIN, ANSWER)
    await written(answers)
    client = redis.Redis.from_url(redis_url)
    (key,) = client.keys("ragstone:answer:*")
    stored = client.get(key)
    assert isinstance(stored, bytes)
    client.set(key, stored[:-1] + b', "newer": 1}')
    assert await answers.find(MAIN, "a1") == ANSWER
    client.set(key, b'{"older": 1}')
    assert await answers.find(MAIN, "a1") is None


async def test_nothing_is_remembered_for_no_time(redis_url: str) -> None:
    none = answers_at(redis_url, keep_s=0)
    none.keep(MAIN, KeptAnswer("a0", "When?", "At nine.", AnswerStatus.ANSWERED, []))
    assert not none._writing
    assert await none.find(MAIN, "a0") is None
    await none.close()


async def test_a_redis_that_closed_the_connection_is_asked_again(answers: RedisAnswers, redis_url: str) -> None:
    answers.keep(MAIN, ANSWER)
    await written(answers)
    admin = redis.Redis.from_url(redis_url)
    for connection in admin.client_list():
        if int(connection["id"]) != admin.client_id():
            admin.client_kill(connection["addr"])
    answers.keep(MAIN, KeptAnswer("a2", "Where?", "Left.", AnswerStatus.ANSWERED, []))
    await written(answers)
    assert await answers.find(MAIN, "a2") is not None


async def test_without_redis_keeping_costs_nothing_and_finding_says_what_to_do(nowhere: str) -> None:
    answers = answers_at(nowhere)
    began = time.monotonic()
    for _ in range(2 * AT_ONCE):
        answers.keep(MAIN, ANSWER)
    assert len(answers._writing) == AT_ONCE
    assert time.monotonic() - began < 2
    await written(answers)
    with pytest.raises(RagstoneError) as away:
        await answers.find(MAIN, "a1")
    assert away.value.code is ErrorCode.QUEUE_UNAVAILABLE
    assert "RAGSTONE_REDIS_URL" in away.value.detail
    await answers.close()


async def test_a_redis_that_hangs_holds_nobody_up() -> None:
    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(-1)
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    answers = answers_at(f"redis://127.0.0.1:{port}/0", timeout_s=0.3)
    began = time.monotonic()
    answers.keep(MAIN, ANSWER)
    assert time.monotonic() - began < 0.1
    with pytest.raises(RagstoneError):
        await answers.find(MAIN, "a1")
    await written(answers)
    await answers.close()
    assert time.monotonic() - began < 3
    server.close()


async def test_closing_waits_a_moment_for_what_is_on_its_way(redis_url: str) -> None:
    leaving = answers_at(redis_url)
    leaving.keep(MAIN, KeptAnswer("late", "When?", "At nine.", AnswerStatus.ANSWERED, []))
    await leaving.close()
    after = answers_at(redis_url)
    assert await after.find(MAIN, "late") is not None
    await after.close()


async def test_answers_that_rest_on_a_deleted_document_are_forgotten(answers: RedisAnswers, redis_url: str) -> None:
    answers.keep(MAIN, ANSWER)
    answers.keep(OTHER, ANSWER)
    await written(answers)
    assert await answers.forget(MAIN, DocumentId("a/b.md")) == 1
    assert await answers.forget(MAIN, DocumentId("a/b.md")) == 0
    assert await answers.find(MAIN, "a1") is None
    assert await answers.find(OTHER, "a1") == ANSWER
    assert not redis.Redis.from_url(redis_url).keys("*:main:*")


async def test_an_answer_that_was_on_its_way_while_its_document_was_deleted_is_not_kept(redis_url: str) -> None:
    asked: list[tuple[SpaceId, list[DocumentId]]] = []

    async def deleted(space: SpaceId, documents: Collection[DocumentId]) -> bool:
        asked.append((space, list(documents)))
        return False

    redis.Redis.from_url(redis_url).flushall()
    answers = answers_at(redis_url, live=deleted)
    answers.keep(MAIN, ANSWER)
    await written(answers)
    assert asked == [(MAIN, [DocumentId("a/b.md")])]
    assert await answers.find(MAIN, "a1") is None
    await answers.close()
