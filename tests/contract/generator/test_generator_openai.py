"""The OpenAI writer against the wire format of compatible servers: what is sent, read, and every way it can fail."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from services.generator.adapters.openai_writer import OpenAIWriter
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.generator.openai_server import (
    DONE,
    MODEL,
    ROLE,
    OpenAIServer,
    chunk,
    ends,
    listed,
    openai_server,
    says,
)

PROMPT = Prompt(system="Rules.", user="Question?", used=1, tokens=10)
TOO_LONG = {
    "error": {
        "code": 400, "message": "request (6031 tokens) exceeds the available context size (4096 tokens)",
        "type": "exceed_context_size_error", "n_prompt_tokens": 6031, "n_ctx": 4096,
    }
}  # fmt: skip


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with openai_server() as running:
        yield running


def writer_at(url: str, **changes: Any) -> OpenAIWriter:
    """A writer with short limits."""
    settings: dict[str, Any] = {
        "url": url, "model": None, "api_key": None, "num_ctx": 8192, "num_predict": 100, "temperature": 0.1,
        "cold_timeout_s": 5.0, "idle_timeout_s": 0.3, "parallel": 1, "waiting": 0,
    }  # fmt: skip
    return OpenAIWriter(**{**settings, **changes})


async def pieces(writer: OpenAIWriter) -> list[Piece]:
    """The whole stream."""
    return [piece async for piece in writer.write(PROMPT)]


async def test_a_stream_is_read_to_its_end(server: OpenAIServer) -> None:
    server.script = [chunk(ROLE), says("The"), b": ping\n\n", says(" dock\u2028"), ends(), DONE]
    assert await pieces(writer_at(server.url)) == [Piece("The"), Piece(" dock\u2028"), Piece("", "stop", 33, 6)]


async def test_events_may_be_cut_anywhere(server: OpenAIServer) -> None:
    whole = b"".join(server.framed(event) for event in (says("Größe "), says("fünf"), ends())) + DONE
    server.script = [whole[at : at + 7] for at in range(0, len(whole), 7)]
    assert await pieces(writer_at(server.url)) == [Piece("Größe "), Piece("fünf"), Piece("", "stop", 33, 6)]


async def test_the_end_is_given_out_without_waiting_for_the_rest(server: OpenAIServer) -> None:
    server.script = [says("The"), ends(), 20.0, DONE]
    async with asyncio.timeout(3):
        assert (await pieces(writer_at(server.url)))[-1] == Piece("", "stop", 33, 6)


async def test_the_limit_is_told(server: OpenAIServer) -> None:
    server.script = [says("The"), ends("length"), DONE]
    assert (await pieces(writer_at(server.url)))[-1] == Piece("", "length", 33, 6)


async def test_model_limit_and_no_thinking_are_sent(server: OpenAIServer) -> None:
    server.script = [ends(), DONE]
    writer = writer_at(server.url + "/v1/", api_key="secret")
    await writer.probe()
    await pieces(writer)
    (body,) = server.asked
    assert body.pop("messages") == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Question?"},
    ]
    assert body == {
        "model": MODEL, "stream": True, "temperature": 0.1, "max_tokens": 100,
        "chat_template_kwargs": {"enable_thinking": False}, "stream_options": {"include_usage": True},
    }  # fmt: skip
    assert server.keys == ["Bearer secret"] * 2


async def test_a_server_that_cannot_switch_thinking_off_is_asked_without_from_then_on(server: OpenAIServer) -> None:
    message = "Unrecognized request argument supplied: chat_template_kwargs"
    server.refusals = [(400, {"error": {"message": message, "type": "invalid_request_error"}})]
    server.script = [says("The"), ends(), DONE]
    writer = writer_at(server.url)
    assert len(await pieces(writer)) == 2
    assert len(await pieces(writer)) == 2
    assert ["chat_template_kwargs" in body for body in server.asked] == [True, False, False]


@pytest.mark.parametrize(
    "script",
    [
        [says("The"), {"error": {"code": 500, "message": "Compute error.", "type": "server_error"}}],
        [says("The"), b'error: {"code":500,"message":"Compute error."}\n\n'],
        [says("The"), "close"],
        [says("The"), 3.0, ends()],
        [says("The"), b'data: {"choices":[{"del\n\n'],
        [says("The")],
        [says("The"), DONE],
        [b"data: []\n\n"],
        [b'data: "text"\n\n'],
        [b'data: {"choices": 5}\n\n'],
        [b'{"choices":[{"message":{"content":"The dock"}}]}'],
    ],
    ids=[
        "error event", "error field", "broken off", "stalled", "half an event", "no end", "no reason to end", "a list",
        "a string", "another shape", "no stream",
    ],
)  # fmt: skip
async def test_every_failure_in_the_middle_is_the_same_error(server: OpenAIServer, script: list[Any]) -> None:
    server.script = script
    with pytest.raises(RagstoneError) as caught:
        await pieces(writer_at(server.url))
    assert caught.value.code is ErrorCode.WRITER_UNAVAILABLE
    assert server.url in caught.value.detail


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        ((400, TOO_LONG), "Lower RAGSTONE_NUM_CTX"),
        ((404, {"error": {"message": "The model `x` does not exist.", "code": "model_not_found"}}), "does not exist"),
        ((401, {"error": {"message": "Incorrect API key provided: sk-12"}}), "RAGSTONE_OPENAI_API_KEY"),
        ((500, {"error": {"message": "CUDA out of memory"}}), "CUDA out of memory"),
        ((503, {"error": {"message": "Loading model", "code": 503}}), "Loading model"),
        ((422, {"detail": [{"msg": "no"}]}), "no"),
        ((502, b"<html>Bad Gateway</html>"), "Bad Gateway"),
        ((500, b""), "500"),
    ],
    ids=["too long", "no model", "no key", "500", "loading", "a list", "a proxy", "nothing"],
)
async def test_a_refusal_is_told_with_what_to_do(server: OpenAIServer, refusal: tuple[int, Any], told: str) -> None:
    server.refusals = [refusal]
    with pytest.raises(RagstoneError) as caught:
        await pieces(writer_at(server.url))
    assert caught.value.code is ErrorCode.WRITER_UNAVAILABLE
    assert told in caught.value.detail
    assert "sk-12" not in caught.value.detail


async def test_the_first_words_have_their_own_patience(server: OpenAIServer) -> None:
    server.script = [chunk(ROLE), 0.8, says("The"), ends(), DONE]
    assert len(await pieces(writer_at(server.url))) == 2
    with pytest.raises(RagstoneError, match="in time"):
        await pieces(writer_at(server.url, cold_timeout_s=0.2))


async def test_thoughts_that_come_apart_are_a_sign_of_life(server: OpenAIServer) -> None:
    thought = chunk({"reasoning_content": "hm"})
    server.script = [thought, 0.2, thought, 0.2, thought, 0.2, says("The"), ends(), DONE]
    assert "".join(piece.text for piece in await pieces(writer_at(server.url))) == "The"


async def test_the_first_model_is_taken_with_its_window(server: OpenAIServer) -> None:
    server.models.append(listed("other"))
    writer = writer_at(server.url)
    assert not writer.state().ready
    await writer.probe()
    assert writer.state().ready
    assert (writer.name, writer.window) == (MODEL, (4096, 100))
    assert writer_at(server.url, num_ctx=2048).window == (2048, 100)


async def test_a_named_model_is_found_and_a_missing_one_is_named(server: OpenAIServer) -> None:
    writer = writer_at(server.url, model="qwen3")
    await writer.probe()
    assert not writer.state().ready
    assert f"no model qwen3; it names {MODEL}" in writer.state().detail
    server.models.append(listed("qwen3:latest", max_model_len=1024))
    await writer.probe()
    assert (writer.state().ready, writer.name, writer.window) == (True, "qwen3:latest", (1024, 100))


async def test_a_server_that_loads_names_none_or_is_another_is_not_ready(server: OpenAIServer) -> None:
    writer = writer_at(server.url)
    server.models_status = 503
    await writer.probe()
    assert (writer.state().ready, "Loading model" in writer.state().detail) == (False, True)
    server.models_status, server.models = 200, []
    await writer.probe()
    assert (writer.state().ready, "it names none" in writer.state().detail) == (False, True)
    server.models = [{"name": "no id"}]
    await writer.probe()
    assert (writer.state().ready, "not OpenAI's" in writer.state().detail) == (False, True)


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "http://[::1", "http://127.0.0.1:9"])
async def test_an_address_that_leads_nowhere_is_named(url: str) -> None:
    writer = writer_at(url)
    await writer.probe()
    assert not writer.state().ready
    assert url in writer.state().detail
    with pytest.raises(RagstoneError) as caught:
        await pieces(writer)
    assert caught.value.code is ErrorCode.WRITER_UNAVAILABLE


async def test_leaving_closes_the_stream(server: OpenAIServer) -> None:
    server.script = [says("The"), 20.0, ends()]
    stream = writer_at(server.url, idle_timeout_s=30.0).write(PROMPT)
    await anext(stream)
    await stream.aclose()
    await asyncio.wait_for(server.left.wait(), 3)


async def test_leaving_before_the_first_word_closes_the_stream_and_frees_the_place(server: OpenAIServer) -> None:
    server.script = [20.0, ends()]
    writer = writer_at(server.url, cold_timeout_s=30.0)
    waiting = asyncio.create_task(pieces(writer))
    await server.is_asked()
    with pytest.raises(RagstoneError) as caught:
        writer.check_room()
    assert caught.value.code is ErrorCode.BUSY
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await asyncio.wait_for(server.left.wait(), 3)
    server.script = [ends()]
    assert await pieces(writer) == [Piece("", "stop", 33, 6)]


async def test_one_at_a_time_the_next_waits_the_one_after_is_busy(server: OpenAIServer) -> None:
    server.script = [0.2, says("The"), ends(), DONE]
    writer = writer_at(server.url, waiting=1)
    answers = await asyncio.gather(*(pieces(writer) for _ in range(3)), return_exceptions=True)
    busy = [one for one in answers if isinstance(one, RagstoneError)]
    assert [one.code for one in busy] == [ErrorCode.BUSY]
    assert len(server.asked) == 2
