"""Clients that leave a real socket stop what was begun for them."""

import asyncio
import json

import httpx
import pytest

from services.shared.contracts.writing import SentenceWritten
from tests.contract.gateway.conftest import Serving
from tests.contract.gateway.test_gateway_catalog import live
from tests.unit.gateway.messages import sentence


async def until(true: object, seconds: float = 3.0) -> None:
    """Wait for a callable to become true."""
    assert callable(true)
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)


async def written(gateway: Serving, client: httpx.AsyncClient) -> SentenceWritten:
    one = await live(gateway, client, "a.md", "The key hangs left.")
    first = sentence("Left.", (one, "hangs left"), of=[one])
    gateway.world.answers(one, script=[first, 60.0])
    return first


async def test_leaving_a_stream_closes_the_writer(gateway: Serving, client: httpx.AsyncClient) -> None:
    await written(gateway, client)
    async with client.stream("POST", "/v1/ask", json={"question": "Where?", "stream": True}) as response:
        async for line in response.aiter_lines():
            if line == "event: sentence":
                break
    await until(lambda: gateway.world.generator.closed == 1)


@pytest.mark.parametrize("hang", ["retriever", "generator"])
async def test_leaving_a_plain_question_stops_it(gateway: Serving, client: httpx.AsyncClient, hang: str) -> None:
    await written(gateway, client)
    gateway.world.retriever.hang = hang == "retriever"
    body = json.dumps({"question": "Where?"}).encode()
    host, port = gateway.url.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    head = "POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await until(lambda: gateway.world.retriever.calls)
    await asyncio.sleep(0.1)
    writer.close()
    await until(lambda: gateway.world.retriever.cancelled or gateway.world.generator.closed == 1)
