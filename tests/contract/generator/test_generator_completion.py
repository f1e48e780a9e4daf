"""Both model writers, held to the same: whole replies, warm-up, trial, and a client that leaves."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing
from typing import Any

import pytest

from services.generator.adapters.ollama_writer import OllamaWriter
from services.generator.adapters.openai_writer import OpenAIWriter
from services.generator.domain.decomposition import SCHEMA
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.generator import ollama_server as ollama
from tests.contract.generator import openai_server as openai
from tests.e2e.stack import WHOLE

PROMPT = Prompt(system="Rules.", user="Question?", used=1, tokens=10)
REPEATS = 50 if WHOLE else 15
SOON_S = 1.0

Writer = OllamaWriter | OpenAIWriter
Server = ollama.OllamaServer | openai.OpenAIServer


@pytest.fixture(params=["ollama", "openai"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Server]:
    made = ollama.ollama_server() if request.param == "ollama" else openai.openai_server()
    async with made as running:
        yield running


def words(server: Server, *texts: str) -> list[Any]:
    """A script that says these."""
    says = ollama.said if isinstance(server, ollama.OllamaServer) else openai.says
    return [says(text) for text in texts]


def end(server: Server, reason: str = "stop") -> dict[str, Any]:
    """The script's last event."""
    return ollama.finished(reason) if isinstance(server, ollama.OllamaServer) else openai.ends(reason)


def broken(server: Server) -> dict[str, Any]:
    """An event that says that the model failed."""
    return {"error": "boom"} if isinstance(server, ollama.OllamaServer) else {"error": {"message": "boom"}}


def half(server: Server) -> bytes:
    """A frame cut in half."""
    return b'{"message": {"cont\n' if isinstance(server, ollama.OllamaServer) else b'data: {"choices":[{"del\n\n'


def writer_at(server: Server, **changes: Any) -> Writer:
    """A writer with short limits."""
    settings: dict[str, Any] = {
        "num_ctx": 2048, "num_predict": 100, "temperature": 0.1, "cold_timeout_s": 5.0, "idle_timeout_s": 0.3,
        "parallel": 1, "waiting": 1, **changes,
    }  # fmt: skip
    if isinstance(server, ollama.OllamaServer):
        return OllamaWriter(host=server.url, model=ollama.MODEL, keep_alive="5m", **settings)
    return OpenAIWriter(url=server.url, model=None, api_key=None, **settings)


async def test_a_whole_reply_comes_with_its_counts(server: Server) -> None:
    server.script = [*words(server, '{"sub_questions"', ": []}"), end(server)]
    reply = await writer_at(server).complete(PROMPT, SCHEMA, 64)
    assert reply.text == '{"sub_questions": []}'
    assert reply.end == "stop"
    assert reply.prompt_tokens > 0
    assert reply.answer_tokens > 0


async def test_schema_and_limit_are_sent_and_no_schema_when_there_is_none(server: Server) -> None:
    server.script = [end(server)]
    writer = writer_at(server)
    await writer.complete(PROMPT, SCHEMA, 64)
    await writer.complete(PROMPT, None, 32)
    formed, plain = server.asked
    if isinstance(server, ollama.OllamaServer):
        assert formed["format"] == SCHEMA
        assert formed["think"] is False
        assert formed["options"] == {"num_ctx": 2048, "num_predict": 64, "temperature": 0.1}
        assert (plain.get("format"), plain["options"]["num_predict"]) == (None, 32)
    else:
        assert formed["response_format"]["type"] == "json_schema"
        assert formed["response_format"]["json_schema"]["schema"] == SCHEMA
        assert formed["max_tokens"] == 64
        assert ("response_format" in plain, plain["max_tokens"]) == (False, 32)


@pytest.mark.parametrize("kind", ["error", "closes", "stalls", "half a frame", "no end"])
async def test_every_failure_of_a_whole_reply_is_the_same_error_and_quick(server: Server, kind: str) -> None:
    then: dict[str, list[Any]] = {
        "error": [broken(server)], "closes": ["close"], "stalls": [9.0], "half a frame": [half(server)], "no end": [],
    }  # fmt: skip
    server.script = [*words(server, "one", "two", "three", "four", "five"), *then[kind]]
    began = asyncio.get_running_loop().time()
    with pytest.raises(RagstoneError) as caught:
        await writer_at(server).complete(PROMPT, SCHEMA, 64)
    assert caught.value.code is ErrorCode.WRITER_UNAVAILABLE
    assert asyncio.get_running_loop().time() - began < 2


async def test_a_whole_reply_waits_in_the_same_queue(server: Server) -> None:
    server.script = [0.2, *words(server, "{}"), end(server)]
    writer = writer_at(server)
    replies = await asyncio.gather(*(writer.complete(PROMPT, None, 8) for _ in range(3)), return_exceptions=True)
    busy = [one for one in replies if isinstance(one, RagstoneError)]
    assert [(one.code, bool(one.retry_after_s)) for one in busy] == [(ErrorCode.BUSY, True)]
    assert len(server.asked) == 2


async def _write(writer: Writer) -> None:
    async with aclosing(writer.write(PROMPT)) as pieces:
        async for _ in pieces:
            pass


def _whole(writer: Writer) -> Coroutine[Any, Any, Piece]:
    return writer.complete(PROMPT, SCHEMA, 64)


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("when", ["before the first word", "in the middle"])
@pytest.mark.parametrize("ask", [_write, _whole], ids=["write", "complete"])
async def test_clients_who_leave_leave_nothing_behind(server: Server, when: str, ask: Any) -> None:
    server.script = [20.0] if when == "before the first word" else [*words(server, "a", "b", "c"), 20.0]
    writer = writer_at(server, cold_timeout_s=30.0, idle_timeout_s=30.0)
    before: tuple[int, int] | None = None
    for nth in range(1, REPEATS + 1):
        asking = asyncio.create_task(ask(writer))
        await server.is_asked(nth)
        if when == "in the middle":
            await asyncio.sleep(0.02)
        went = asyncio.get_running_loop().time()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await server.is_left(nth)
        assert server.left_at[-1] - went < SOON_S
        if nth == 5:
            await asyncio.sleep(0.1)
            before = len(asyncio.all_tasks()), _open_files()
    await asyncio.sleep(0.1)
    assert (len(asyncio.all_tasks()), _open_files()) == before
    writer.check_room()
    server.script = [*words(server, "next"), end(server)]
    assert (await asyncio.wait_for(writer.complete(PROMPT, None, 8), SOON_S)).text == "next"


async def test_leaving_the_queue_gives_the_place_up_and_asks_nothing(server: Server) -> None:
    server.script = [20.0]
    writer = writer_at(server, cold_timeout_s=30.0)
    first = asyncio.create_task(_write(writer))
    await server.is_asked()
    for _ in range(REPEATS):
        waiting = asyncio.create_task(_whole(writer))
        await asyncio.sleep(0)
        with pytest.raises(RagstoneError):
            writer.check_room()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        writer.check_room()
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    server.script = [*words(server, "next"), end(server)]
    assert (await asyncio.wait_for(writer.complete(PROMPT, None, 8), SOON_S)).text == "next"
    assert len(server.asked) == 2


async def test_it_is_not_ready_while_the_model_is_loaded_and_warm_then(server: Server) -> None:
    server.load_s = 0.4
    writer = writer_at(server)
    await writer.probe()
    assert writer.cold
    loading = asyncio.create_task(writer.warm_up())
    async with asyncio.timeout(3):
        while not server.loads:
            await asyncio.sleep(0.01)
    assert (writer.state().ready, "is being loaded" in writer.state().detail) == (False, True)
    await loading
    assert (writer.state().ready, writer.cold, writer.obeys_schema) == (True, False, True)
    assert "keeps replies to a schema" in writer.state().detail


async def test_a_load_has_its_own_limit(server: Server) -> None:
    server.load_s = 5.0
    writer = writer_at(server, cold_timeout_s=0.2)
    await writer.probe()
    await writer.warm_up()
    assert (writer.state().ready, writer.cold) == (False, True)
    assert "in time" in writer.state().detail


async def test_a_warm_model_stays_ready_while_it_is_warmed_up_again(server: Server) -> None:
    writer = writer_at(server)
    await writer.probe()
    await writer.warm_up()
    server.load_s = 0.3
    again = asyncio.create_task(writer.warm_up())
    await asyncio.sleep(0.1)
    assert writer.state().ready
    await again


async def test_a_server_that_ignores_the_schema_is_found_out(server: Server) -> None:
    server.obeys = False
    writer = writer_at(server)
    await writer.probe()
    await writer.warm_up()
    assert writer.obeys_schema is False
    assert writer.state().ready
    assert "ignores a reply's schema" in writer.state().detail


async def test_a_server_that_broke_off_is_warmed_up_again(server: Server) -> None:
    server.script = [*words(server, "a"), "close"]
    writer = writer_at(server)
    await writer.probe()
    await writer.warm_up()
    with pytest.raises(RagstoneError):
        await writer.complete(PROMPT, None, 8)
    assert writer.state().ready
    assert writer.cold


async def test_ollama_is_loaded_with_the_window_it_is_asked_with() -> None:
    async with ollama.ollama_server() as server:
        await writer_at(server).warm_up()
        (load,) = server.loads
    assert load["options"] == {"num_ctx": 2048, "num_predict": 100, "temperature": 0.1}
    assert load["keep_alive"] == "5m"
    assert load["messages"] == []


async def test_a_model_that_does_not_fit_is_told() -> None:
    async with ollama.ollama_server() as server:
        server.load_status = 500
        writer = writer_at(server)
        await writer.probe()
        await writer.warm_up()
    assert (writer.state().ready, "more system memory" in writer.state().detail) == (False, True)


async def test_tokens_are_counted_where_the_server_does_and_not_asked_for_again_where_not() -> None:
    async with openai.openai_server() as server:
        writer = writer_at(server)
        assert await writer.count_tokens("not looked at yet") is None
        await writer.probe()
        assert await writer.count_tokens("one two three") == 3
        server.counts = False
        assert [await writer.count_tokens("one two three") for _ in range(3)] == [None] * 3
        assert server.counted == 2
    async with ollama.ollama_server() as other:
        assert await writer_at(other).count_tokens("one") is None


async def test_counts_in_an_event_behind_the_end_are_read_and_not_waited_for_long() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}}
    async with openai.openai_server() as server:
        writer = writer_at(server)
        server.script = [openai.says("a"), openai.chunk({}, "stop"), usage, openai.DONE]
        assert await writer.complete(PROMPT, None, 8) == Piece("a", "stop", 7, 2)
        server.script = [openai.says("a"), openai.chunk({}, "stop"), 20.0]
        async with asyncio.timeout(2):
            assert await writer.complete(PROMPT, None, 8) == Piece("a", "stop")
        server.script = [openai.says("a"), openai.chunk({}, "stop"), openai.DONE]
        assert await writer.complete(PROMPT, None, 8) == Piece("a", "stop")


async def test_a_server_that_refuses_a_schema_is_one_that_ignores_it() -> None:
    async with openai.openai_server() as server:
        writer = writer_at(server)
        await writer.probe()
        server.refuses_schema = True
        await writer.warm_up()
        assert (writer.state().ready, writer.obeys_schema) == (True, False)
