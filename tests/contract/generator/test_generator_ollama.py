"""The Ollama writer against Ollama's wire format: what is sent, what is read, and every way it can fail."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from services.generator.adapters.ollama_writer import OllamaWriter
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.generator.ollama_server import MODEL, OllamaServer, finished, ollama_server, said

PROMPT = Prompt(system="Rules.", user="Question?", used=1, tokens=10)


@pytest.fixture
async def server() -> AsyncIterator[OllamaServer]:
    async with ollama_server() as running:
        yield running


def writer_at(url: str, **changes: Any) -> OllamaWriter:
    """A writer with short limits."""
    settings: dict[str, Any] = {
        "host": url, "model": MODEL, "num_ctx": 2048, "num_predict": 100, "temperature": 0.1, "keep_alive": "5m",
        "cold_timeout_s": 5.0, "idle_timeout_s": 0.3, "parallel": 1, "waiting": 0,
    }  # fmt: skip
    return OllamaWriter(**{**settings, **changes})


async def pieces(writer: OllamaWriter) -> list[Piece]:
    """The whole stream."""
    return [piece async for piece in writer.write(PROMPT)]


async def test_a_stream_is_read_to_its_end(server: OllamaServer) -> None:
    server.script = [said("The"), said(" dock"), finished()]
    assert await pieces(writer_at(server.url)) == [Piece("The"), Piece(" dock"), Piece("", "stop", 40, 8)]


async def test_the_limit_is_told(server: OllamaServer) -> None:
    server.script = [said("The"), finished("length")]
    assert (await pieces(writer_at(server.url)))[-1] == Piece("", "length", 40, 8)


async def test_window_limit_and_no_thinking_are_sent(server: OllamaServer) -> None:
    server.script = [finished()]
    await pieces(writer_at(server.url))
    (body,) = server.asked
    assert body["options"] == {"num_ctx": 2048, "num_predict": 100, "temperature": 0.1}
    assert body["think"] is False
    assert body["stream"] is True
    assert body["keep_alive"] == "5m"
    assert [(one["role"], one["content"]) for one in body["messages"]] == [("system", "Rules."), ("user", "Question?")]


@pytest.mark.parametrize(
    "script",
    [
        [said("The"), {"error": "an error was encountered while running the model"}],
        [said("The"), "close"],
        [said("The"), 3.0, finished()],
        [said("The"), b'{"model":"smollm2:135m","mess\n'],
        [said("The")],
        [b"[]\n"],
        [b'"text"\n'],
        [b'{"message": 5}\n'],
    ],
    ids=["error line", "broken off", "stalled", "half a frame", "no last line", "a list", "a string", "another shape"],
)
async def test_every_failure_in_the_middle_is_the_same_error(server: OllamaServer, script: list[Any]) -> None:
    server.script = script
    with pytest.raises(RagstoneError) as caught:
        await pieces(writer_at(server.url))
    assert caught.value.code is ErrorCode.WRITER_UNAVAILABLE
    assert server.url in caught.value.detail


async def test_a_cold_load_has_its_own_patience(server: OllamaServer) -> None:
    server.script = [0.8, said("The"), finished()]
    assert len(await pieces(writer_at(server.url))) == 2
    with pytest.raises(RagstoneError, match="in time"):
        await pieces(writer_at(server.url, cold_timeout_s=0.2))


async def test_an_error_status_is_told(server: OllamaServer) -> None:
    server.status = 500
    with pytest.raises(RagstoneError, match="llama runner process"):
        await pieces(writer_at(server.url))


async def test_a_missing_model_is_named_with_what_to_do(server: OllamaServer) -> None:
    writer = writer_at(server.url, model="qwen3:8b")
    assert not writer.state().ready
    await writer.probe()
    assert not writer.state().ready
    assert "ollama pull qwen3:8b" in writer.state().detail
    server.models.append("qwen3:8b")
    await writer.probe()
    assert writer.state().ready


async def test_a_server_that_is_not_there_is_named() -> None:
    async with ollama_server() as closed:
        url = closed.url
    writer = writer_at(url)
    await writer.probe()
    assert not writer.state().ready
    assert url in writer.state().detail
    with pytest.raises(RagstoneError, match="cannot be reached"):
        await pieces(writer)


async def test_leaving_closes_the_stream(server: OllamaServer) -> None:
    server.script = [said("The"), 20.0, finished()]
    stream = writer_at(server.url, idle_timeout_s=30.0).write(PROMPT)
    await anext(stream)
    await stream.aclose()
    await asyncio.wait_for(server.left.wait(), 3)


async def test_leaving_before_the_first_word_closes_the_stream_and_frees_the_place(server: OllamaServer) -> None:
    server.script = [20.0, finished()]
    writer = writer_at(server.url, cold_timeout_s=30.0)
    waiting = asyncio.create_task(pieces(writer))
    await server.is_asked()
    with pytest.raises(RagstoneError) as caught:
        writer.check_room()
    assert caught.value.code is ErrorCode.BUSY
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.wait_for(server.left.wait(), 3)
    server.script = [finished()]
    assert await pieces(writer) == [Piece("", "stop", 40, 8)]


async def test_one_at_a_time_the_next_waits_the_one_after_is_busy(server: OllamaServer) -> None:
    server.script = [0.2, said("The"), finished()]
    writer = writer_at(server.url, waiting=1)
    answers = await asyncio.gather(*(pieces(writer) for _ in range(3)), return_exceptions=True)
    busy = [one for one in answers if isinstance(one, RagstoneError)]
    assert [one.code for one in busy] == [ErrorCode.BUSY]
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"<html>Hello</html>"),
        (200, []),
        (200, "text"),
        (200, 5),
        (200, {"details": 5}),
        (200, b"\xff\xfe"),
        (302, b""),
        (401, {"error": "unauthorized"}),
        (401, []),
        (500, b""),
    ],
)
async def test_another_server_at_its_address_is_no_ollama(server: OllamaServer, answer: tuple[int, Any]) -> None:
    server.instead = answer
    writer = writer_at(server.url)
    await writer.probe()
    assert not writer.state().ready
    assert server.url in writer.state().detail
    await writer.warm_up()
    assert not writer.state().ready
    with pytest.raises(RagstoneError) as caught:
        await pieces(writer)
    assert caught.value.code is ErrorCode.WRITER_UNAVAILABLE
