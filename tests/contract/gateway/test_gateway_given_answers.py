"""Answers that are given again: in a real Valkey, erased with their documents, and shared over real sockets."""

import asyncio
import json
import time
from collections.abc import AsyncIterator

import httpx
import pytest
import redis
from structlog.testing import capture_logs

from services.gateway.adapters.answers import RedisAnswers
from services.gateway.adapters.given import LARGEST_BYTES, LOOK_S, RedisGiven
from services.gateway.domain.given import Given
from services.gateway.ports.answering import KeptAnswer
from services.shared.contracts.answers import AnswerStatus
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.kit.remembered import AnswerEraser, resting_key
from services.shared.kit.settings import RedisSettings
from tests.contract.gateway.conftest import Serving
from tests.contract.gateway.test_gateway_answers import all_live
from tests.contract.gateway.test_gateway_catalog import live
from tests.contract.gateway.test_gateway_leaving import until
from tests.unit.gateway.fake_given import STANDING, WAYS
from tests.unit.gateway.messages import done, passage, sentence
from tests.unit.gateway.test_gateway_given import answer

MAIN, OTHER = SpaceId("main"), SpaceId("other")
GIVEN = Given([passage()], [], answer(text="At nine 😀 [1]."))
SHED = DocumentId("shed.md")


def given_at(url: str, keep_s: int = 60, rest_s: int = 600) -> RedisGiven:
    return RedisGiven(RedisSettings(redis_url=url, redis_timeout_s=1.0), keep_s=keep_s, rest_s=rest_s)


@pytest.fixture
async def given(redis_url: str) -> AsyncIterator[RedisGiven]:
    redis.Redis.from_url(redis_url).flushall()
    one = given_at(redis_url)
    yield one
    await one.close()


async def test_it_is_found_whole_by_another_gateway_and_in_its_space_alone(given: RedisGiven, redis_url: str) -> None:
    assert await given.keep(MAIN, "f1", GIVEN)
    another = given_at(redis_url)
    assert await another.find(MAIN, "f1") == GIVEN
    assert await another.find(OTHER, "f1") is None
    assert await another.find(MAIN, "f2") is None
    await another.drop(MAIN, "f1")
    assert await given.find(MAIN, "f1") is None
    await another.close()


async def test_it_goes_by_itself_and_the_note_of_it_not_before(given: RedisGiven, redis_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    answers = RedisAnswers(RedisSettings(redis_url=redis_url), keep_s=30, all_live=all_live, rest_s=600)
    await given.keep(MAIN, "f1", GIVEN)
    answers.keep(MAIN, KeptAnswer("a1", "When?", "At nine.", AnswerStatus.ANSWERED, [SHED]))
    await until(lambda: client.scard(resting_key(MAIN, SHED)) == 2)
    assert 50 < client.ttl("ragstone:answer:main:given:f1") <= 60
    assert 590 < client.ttl(resting_key(MAIN, SHED)) <= 600
    await answers.close()


async def test_it_is_erased_with_any_of_its_documents_and_counted(given: RedisGiven, redis_url: str) -> None:
    other = passage("Oars hang left.", document="oars.md", version="o1", source_text="Oars hang left.")
    eraser = AnswerEraser(RedisSettings(redis_url=redis_url))
    client = redis.Redis.from_url(redis_url)
    for document in ("shed.md", "oars.md"):
        await given.keep(MAIN, "f1", Given([passage(), other], [], GIVEN.answer))
        await given.keep(OTHER, "f1", GIVEN)
        assert eraser.forget(MAIN, DocumentId(document)) == 1
        assert await given.find(MAIN, "f1") is None
        assert await given.find(OTHER, "f1") == GIVEN
    assert not [key for key in client.scan_iter("ragstone:answer:main:*") if b"nine" in (client.get(key) or b"")]
    eraser.close()


async def test_what_is_too_large_is_not_kept(given: RedisGiven) -> None:
    large = Given([passage()], [], answer(text="x" * LARGEST_BYTES))
    assert not await given.keep(MAIN, "f1", large)
    assert await given.find(MAIN, "f1") is None


async def test_what_is_in_no_known_form_is_none(given: RedisGiven, redis_url: str) -> None:
    await given.keep(MAIN, "f1", GIVEN)
    redis.Redis.from_url(redis_url).set("ragstone:answer:main:given:f1", b'{"older": 1}')
    assert await given.find(MAIN, "f1") is None


async def test_it_is_no_answer_that_could_be_judged(given: RedisGiven, redis_url: str) -> None:
    await given.keep(MAIN, "f1", GIVEN)
    answers = RedisAnswers(RedisSettings(redis_url=redis_url), keep_s=30, all_live=all_live)
    assert await answers.find(MAIN, "given:f1") is None
    await answers.close()


async def test_for_no_time_nothing_is_kept_or_looked_for(nowhere: str) -> None:
    off = given_at(nowhere, keep_s=0)
    with capture_logs() as logs:
        assert not await off.keep(MAIN, "f1", GIVEN)
        assert await off.find(MAIN, "f1") is None
    assert logs == []
    await off.close()


async def test_a_redis_that_is_away_is_said_once_and_then_left_alone(nowhere: str) -> None:
    away = given_at(nowhere)
    with capture_logs() as logs:
        began = time.monotonic()
        for _ in range(50):
            assert await away.find(MAIN, "f1") is None
            assert not await away.keep(MAIN, "f1", GIVEN)
        assert time.monotonic() - began < 1
    assert [line["event"] for line in logs] == ["answers_not_given_again"]
    await away.close()


async def test_a_redis_that_hangs_holds_nobody_up(given: RedisGiven, redis_url: str) -> None:
    await given.find(MAIN, "f1")
    redis.Redis.from_url(redis_url).client_pause(900)
    began = time.monotonic()
    assert await given.find(MAIN, "f1") is None
    assert await given.find(MAIN, "f1") is None
    assert time.monotonic() - began < LOOK_S + 0.4
    await asyncio.sleep(0.7)


async def writing(gateway: Serving, client: httpx.AsyncClient, pause_s: float) -> None:
    one = await live(gateway, client, "a.md", "The key hangs left.")
    gateway.world.ways.known = WAYS
    gateway.world.standings.now = STANDING
    first = sentence("Left.", (one, "hangs left"), of=[one])
    gateway.world.answers(one, script=[first, pause_s, done()])


async def test_equal_questions_over_sockets_run_once(gateway: Serving, client: httpx.AsyncClient) -> None:
    await writing(gateway, client, 0.3)
    heard = await asyncio.gather(
        *(client.post("/v1/ask", json={"question": "Where?", "stream": n % 2 == 0}) for n in range(10))
    )
    assert len(gateway.world.generator.calls) == 1
    answers = [json.loads(one.text.split("event: answer\ndata: ")[1].split("\n")[0]) for one in heard[::2]]
    answers += [one.json() for one in heard[1::2]]
    assert len({one["id"] for one in answers}) == len({one["trace_id"] for one in answers}) == 10
    assert {one["text"] for one in answers} == {"Left [1]."}
    again = (await client.post("/v1/ask", json={"question": "Where?"})).json()
    assert again["cached"] is True


async def test_the_first_client_may_leave_and_the_last_one_stops_the_writer(
    gateway: Serving, client: httpx.AsyncClient
) -> None:
    await writing(gateway, client, 60.0)
    body = {"question": "Where?", "stream": True}
    async with client.stream("POST", "/v1/ask", json=body) as second:
        # An iterator that is let go closes its stream.
        lines = second.aiter_lines()
        async with client.stream("POST", "/v1/ask", json=body) as first:
            await sentence_heard(first.aiter_lines())
        await sentence_heard(lines)
        await asyncio.sleep(0.2)
        assert gateway.world.generator.closed == 0
    left = time.monotonic()
    await until(lambda: gateway.world.generator.closed == 1)
    assert time.monotonic() - left < 1
    assert len(gateway.world.generator.calls) == 1


async def sentence_heard(lines: AsyncIterator[str]) -> None:
    async for line in lines:
        if line == "event: sentence":
            return
