"""Answers made at once: refused beyond the limit, and counted right however they end."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from services.gateway.settings import GatewaySettings
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.keys import Role
from tests.contract.gateway.front import Front, front, until
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import passage, sentence

LEAVING = 200


def slow(**settings: Any) -> World:
    """Answers whose second sentence takes a minute."""
    world = World(settings=GatewaySettings(cache_s=0, **settings))
    one = passage()
    first = sentence("It opens at nine.", (one, "opens at nine"), of=[one])
    world.answers(one, script=[first, 60.0])
    return world


@contextlib.asynccontextmanager
async def listening(gateway: Front, key: str | None = None, question: str = "When?") -> AsyncIterator[httpx.Response]:
    """A stream that has said its first sentence."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    body = {"question": question, "stream": True}
    async with gateway.client.stream("POST", "/v1/ask", json=body, headers=headers) as response:
        if response.status_code == 200:
            # Kept until the end, since lines that nobody wants any more close the stream.
            lines = response.aiter_lines()
            while await anext(lines) != "event: sentence":
                pass
        else:
            await response.aread()
        yield response


def busy(response: httpx.Response) -> bool:
    if response.status_code == 200:
        return False
    assert (response.status_code, response.json()["code"]) == (503, "busy")
    assert int(response.headers["Retry-After"]) >= 1
    return True


async def test_beyond_the_limit_a_question_is_refused_at_once_and_a_place_that_is_free_again_is_taken(
    redis_url: str,
) -> None:
    async with front(slow(answers_at_once=2), redis_url) as gateway:
        async with listening(gateway, question="One?") as one, listening(gateway, question="Two?") as two:
            assert not busy(one)
            assert not busy(two)
            async with asyncio.timeout(2):
                assert busy(await gateway.ask())
            search = await gateway.client.post("/v1/search", json={"question": "When?"})
            assert search.status_code == 200, "what keeps no model busy needs no place"
        await until(lambda: gateway.gateway.limits.places.taken == 0)
        async with listening(gateway, question="Three?") as three:
            assert not busy(three)


async def test_one_caller_leaves_places_for_others(redis_url: str) -> None:
    world = slow(answers_at_once=10, answers_per_caller=2)
    one, two = world.keys.make(), world.keys.make()
    own = world.keys.make(Role.ADMIN, own=True)
    async with front(world, redis_url) as gateway, contextlib.AsyncExitStack() as stack:
        told = [await stack.enter_async_context(listening(gateway, one, f"{n}?")) for n in range(3)]
        assert [busy(response) for response in told] == [False, False, True]
        other = await stack.enter_async_context(listening(gateway, two))
        assert not busy(other)
        assert not busy(await stack.enter_async_context(listening(gateway, own, "Own?")))
        assert gateway.gateway.limits.places.taken == 3


async def test_two_hundred_that_leave_give_their_places_back(redis_url: str) -> None:
    async with front(slow(answers_at_once=LEAVING), redis_url) as gateway:
        places = gateway.gateway.limits.places
        most = 0

        async def come_and_go(n: int) -> None:
            nonlocal most
            body = json.dumps({"question": f"When is {n}?", "stream": n % 2 == 0}).encode()
            lines = ["POST /v1/ask HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
            head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""])
            reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
            writer.write(head.encode() + body[: -1 if n % 5 == 0 else None])
            if n % 2 == 0 and n % 5:
                await reader.readuntil(b"event: sentence")
            else:
                await asyncio.sleep(0.3)
            most = max(most, places.taken)
            if n % 3:
                writer.close()
            else:
                writer.transport.abort()

        async with asyncio.timeout(60):
            await asyncio.gather(*(come_and_go(n) for n in range(LEAVING)))
        assert most > LEAVING // 4, "they were there at the same time"
        await until(lambda: places.taken == 0)
        async with listening(gateway, question="And now?") as next_one:
            assert not busy(next_one)


@pytest.mark.parametrize(
    "fault", [RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "down"), ValueError("a fault of ours")]
)
@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_that_fails_gives_its_place_back(redis_url: str, fault: Exception, stream: bool) -> None:
    world = slow(answers_at_once=1)
    world.retriever.error = fault  # type: ignore[assignment]
    async with front(world, redis_url) as gateway:
        for n in range(3):
            response = await gateway.client.post("/v1/ask", json={"question": f"{n}?", "stream": stream})
            assert b"busy" not in response.content
        assert gateway.gateway.limits.places.taken == 0


async def test_a_question_that_is_still_being_sent_holds_no_place(redis_url: str) -> None:
    async with front(slow(answers_at_once=1), redis_url) as gateway:
        _, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
        await asyncio.sleep(0.2)
        async with listening(gateway) as told:
            assert not busy(told)
        writer.close()
