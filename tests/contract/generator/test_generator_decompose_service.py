"""Taking questions apart, warming up and looking out, over real HTTP with a scripted Ollama."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from services.generator import wiring
from tests.contract.generator.ollama_server import MODEL, OllamaServer, finished, ollama_server, said
from tests.contract.generator.test_generator_service import NOWHERE, generator
from tests.e2e.stack import WHOLE
from tests.unit.generator.fakes import passage, request

QUESTION = "When does the dock open and who holds the dock key?"
BOTH = ["When does the dock open?", "Who holds the dock key?"]
WRITING = request(QUESTION, passage("The dock opens at 05:45 on weekdays. It closes at noon."))
REPEATS = 50 if WHOLE else 15


@pytest.fixture
async def ollama() -> AsyncIterator[OllamaServer]:
    async with ollama_server() as running:
        yield running


async def decompose(client: httpx.AsyncClient, question: str = QUESTION) -> dict[str, Any]:
    """The door's answer."""
    response = await client.post("/decompose", json={"question": question, "language": "en", "client": "public"})
    assert response.status_code == 200
    told: dict[str, Any] = response.json()
    return told


async def test_without_a_model_a_rule_takes_it_apart() -> None:
    async with generator(NOWHERE, writer="extractive") as client:
        assert await decompose(client) == {"sub_questions": BOTH, "by": "rule", "degraded": []}
        assert await decompose(client, "When does the dock open?") == {
            "sub_questions": [], "by": "none", "degraded": [],
        }  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "parts", "by", "degraded"),
    [
        ('{"sub_questions": ["When does the dock open?", "Who holds the dock key?"]}', BOTH, "model", []),
        ('```json\n{"sub_questions": ["When does the dock open?"]}\n```', BOTH[:1], "model", []),
        ('["When does the dock open?", "Who holds the dock key?"]', BOTH, "model", []),
        ('<think>{"sub_questions": ["WRONG dock"]}</think>{"sub_questions": []}', [], "none", []),
        ("No splitting is needed.", BOTH, "rule", ["decomposition_skipped"]),
        ("", BOTH, "rule", ["decomposition_skipped"]),
    ],
    ids=["plain", "fence", "bare list", "thoughts", "prose", "nothing"],
)
async def test_the_model_takes_it_apart(
    ollama: OllamaServer, reply: str, parts: list[str], by: str, degraded: list[str]
) -> None:
    ollama.replies = [reply]
    async with generator(NOWHERE, ollama_host=ollama.url) as client:
        assert await decompose(client) == {"sub_questions": parts, "by": by, "degraded": degraded}


async def test_a_server_that_ignores_the_schema_is_asked_plainly(ollama: OllamaServer) -> None:
    ollama.obeys = False
    ollama.script = [said('Sure:\n{"sub_questions": ["When does the dock open?"]}'), finished()]
    async with generator(NOWHERE, ollama_host=ollama.url) as client:
        assert (await decompose(client))["sub_questions"] == BOTH[:1]
        ready = (await client.get("/readyz")).json()
    assert "format" not in ollama.asked[0]
    assert "asked plainly" in ready["parts"]["writer"]["detail"]


async def test_a_slow_model_is_not_waited_for(ollama: OllamaServer) -> None:
    ollama.script = [20.0]
    async with generator(NOWHERE, ollama_host=ollama.url, decompose_timeout_s=0.3) as client:
        began = time.monotonic()
        told = await decompose(client)
        assert time.monotonic() - began < 2
        await ollama.is_left()
    assert told == {"sub_questions": BOTH, "by": "rule", "degraded": ["decomposition_skipped"]}


@pytest.mark.parametrize("script", [[said("{"), "close"], [{"error": "boom"}]], ids=["broken off", "error line"])
async def test_a_failing_model_is_no_failure(ollama: OllamaServer, script: list[Any]) -> None:
    ollama.script = script
    async with generator(NOWHERE, ollama_host=ollama.url) as client:
        assert (await decompose(client))["by"] == "rule"


async def test_a_long_question_costs_the_model_nothing(ollama: OllamaServer) -> None:
    async with generator(NOWHERE, ollama_host=ollama.url) as client:
        assert (await decompose(client, "dock " * 4000))["by"] == "none"
        assert (await decompose(client, "dock"))["by"] == "none"
    assert ollama.asked == []


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("/decompose", [20.0]),
        ("/decompose", [said('{"sub_'), 20.0]),
        ("/write", [20.0]),
        ("/write", [said("The"), said(" dock"), 20.0]),
    ],
    ids=["parts, no word yet", "parts, in the middle", "answer, no word yet", "answer, in the middle"],
)
async def test_clients_who_leave_stop_the_model_within_a_second(
    ollama: OllamaServer, path: str, script: list[Any]
) -> None:
    ollama.script = script
    body = WRITING.model_dump_json() if path == "/write" else json.dumps({"question": QUESTION, "language": "en"})
    patience: dict[str, Any] = {"decompose_timeout_s": 60, "writer_idle_timeout_s": 60}
    async with generator(NOWHERE, ollama_host=ollama.url, **patience) as client:
        files = tasks = 0
        for nth in range(1, REPEATS + 1):
            asking = asyncio.create_task(client.post(path, content=body))
            await ollama.is_asked(nth)
            await asyncio.sleep(0.02)
            went = asyncio.get_running_loop().time()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            await ollama.is_left(nth)
            assert ollama.left_at[-1] - went < 1.0
            if nth == 5:
                await asyncio.sleep(0.2)
                files, tasks = len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks())
        await asyncio.sleep(0.2)
        assert len(os.listdir("/proc/self/fd")) <= files
        assert len(asyncio.all_tasks()) <= tasks
        ollama.script = [said('{"sub_questions": []}'), finished()]
        assert (await asyncio.wait_for(decompose(client), 1))["by"] == "none"


@pytest.mark.parametrize("path", ["/decompose", "/write"])
async def test_who_leaves_the_queue_never_reaches_the_model(ollama: OllamaServer, path: str) -> None:
    ollama.script = [20.0]
    body = WRITING.model_dump_json() if path == "/write" else json.dumps({"question": QUESTION, "language": "en"})
    limits: dict[str, Any] = {"writer_parallel": 1, "writer_waiting": 1, "decompose_timeout_s": 60}
    async with generator(NOWHERE, ollama_host=ollama.url, **limits) as client:
        first = asyncio.create_task(client.post("/write", content=WRITING.model_dump_json()))
        await ollama.is_asked()
        for _ in range(10):
            waiting = asyncio.create_task(client.post(path, content=body))
            await asyncio.sleep(0.05)
            assert (await client.post("/write", content=WRITING.model_dump_json())).status_code == 503
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await ollama.is_left()
        await asyncio.sleep(0.1)
        assert len(ollama.asked) == 1
        ollama.script = [said('{"sub_questions": []}'), finished()]
        assert (await asyncio.wait_for(decompose(client), 1))["by"] == "none"


async def test_a_cold_model_does_not_hold_up_start_or_answers(ollama: OllamaServer) -> None:
    ollama.load_s = 4.0
    began = time.monotonic()
    async with generator(NOWHERE, ollama_host=ollama.url) as client:
        assert time.monotonic() - began < 3
        assert (await decompose(client))["by"] == "rule"
        ready = (await client.get("/readyz")).json()["parts"]["writer"]
        assert (ready["ready"], "is being loaded" in ready["detail"]) == (True, True)
        async with asyncio.timeout(8):
            while "is being loaded" in ready["detail"]:
                await asyncio.sleep(0.2)
                ready = (await client.get("/readyz")).json()["parts"]["writer"]
        assert ready["detail"].startswith("ollama: ")


async def test_the_door_warms_the_model_up(ollama: OllamaServer) -> None:
    async with generator(NOWHERE, ollama_host=ollama.url) as client:
        assert len(ollama.loads) == 1
        told = (await client.post("/warmup")).json()
        assert (told["ready"], told["detail"].startswith("ollama: ")) == (True, True)
        assert len(ollama.loads) == 2
    async with generator(NOWHERE, writer="extractive") as client:
        assert (await client.post("/warmup")).json()["detail"].startswith("extractive")


async def test_a_server_that_comes_back_is_warmed_up_again(ollama: OllamaServer) -> None:
    async with generator(NOWHERE, ollama_host=ollama.url, writer_probe_s=0.1):
        ollama.models = []
        await asyncio.sleep(0.4)
        ollama.models = [MODEL]
        await asyncio.sleep(0.4)
    assert len(ollama.loads) == 2


async def test_an_ollama_at_its_usual_address_is_found_without_being_named(
    ollama: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "DEFAULT_OLLAMA", ollama.url)
    ollama.models = []
    async with generator(NOWHERE, writer_probe_s=0.1) as client:
        told = (await client.get("/readyz")).json()["parts"]["writer"]
        assert told["ready"]
        assert told["detail"].startswith("extractive: sentences")
        assert f"ollama pull {MODEL}" in told["detail"]
        ollama.models = [MODEL]
        await asyncio.sleep(0.5)
        told = (await client.get("/readyz")).json()["parts"]["writer"]
    assert told["detail"].startswith(f"ollama: {MODEL}")
