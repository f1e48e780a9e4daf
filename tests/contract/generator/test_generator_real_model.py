"""The OpenAI writer with llama.cpp's own server and a real small model; what they do is not scripted.

RAGSTONE_TEST_GGUF names the model's file; ``make models`` fetches one that is small enough.
"""

import asyncio
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.generator.adapters.openai_writer import OpenAIWriter
from services.generator.domain import decomposition
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError

FILE = os.environ.get("RAGSTONE_TEST_GGUF", "")
WINDOW = 1024

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FILE, reason="RAGSTONE_TEST_GGUF names no model file; `make models` fetches one"),
    pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="pip install '.[llm]' brings the server"),
]

ASKED = Prompt(system="You answer in one short sentence.", user="What is the capital of France?", used=1, tokens=40)
ENDLESS = Prompt(system="You tell long stories.", user="Tell a very long story of a lighthouse.", used=1, tokens=40)


@contextmanager
def served() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server in its own process, as a user starts it, and its address."""
    command = [sys.executable, "-m", "benchmarks.model_server", FILE, "--ctx", str(WINDOW), "--alias", "small"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])
    try:
        assert server.stdout
        line = server.stdout.readline()
        found = re.search(r"^small at (http://\S+)$", line)
        assert found, line
        yield server, found[1]
    finally:
        server.terminate()
        assert server.wait(5) == 0


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """One server for the tests that leave it as it was."""
    with served() as (_, address):
        yield address


def writer_at(url: str, **changes: Any) -> OpenAIWriter:
    """A patient writer."""
    settings: dict[str, Any] = {
        "url": url, "model": None, "api_key": None, "num_ctx": 8192, "num_predict": 24, "temperature": 0.0,
        "cold_timeout_s": 60.0, "idle_timeout_s": 30.0, "parallel": 1, "waiting": 1,
    }  # fmt: skip
    return OpenAIWriter(**{**settings, **changes})


async def pieces(writer: OpenAIWriter, prompt: Prompt) -> list[Piece]:
    """The whole stream."""
    return await rest(writer.write(prompt))


async def rest(stream: AsyncIterator[Piece]) -> list[Piece]:
    """What is still to come."""
    return [piece async for piece in stream]


async def test_it_is_found_with_its_name_and_window(url: str) -> None:
    writer = writer_at(url)
    await writer.probe()
    assert writer.state().ready
    assert (writer.name, writer.window) == ("small", (WINDOW, 24))


async def test_it_writes_word_by_word(url: str) -> None:
    told = await pieces(writer_at(url), ASKED)
    assert "Paris" in "".join(piece.text for piece in told)
    assert len(told) > 3
    assert [piece.end for piece in told[:-1]] == [None] * (len(told) - 1)
    assert told[-1].prompt_tokens > 20
    assert told[-1].answer_tokens >= len(told) - 1


async def test_it_is_warmed_up_and_keeps_to_a_schema(url: str) -> None:
    writer = writer_at(url)
    await writer.probe()
    await writer.warm_up()
    assert (writer.state().ready, writer.cold, writer.obeys_schema) == (True, False, True)
    prompt = decomposition.ask("When does the dock open and who holds the dock key?")
    reply = await writer.complete(prompt, decomposition.SCHEMA, decomposition.MAX_TOKENS)
    assert (reply.end, set(json.loads(reply.text))) == ("stop", {decomposition.KEY})


async def test_it_counts_tokens(url: str) -> None:
    writer = writer_at(url)
    await writer.probe()
    few, many = await writer.count_tokens("lighthouse"), await writer.count_tokens("lighthouse keeper " * 50)
    assert few is not None
    assert many is not None
    assert 1 <= few < 5
    assert 100 <= many < 400


async def test_its_limit_is_told(url: str) -> None:
    assert (await pieces(writer_at(url, num_predict=5), ENDLESS))[-1].end == "length"


async def test_a_prompt_beyond_its_window_is_told_with_what_to_do(url: str) -> None:
    long = Prompt(system="Rules.", user="lighthouse " * 2 * WINDOW, used=1, tokens=10)
    with pytest.raises(RagstoneError, match="Lower RAGSTONE_NUM_CTX") as caught:
        await pieces(writer_at(url), long)
    assert caught.value.code is ErrorCode.WRITER_UNAVAILABLE


async def test_a_server_that_ends_while_it_writes_is_told() -> None:
    with served() as (server, address):
        stream = writer_at(address, num_predict=900).write(ENDLESS)
        while not (await anext(stream)).text:
            pass
        server.terminate()
        with pytest.raises(RagstoneError, match="cannot be reached or broke off") as caught:
            await asyncio.wait_for(rest(stream), 5)
        assert caught.value.code is ErrorCode.WRITER_UNAVAILABLE


async def test_leaving_before_the_first_word_stops_it(url: str) -> None:
    writer = writer_at(url, cold_timeout_s=0.3)
    long = Prompt(system="Rules.", user="A lighthouse stands there. " * (WINDOW // 6), used=1, tokens=10)
    with pytest.raises(RagstoneError, match="in time"):
        await pieces(writer, long)
    assert await busy(url)
    # It looks once a second whether the reader is there, and a question for its state puts that off.
    await asyncio.sleep(3)
    assert not await busy(url)


async def test_leaving_stops_it(url: str) -> None:
    stream = writer_at(url, num_predict=900).write(ENDLESS)
    while not (await anext(stream)).text:
        pass
    assert await busy(url)
    await stream.aclose()
    async with asyncio.timeout(5):
        while await busy(url):
            await asyncio.sleep(0.05)


async def busy(url: str) -> bool:
    """Whether the model is at work, as the server tells."""
    async with httpx.AsyncClient(trust_env=False) as client:
        (slot,) = (await client.get(f"{url}/slots")).json()
    return bool(slot["is_processing"])
