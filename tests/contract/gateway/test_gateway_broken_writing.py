"""A real gateway before a generator that hangs or breaks: leaving stops it, and no stream ends in silence."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

import httpx
import pytest
import uvicorn

from services.gateway.adapters.generator import HttpGenerator
from services.gateway.app.application import gateway_app
from services.gateway.wiring.flows import gateway_of
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.http_app import problem_of
from services.shared.kit.http_client import ServiceClient
from tests.contract.gateway.scripted_generator import Move, ScriptedGenerator, scripted_generator
from tests.contract.gateway.test_gateway_leaving import until
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, found, passage, sentence
from tests.unit.gateway.test_gateway_streams import parsed

ONE = passage()
FIRST = sentence("Öffnet um neun.", (ONE, "opens at nine"), of=[ONE]).model_dump_json().encode() + b"\n"
SECOND = sentence("Keine Lampen.", (ONE, "forbids lamps"), of=[ONE]).model_dump_json().encode() + b"\n"
DONE = done().model_dump_json().encode() + b"\n"
PARTS = "When does it open and who is there?"
REPEATS = 50
SILENCE_S = 0.6


@dataclass
class Stage:
    """A gateway on a socket, the generator behind it, and who asks."""

    generator: ScriptedGenerator
    client: httpx.AsyncClient
    port: int


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with contextlib.AsyncExitStack() as stack:
        generator = await stack.enter_async_context(scripted_generator())
        world = World()
        world.retriever.response = found(ONE)
        calls = ServiceClient(
            name="generator",
            base_url=generator.url,
            unavailable=ErrorCode.GENERATOR_UNAVAILABLE,
            timeout_s=SILENCE_S,
        )
        stack.push_async_callback(calls.close)
        outside = replace(world.outside(), generator=HttpGenerator(calls))
        app = gateway_app(gateway_of(outside, world.settings, world.profile))
        config = uvicorn.Config(app, port=0, log_config=None, access_log=False, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=10)
        await stack.enter_async_context(client)
        yield Stage(generator, client, port)
        server.should_exit = True
        await asyncio.wait_for(serving, 10)


async def leave_after_a_sentence(stage: Stage) -> None:
    await leave_a_stream(stage, "event: sentence")


async def leave_before_the_first_sentence(stage: Stage) -> None:
    await leave_a_stream(stage, 'data: {"stage":"write"')


async def leave_while_it_is_taken_apart(stage: Stage) -> None:
    await leave_a_stream(stage, 'data: {"stage":"retrieve"', PARTS)


async def leave_a_stream(stage: Stage, at: str, question: str = "When?") -> None:
    body = {"question": question, "stream": True}
    async with stage.client.stream("POST", "/v1/ask", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith(at):
                return await until(lambda: stage.generator.connected)
    raise AssertionError(f"no {at}")


async def leave_a_plain_question(stage: Stage) -> None:
    body = json.dumps({"question": "When?"}).encode()
    asked = len(stage.generator.asked)
    _, writer = await asyncio.open_connection("127.0.0.1", stage.port)
    head = "POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await until(lambda: len(stage.generator.asked) > asked)
    writer.close()


WAYS = [
    (leave_after_a_sentence, [FIRST, SECOND, "wait"]),
    (leave_before_the_first_sentence, ["wait"]),
    (leave_a_plain_question, [FIRST, "wait"]),
    (leave_while_it_is_taken_apart, ["wait"]),
]


@pytest.mark.parametrize(("leave", "moves"), WAYS, ids=lambda value: getattr(value, "__name__", ""))
async def test_leaving_closes_the_generators_line_within_a_second_and_leaves_nothing_behind(
    stage: Stage, leave: object, moves: list[Move]
) -> None:
    assert callable(leave)
    stage.generator.moves = {"/write": moves, "/decompose": moves}
    tasks = 0
    for n in range(REPEATS):
        await leave(stage)
        await until(lambda n=n: stage.generator.left == n + 1, 1.0)
        if n == 0:
            await asyncio.sleep(0.1)
            tasks = len(asyncio.all_tasks())
    assert stage.generator.connected == 0
    await until(lambda: len(asyncio.all_tasks()) <= tasks, 2.0)
    stage.generator.moves = {"/write": [FIRST, DONE, "end"]}
    answer = (await stage.client.post("/v1/ask", json={"question": "When?"})).json()
    assert answer["text"] == "Öffnet um neun [1]."


ERROR = problem_of(RagstoneError(ErrorCode.WRITER_UNAVAILABLE, "the model is gone")).model_dump(mode="json")

BREAKS: dict[str, Sequence[Move]] = {
    "closes": [FIRST, SECOND, "abort"],
    "ends without an end": [FIRST, SECOND, "end"],
    "stalls": [FIRST, SILENCE_S * 3, DONE, "end"],
    "sends an error": [FIRST, json.dumps({"event": "error"} | ERROR).encode() + b"\n", "end"],
    "cuts a line in half": [FIRST, SECOND[:40], "abort"],
    "cuts a line in half and ends": [FIRST, SECOND[:40], "end"],
    "cuts a character in half": [FIRST, FIRST[: FIRST.index("Ö".encode()) + 1], "end"],
    "sends what is no JSON": [FIRST, b"<html>\n", "end"],
    "closes at once": ["abort"],
}


@pytest.mark.parametrize("moves", BREAKS.values(), ids=BREAKS.keys())
async def test_a_writing_that_breaks_off_ends_with_one_answer_that_says_so(stage: Stage, moves: Sequence[Move]) -> None:
    stage.generator.moves = {"/write": moves}
    response = await stage.client.post("/v1/ask", json={"question": "When?", "stream": True})
    events = parsed(response.content.decode())
    assert [name for name, _ in events if name in ("answer", "error")] == ["answer"]
    name, answer = events[-1]
    assert name == "answer"
    assert (answer["status"], answer["reason"]) == ("abstained", "writer_unavailable")
    assert (answer["citations"], answer["degraded"]) == ([], ["writer_unavailable"])
    assert "Öffnet" not in answer["text"]
    spoken = [data["text"] for name, data in events if name == "sentence"]
    assert spoken in ([], ["Öffnet um neun [1]."], ["Öffnet um neun [1].", " Keine Lampen [2]."])

    stage.generator.moves = {"/write": [FIRST, SECOND, DONE, "end"]}
    again = (await stage.client.post("/v1/ask", json={"question": "When?"})).json()
    assert (again["status"], again["text"]) == ("answered", "Öffnet um neun [1]. Keine Lampen [2].")
