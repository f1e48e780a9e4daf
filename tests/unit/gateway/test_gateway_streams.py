"""Server-sent events: their form, their keep-alive, their end, and clients that leave."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from services.gateway.app import streams
from services.gateway.app.streams import never_silent
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import JobId, SpaceId
from services.shared.contracts.jobs import JobState
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, job, passage, sentence


def parsed(raw: str) -> list[tuple[str, Any]]:
    """Events of a strict text/event-stream."""
    assert raw.endswith("\n\n")
    events = []
    for block in raw[:-2].split("\n\n"):
        fields = [line.partition(": ") for line in block.split("\n") if not line.startswith(":")]
        assert all(name in ("event", "data", "id") for name, _, _ in fields), block
        if fields:
            name = next(value for field, _, value in fields if field == "event")
            events.append((name, json.loads("\n".join(value for field, _, value in fields if field == "data"))))
    return events


def answering() -> World:
    world = World()
    one = passage()
    text = "Es öffnet um neun 😀.\nUnd:\r\n\n: data: x\u2028y"
    world.answers(one, script=[sentence(text, (one, "opens at nine"), of=[one]), done()])
    return world


@pytest.mark.parametrize(
    ("body", "headers"), [({"stream": True}, {}), ({}, {"Accept": "text/event-stream"})], ids=["field", "accept"]
)
async def test_a_stream_tells_the_story_and_ends_with_the_whole_answer(
    body: dict[str, Any], headers: dict[str, str]
) -> None:
    async with answering().client() as client:
        response = await client.post("/v1/ask", json={"question": "When?"} | body, headers=headers)
        plain = await client.post("/v1/ask", json={"question": "When?"})
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.headers["X-Request-ID"]
    events = parsed(response.text)
    names = [name for name, _ in events]
    assert names == ["stage", "stage", "sources", "stage", "sentence", "stage", "answer"]
    spoken, answer = events[4][1], events[-1][1]
    assert spoken["text"].startswith("Es öffnet um neun 😀.\nUnd:\r\n\n: data: x\u2028y")
    assert spoken["citations"] == answer["citations"] == plain.json()["citations"]
    assert answer["text"] == plain.json()["text"] == spoken["text"]


@pytest.mark.parametrize("error", [RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "down"), ValueError("secret")])
async def test_a_stream_that_fails_ends_with_one_error_event(error: Exception) -> None:
    world = World()
    world.retriever.error = error  # type: ignore[assignment]
    async with world.client() as client:
        response = await client.post("/v1/ask", json={"question": "a", "stream": True})
    events = parsed(response.text)
    assert [name for name, _ in events if name in ("answer", "error")] == ["error"]
    assert events[-1][0] == "error"
    assert events[-1][1]["request_id"] == response.headers["X-Request-ID"]
    assert "secret" not in response.text


async def test_a_writer_with_too_much_to_do_is_asked_again_later() -> None:
    world = World()
    world.answers(passage(), script=[RagstoneError(ErrorCode.BUSY, "full", retry_after_s=7)])
    async with world.client() as client:
        plain = await client.post("/v1/ask", json={"question": "a"})
        streamed = await client.post("/v1/ask", json={"question": "a", "stream": True})
    assert (plain.status_code, plain.json()["code"], plain.headers["Retry-After"]) == (503, "busy", "7")
    name, problem = parsed(streamed.text)[-1]
    assert (name, problem["code"]) == ("error", "busy")


async def test_a_job_is_told_at_each_change_until_it_is_final() -> None:
    world = World()
    steps = [job("j1"), job("j1"), job("j1", JobState.RUNNING, 1), job("j1", JobState.RUNNING, 2)]
    world.jobs.jobs[(SpaceId("main"), JobId("j1"))] = [*steps, job("j1", JobState.SUCCEEDED, 2)]
    async with world.client() as client:
        response = await client.get("/v1/jobs/j1/events")
    events = parsed(response.text)
    assert {name for name, _ in events} == {"job"}
    told = [(data["state"], data["done"]) for _, data in events]
    assert told == [("queued", 0), ("running", 1), ("running", 2), ("succeeded", 2)]


async def test_a_final_job_is_told_once() -> None:
    world = World()
    world.jobs.jobs[(SpaceId("main"), JobId("j1"))] = [job("j1", JobState.FAILED)]
    async with world.client() as client:
        events = parsed((await client.get("/v1/jobs/j1/events")).text)
    assert [data["state"] for _, data in events] == ["failed"]


async def test_silence_is_filled_with_comments_that_no_parser_sees() -> None:
    async def slow() -> AsyncGenerator[bytes, None]:
        yield b"event: a\ndata: 1\n\n"
        await asyncio.sleep(0.3)
        yield b"event: b\ndata: 2\n\n"

    pieces = [piece async for piece in never_silent(slow(), 0.05)]
    assert sum(piece.startswith(b":") for piece in pieces) >= 2
    assert [name for name, _ in parsed(b"".join(pieces).decode())] == ["a", "b"]


def test_the_silence_that_is_allowed_is_shorter_than_promised() -> None:
    assert streams.KEEPALIVE_S < 10


async def test_leaving_a_stream_stops_what_makes_it() -> None:
    stopped = asyncio.Event()

    async def endless() -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield b"x"
                await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)
            stopped.set()

    pieces = never_silent(endless(), 1.0)
    assert await anext(pieces) == b"x"
    await pieces.aclose()  # type: ignore[attr-defined]
    await asyncio.wait_for(stopped.wait(), 1.0)


async def test_a_client_that_leaves_a_plain_question_stops_the_search() -> None:
    world = World()
    world.retriever.hang = True
    app = world.client()._transport.app  # type: ignore[attr-defined]
    body = json.dumps({"question": "a"}).encode()
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop(0)
        while not world.retriever.calls:
            await asyncio.sleep(0.001)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"gateway"), (b"content-type", b"application/json")]
    headers.append((b"content-length", str(len(body)).encode()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/ask",
        "raw_path": b"/v1/ask",
        "query_string": b"",
        "headers": headers,
        "scheme": "http",
        "server": ("gateway", 80),
        "client": ("127.0.0.1", 1),
    }
    await asyncio.wait_for(app(scope, receive, send), 2.0)
    assert world.retriever.cancelled
    assert sent[0]["status"] == 499
