"""The Ollama writer with a real small model behind Ollama's wire format, and that format against recordings of Ollama.

RAGSTONE_TEST_GGUF names the model's file, as for the other server.
"""

import asyncio
import importlib.util
import json
import os
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from benchmarks.ollama_facade import facade
from services.generator.adapters.ollama_writer import OllamaWriter
from services.generator.domain import decomposition
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.generator.test_generator_service import served

FILE = os.environ.get("RAGSTONE_TEST_GGUF", "")
MODEL = "smollm2:135m"
WINDOW = 1024

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FILE, reason="RAGSTONE_TEST_GGUF names no model file; benchmarks.fetch_models has some"),
    pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="pip install '.[llm]' brings the server"),
]

ASKED = Prompt(system="You answer in one short sentence.", user="What is the capital of France?", used=1, tokens=40)
ENDLESS = Prompt(system="You tell long stories.", user="Tell a very long story of a lighthouse.", used=1, tokens=40)
HELLO = [{"role": "user", "content": "What is the capital of France? One short sentence."}]
LAST = {
    "model", "created_at", "message", "done", "done_reason", "total_duration", "load_duration", "prompt_eval_count",
    "prompt_eval_duration", "eval_count", "eval_duration",
}  # fmt: skip


@asynccontextmanager
async def ollama() -> AsyncIterator[tuple[FastAPI, str]]:
    """The server with nothing loaded."""
    app = facade(Path(FILE), MODEL)
    async with served(app) as url:
        yield app, url


def writer_at(url: str, **changes: Any) -> OllamaWriter:
    """A patient writer."""
    settings: dict[str, Any] = {
        "host": url, "model": MODEL, "num_ctx": WINDOW, "num_predict": 24, "temperature": 0.0, "keep_alive": "5m",
        "cold_timeout_s": 60.0, "idle_timeout_s": 30.0, "parallel": 1, "waiting": 1,
    }  # fmt: skip
    return OllamaWriter(**{**settings, **changes})


async def busy(app: FastAPI) -> bool:
    """Whether the model is at work, as llama.cpp tells."""
    async with httpx.AsyncClient(trust_env=False) as client:
        (slot,) = (await client.get(f"{app.state.runner.url}/slots")).json()
    return bool(slot["is_processing"])


async def test_the_wire_is_as_recorded() -> None:
    options = {"temperature": 0, "num_predict": 20, "seed": 1}
    array = {"type": "array", "items": {"type": "string"}, "maxItems": 3}
    said: list[tuple[dict[str, Any] | bytes, int, str | None]] = [
        ({"model": MODEL, "messages": HELLO, "stream": False, "options": options}, 200, None),
        ({"model": MODEL, "messages": HELLO, "stream": False, "think": False, "options": options}, 200, None),
        ({"model": MODEL, "messages": HELLO, "stream": False, "format": "", "options": options}, 200, None),
        ({"model": MODEL, "messages": HELLO, "stream": False, "options": {"nonsense": 1, **options}}, 200, None),
        ({"model": "nope", "messages": HELLO}, 404, "model 'nope' not found"),
        ({"messages": HELLO}, 400, "model is required"),
        (b"{not json", 400, "invalid character 'n' looking for beginning of object key string"),
        ({"model": MODEL, "messages": HELLO, "format": "yaml"}, 500, "invalid format"),
        ({"model": MODEL, "messages": HELLO, "format": {"type": "nonsense"}}, 400, "JSON schema"),
        ({"model": MODEL, "messages": HELLO, "options": {"temperature": "hot"}}, 500, "must be of type float32"),
        ({"model": MODEL, "messages": HELLO, "think": True}, 400, f'"{MODEL}" does not support thinking'),
    ]
    async with ollama() as (app, url), httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client:
        assert (await client.get("/")).text == "Ollama is running"
        unknown = await client.post("/api/show", json={"model": "nope"})
        assert (unknown.status_code, unknown.json()) == (404, {"error": "model 'nope:latest' not found"})
        loaded = (await client.post("/api/chat", json={"model": MODEL, "messages": [], "stream": False})).json()
        assert (loaded["done"], loaded["done_reason"], app.state.runner.loaded) == (True, "load", True)
        for body, status, error in said:
            content = body if isinstance(body, bytes) else json.dumps(body)
            answer = await client.post("/api/chat", content=content)
            assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (status, "application/json")
            told = answer.json()
            assert error in told["error"] if error else set(told) == LAST, told
        streamed = await client.post("/api/chat", json={"model": MODEL, "messages": HELLO, "options": options})
        *lines, last = (json.loads(line) for line in streamed.text.splitlines())
        assert streamed.headers["content-type"] == "application/x-ndjson"
        assert all(set(line) == {"model", "created_at", "message", "done"} for line in lines)
        assert (set(last), last["message"]["content"]) == (LAST, "")
        formed = {"model": MODEL, "messages": HELLO, "format": array, "stream": False, "options": {"num_predict": 80}}
        assert (await client.post("/api/chat", json=formed)).json()["message"]["content"].lstrip().startswith("[")
        gone = (await client.post("/api/chat", json={"model": MODEL, "messages": [], "keep_alive": 0})).json()
        assert (gone["done_reason"], app.state.runner.loaded) == ("unload", False)


async def test_a_cold_model_is_loaded_by_the_warm_up_and_only_once() -> None:
    async with ollama() as (app, url):
        writer = writer_at(url)
        await writer.probe()
        assert not app.state.runner.loaded
        assert writer.cold
        await writer.warm_up()
        assert app.state.runner.loaded
        assert (writer.state().ready, writer.obeys_schema) == (True, True), writer.state().detail
        async with aclosing(writer.write(ASKED)) as pieces:
            told = [piece async for piece in pieces]
        assert "Paris" in "".join(piece.text for piece in told)
        assert told[-1].prompt_tokens > 20
        assert told[-1].answer_tokens >= len(told) - 1 > 3
        assert app.state.runner.loads == 1


async def test_a_real_reply_keeps_to_the_schema() -> None:
    async with ollama() as (_, url):
        prompt = decomposition.ask("When does the dock open and who holds the dock key?")
        reply = await writer_at(url).complete(prompt, decomposition.SCHEMA, decomposition.MAX_TOKENS)
    assert (reply.end, set(json.loads(reply.text))) == ("stop", {decomposition.KEY})
    assert len(json.loads(reply.text)[decomposition.KEY]) <= 3
    assert reply.answer_tokens > 0


@pytest.mark.parametrize("how", ["write", "complete"])
async def test_leaving_stops_the_model_within_a_second(how: str) -> None:
    async with ollama() as (app, url):
        writer = writer_at(url, num_predict=900)
        await writer.probe()
        await writer.warm_up()

        async def ask() -> None:
            if how == "complete":
                await writer.complete(ENDLESS, None, 900)
            async with aclosing(writer.write(ENDLESS)) as pieces:
                async for _ in pieces:
                    pass

        asking = asyncio.create_task(ask())
        async with asyncio.timeout(10):
            while not await busy(app):
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        async with asyncio.timeout(1):
            while await busy(app):
                await asyncio.sleep(0.05)


async def test_a_model_that_dies_while_it_writes_is_told() -> None:
    async with ollama() as (app, url), aclosing(writer_at(url, num_predict=900).write(ENDLESS)) as stream:
        while not (await anext(stream)).text:
            pass
        await app.state.runner.unload()
        with pytest.raises(RagstoneError) as caught:
            await asyncio.wait_for(_rest(stream), 5)
    assert caught.value.code is ErrorCode.WRITER_UNAVAILABLE


async def _rest(stream: AsyncIterator[Piece]) -> None:
    async for _ in stream:
        pass
