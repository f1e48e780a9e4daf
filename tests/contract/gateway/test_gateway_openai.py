"""The OpenAI-compatible door, asked with the official client over a real socket."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.listening import listening, listening_beside, shed_world
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import SHED, found

ASKED: list[ChatCompletionMessageParam] = [{"role": "user", "content": "When does the shed open?"}]


@pytest.fixture
def world() -> World:
    return shed_world()


@pytest.fixture
async def url(world: World) -> AsyncIterator[str]:
    async with listening(world) as address:
        yield address


@pytest.fixture
async def client(url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0) as one:
        yield one


async def test_an_answer_is_a_message_with_markers_footnotes_and_citations(
    client: openai.AsyncOpenAI, url: str
) -> None:
    answer = await client.chat.completions.create(model="ragstone", messages=ASKED, temperature=0.2, max_tokens=5)
    (choice,) = answer.choices
    text, _, notes = (choice.message.content or "").partition("\n\n")
    assert text == "The shed opens at nine [1]. Rule 7 forbids lamps [2]."
    for n, note in enumerate(notes.splitlines(), start=1):
        assert note.startswith(f"[{n}] Shed rules, Hours — {url}/v1/documents/shed.md/source?")
    assert choice.finish_reason == "stop"
    assert choice.message.role == "assistant"
    assert answer.model == "ragstone"
    assert abs(answer.created - time.time()) < 60
    extra = answer.model_extra or {}
    assert [cited["quote"] for cited in extra["citations"]] == ["The shed opens at nine.", "Rule 7 forbids lamps."]
    start, end = extra["citations"][0]["start"], extra["citations"][0]["end"]
    assert SHED[start:end] == "The shed opens at nine."
    note = extra["ragstone"]
    assert (note["status"], note["reason"], note["cached"]) == ("answered", None, False)
    assert 0 < note["confidence"] <= 1
    assert note["answer_id"]


async def test_the_answers_id_can_be_judged(client: openai.AsyncOpenAI, world: World) -> None:
    answer = await client.chat.completions.create(model="ragstone", messages=ASKED)
    kept = world.remembered.kept
    assert (answer.model_extra or {})["ragstone"]["answer_id"] in str(kept)


async def test_a_stream_says_the_same_sentence_by_sentence(client: openai.AsyncOpenAI) -> None:
    whole = await client.chat.completions.create(model="ragstone", messages=ASKED)
    stream = await client.chat.completions.create(
        model="ragstone", messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    pieces = [choice.delta.content for chunk in chunks for choice in chunk.choices]
    assert "".join(piece or "" for piece in pieces) == whole.choices[0].message.content
    assert pieces[:3] == ["", "The shed opens at nine [1].", " Rule 7 forbids lamps [2]."]
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len({chunk.id for chunk in chunks}) == 1
    *_, ending, counted = chunks
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]] == [None] * (len(chunks) - 2) + ["stop"]
    extra = ending.model_extra or {}
    assert len(extra["citations"]) == 2
    assert extra["ragstone"]["status"] == "answered"
    assert counted.choices == []
    assert counted.usage is not None


async def test_without_asking_no_usage_is_streamed(url: str) -> None:
    body = {"messages": ASKED, "stream": True}
    async with httpx.AsyncClient(base_url=url, trust_env=False) as plain:
        said = (await plain.post("/v1/chat/completions", json=body)).text
    assert '"usage"' not in said
    assert said.endswith("data: [DONE]\n\n")
    assert '"finish_reason":"stop"' in said


async def test_no_answer_is_a_message_that_says_so(client: openai.AsyncOpenAI, world: World) -> None:
    world.retriever.response = found(gate="poor", answerable=0.0)
    answer = await client.chat.completions.create(model="gpt-4o", messages=ASKED)
    assert (answer.choices[0].message.content or "").startswith("The documents I have do not answer that.")
    assert answer.choices[0].finish_reason == "stop"
    assert (answer.model_extra or {})["ragstone"]["status"] == "abstained"
    stream = await client.chat.completions.create(model="gpt-4o", messages=ASKED, stream=True)
    text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert text == answer.choices[0].message.content


async def test_a_conversation_makes_a_follow_up_whole(client: openai.AsyncOpenAI, world: World) -> None:
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": [{"type": "text", "text": "When does Rosa Luxemburg's shed open?"}]},
        {"role": "assistant", "content": "At nine. [1]\n\n[1] Shed rules — http://gateway/x"},
        {"role": "user", "content": "And when does it close?"},
    ]
    await client.chat.completions.create(model="ragstone", messages=messages)
    assert "Rosa Luxemburg" in world.retriever.calls[-1].question


@pytest.mark.parametrize(
    ("parameters", "param"),
    [
        ({"n": 2}, "n"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"messages": [{"role": "system", "content": "Be brief."}]}, "messages"),
        ({"messages": []}, "messages"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]},
            "messages.0.content",
        ),
    ],
)
async def test_what_cannot_be_done_is_refused(
    client: openai.AsyncOpenAI, parameters: dict[str, object], param: str
) -> None:
    asked: dict[str, object] = {"model": "ragstone", "messages": ASKED, **parameters}
    with pytest.raises(openai.BadRequestError) as refused:
        await client.chat.completions.create(**asked)  # type: ignore[call-overload]
    assert refused.value.code == ErrorCode.INVALID_REQUEST
    assert refused.value.param == param
    assert refused.value.type == "invalid_request_error"


async def test_a_question_that_is_too_long_or_empty_is_refused(client: openai.AsyncOpenAI) -> None:
    for content, code in (("x" * 2001, ErrorCode.QUESTION_TOO_LONG), (" ", ErrorCode.QUESTION_EMPTY)):
        for stream in (False, True):
            with pytest.raises(openai.BadRequestError) as refused:
                await client.chat.completions.create(
                    model="ragstone", messages=[{"role": "user", "content": content}], stream=stream
                )
            assert refused.value.code == code


async def test_a_body_that_is_too_large_is_refused_in_their_form(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.APIStatusError) as refused:
        await client.chat.completions.create(model="ragstone", messages=[{"role": "user", "content": "x" * 1_100_000}])
    assert refused.value.status_code == 413
    assert refused.value.code == ErrorCode.BODY_TOO_LARGE


async def test_both_forms_of_an_error_are_there(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as plain:
        refused = await plain.post("/v1/chat/completions", json={"messages": ASKED, "n": 3})
    said = refused.json()
    assert refused.status_code == said["status"] == 400
    assert said["code"] == said["error"]["code"] == "invalid_request"
    assert said["detail"] == said["error"]["message"]
    assert refused.headers["X-Request-ID"] == said["request_id"]


async def test_a_filter_that_was_dropped_is_said(client: openai.AsyncOpenAI, world: World) -> None:
    world.retriever.response = world.retriever.response.model_copy(
        update={"verdict": world.retriever.response.verdict.model_copy(update={"gate": "fallback"})}
    )
    answer = await client.chat.completions.create(
        model="ragstone", messages=ASKED, extra_body={"filters": {"type": "nope"}}
    )
    assert (answer.model_extra or {})["ragstone"]["degraded"] == ["type_filter_dropped"]


async def test_a_part_that_is_away_is_a_plain_error_that_clients_retry(
    client: openai.AsyncOpenAI, world: World
) -> None:
    world.retriever.error = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "The retriever rests.", retry_after_s=5)
    for stream in (False, True):
        with pytest.raises(openai.InternalServerError) as refused:
            await client.chat.completions.create(model="ragstone", messages=ASKED, stream=stream)
        assert refused.value.status_code == 503
        assert refused.value.code == ErrorCode.RETRIEVER_UNAVAILABLE


async def test_an_error_in_the_middle_of_a_stream_is_raised(client: openai.AsyncOpenAI, world: World) -> None:
    def broken() -> None:
        raise RuntimeError("in the middle")

    world.generator.script.insert(1, broken)
    stream = await client.chat.completions.create(model="ragstone", messages=ASKED, stream=True)
    heard: list[str | None] = []

    async def listen() -> None:
        async for chunk in stream:
            heard.append(chunk.choices[0].delta.content)

    with pytest.raises(openai.APIError, match="Something went wrong"):
        await listen()
    assert "The shed opens at nine [1]." in heard


async def test_a_client_that_leaves_stops_the_writer(client: openai.AsyncOpenAI, world: World) -> None:
    world.generator.script.insert(1, 60.0)
    stream = await client.chat.completions.create(model="ragstone", messages=ASKED, stream=True)
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.close()
    for _ in range(200):
        if world.generator.closed:
            break
        await asyncio.sleep(0.05)
    assert world.generator.closed == 1


async def test_a_client_that_leaves_before_anything_is_said_stops_it_too(
    client: openai.AsyncOpenAI, world: World
) -> None:
    world.retriever.hang = True
    for stream in (False, True):
        world.retriever.cancelled = False
        with pytest.raises(openai.APITimeoutError):
            await client.with_options(timeout=0.5).chat.completions.create(
                model="ragstone", messages=ASKED, stream=stream
            )
        for _ in range(200):
            if world.retriever.cancelled:
                break
            await asyncio.sleep(0.05)
        assert world.retriever.cancelled


async def test_long_silence_is_filled_with_comments(url: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.gateway.app.openai.KEEPALIVE_S", 0.05)
    world.generator.script.insert(0, 0.3)
    async with (
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0) as client,
        httpx.AsyncClient(base_url=url, trust_env=False) as plain,
    ):
        raw = (await plain.post("/v1/chat/completions", json={"messages": ASKED, "stream": True})).text
        assert raw.startswith(": ")
        stream = await client.chat.completions.create(model="ragstone", messages=ASKED, stream=True)
        assert [chunk async for chunk in stream][-1].choices[0].finish_reason == "stop"


async def test_models(client: openai.AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == ["ragstone"]
    assert (await client.models.retrieve("ragstone")).owned_by == "ragstone"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("gpt-4o")


@pytest.fixture
def beside() -> Iterator[str]:
    with listening_beside(shed_world()) as address:
        yield address


def test_the_client_that_blocks_works_too(beside: str) -> None:
    with openai.OpenAI(base_url=f"{beside}/v1", api_key="unused", max_retries=0) as client:
        whole = client.chat.completions.create(model="ragstone", messages=ASKED)
        stream = client.chat.completions.create(model="ragstone", messages=ASKED, stream=True)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        assert text == whole.choices[0].message.content
