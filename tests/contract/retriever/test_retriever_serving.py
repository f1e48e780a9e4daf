"""The retriever as a process: one load for many first requests, and a loop that stays free while the model works."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from services.local.ports import free_port
from services.retriever.settings import Settings

from .library import Library, Text

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
ASK = {"space": "main", "question": "How hot is green tea brewed?"}
LONG = "A long text about pumps, fountains, gardeners and the first Monday of the month, once more. " * 12


@dataclass(frozen=True)
class Process:
    """The running service, and where it writes its log."""

    url: str
    log: Path
    process: subprocess.Popen[bytes]


@pytest.fixture
async def retriever(
    request: pytest.FixtureRequest, settings: Settings, library: Library, tmp_path: Path
) -> AsyncIterator[Process]:
    """Started, its port open."""
    library.publish(Text("tea", "Green tea is brewed at eighty degrees for two minutes."))
    port, log = free_port(), tmp_path / "log"
    environment = {
        **os.environ,
        "RAGSTONE_STATE_DIR": str(settings.state.state_dir),
        "RAGSTONE_CHROMA_URL": settings.chroma.chroma_url,
        "RAGSTONE_RETRIEVER_PORT": str(port),
        "RAGSTONE_EMBED_WAITING": "32",
        "RAGSTONE_EMBEDDER_BACKEND": getattr(request, "param", "auto"),
        "OMP_NUM_THREADS": "1",
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.retriever"], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
    running = Process(f"http://127.0.0.1:{port}", log, process)
    try:
        async with caller(running) as client:
            await answering(client, "/healthz")
        yield running
    finally:
        process.terminate()
        assert process.wait(15) is not None


def caller(running: Process) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=running.url, timeout=60, trust_env=False, limits=httpx.Limits(max_connections=200)
    )


async def answering(client: httpx.AsyncClient, path: str) -> None:
    """Wait until the path answers with 200."""
    for _ in range(1200):
        try:
            if (await client.get(path)).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        await asyncio.sleep(0.05)
    raise AssertionError(f"{path} never answered 200")


# An exported model would be loaded before anybody could ask.
@pytest.mark.parametrize("retriever", ["torch"], indirect=True)
async def test_twenty_first_requests_are_one_load_and_all_answered(retriever: Process) -> None:
    async with caller(retriever) as client:
        early = await client.get("/readyz")
        assert (early.status_code, early.json()["parts"]["model"]["ready"]) == (503, False)
        responses = await asyncio.gather(*[client.post("/retrieve", json=ASK) for _ in range(20)])
        assert {response.status_code for response in responses} == {200}
        for response in responses:
            assert response.json()["degraded"] == []
            assert response.json()["passages"][0]["document_id"] == "tea"
        await answering(client, "/readyz")
    assert retriever.log.read_text().count("embedder_loaded") == 1


# An exported model was measured to take longer over the texts that it has in hand when their callers leave.
@pytest.mark.parametrize("retriever", ["torch"], indirect=True)
async def test_health_and_questions_are_quick_while_texts_are_scored(retriever: Process) -> None:
    score = {**ASK, "texts": [f"{n}. {LONG}" for n in range(512)]}
    async with caller(retriever) as client:
        await answering(client, "/readyz")
        scoring = [asyncio.create_task(client.post("/score", json=score)) for _ in range(3)]
        await asyncio.sleep(0.3)
        health, questions = [], []
        for _ in range(12):
            began = time.perf_counter()
            assert (await client.get("/healthz")).status_code == 200
            health.append(time.perf_counter() - began)
            began = time.perf_counter()
            assert (await client.post("/retrieve", json=ASK)).status_code == 200
            questions.append(time.perf_counter() - began)
        assert not any(task.done() for task in scoring)
        for task in scoring:
            task.cancel()
        await asyncio.gather(*scoring, return_exceptions=True)
        began = time.perf_counter()
        assert (await client.post("/score", json={**ASK, "texts": ["short"]})).status_code == 200
        after = time.perf_counter() - began
    assert max(health) < 1
    assert max(questions) < 2
    assert after < 2, "the texts of the callers who left were scored to the end"


async def test_a_full_queue_answers_503_quickly(retriever: Process) -> None:
    score = {**ASK, "texts": [LONG] * 512}
    async with caller(retriever) as client:
        await answering(client, "/readyz")
        tasks = [asyncio.create_task(client.post("/score", json=score)) for _ in range(40)]
        began = time.perf_counter()
        done, waiting = await asyncio.wait(tasks, timeout=5, return_when=asyncio.FIRST_COMPLETED)
        assert time.perf_counter() - began < 5
        refused = done.pop().result()
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert int(refused.headers["Retry-After"]) > 0
        assert (await client.post("/retrieve", json=ASK)).status_code == 200
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
