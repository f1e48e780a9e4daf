"""The generator as a process would run it: real HTTP on all sides, a scripted Ollama and a scripted retriever."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI

from services.generator.app import create_app
from services.generator.domain import terms
from services.generator.settings import GeneratorSettings
from services.shared.contracts.grounding import Grounding, GroundRequest, GroundResponse
from services.shared.contracts.search import ScoreRequest, ScoreResponse, TextScore
from services.shared.kit.settings import RedisSettings, ServiceSettings
from tests.contract.generator import openai_server as openai
from tests.contract.generator.ollama_server import MODEL, OllamaServer, finished, ollama_server, said
from tests.unit.generator.fakes import passage, request

QUESTION = request("When does the dock open?", passage("The dock opens at 05:45 on weekdays. It closes at noon."))
NOWHERE = "http://127.0.0.1:9"


def scoring_app() -> FastAPI:
    """A retriever that only scores and grounds, by shared words."""
    app = FastAPI()

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok", "service": "retriever", "version": "0"}

    @app.post("/score")
    async def score(body: ScoreRequest) -> ScoreResponse:
        shares = [terms.overlap(body.question, text) for text in body.texts]
        return ScoreResponse(scores=[TextScore(similarity=share, coverage=share) for share in shares])

    @app.post("/ground")
    async def ground(body: GroundRequest) -> GroundResponse:
        shares = [terms.overlap(pair.claim, pair.evidence) for pair in body.pairs]
        return GroundResponse(groundings=[Grounding(supported=share, contradicted=0.0) for share in shares])

    return app


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """The app on a free port."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(10):
        while not server.started:
            await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


def _client(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, headers={"Content-Type": "application/json"}, trust_env=False, timeout=20)


@asynccontextmanager
async def generator(
    retriever_url: str, *, redis_url: str = "redis://127.0.0.1:9/0", **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a running generator; without a Redis unless one is named."""
    settings = {"ollama_host": None, "openai_url": None, "ollama_model": MODEL, **settings}
    redis = RedisSettings(redis_url=redis_url, redis_timeout_s=0.2)
    app = create_app(GeneratorSettings(**settings), ServiceSettings(retriever_url=retriever_url), redis)
    async with served(app) as url, _client(url) as client:
        yield client


@pytest.fixture
async def retriever() -> AsyncIterator[str]:
    async with served(scoring_app()) as url:
        yield url


@pytest.fixture
async def ollama() -> AsyncIterator[OllamaServer]:
    async with ollama_server() as running:
        yield running


async def write(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    """The lines of one writing."""
    response = await client.post("/write", content=QUESTION.model_dump_json())
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert [one["event"] for one in lines[:-1]] == ["sentence"] * (len(lines) - 1)
    return lines


async def test_verbatim_over_http(retriever: str) -> None:
    async with generator(retriever, writer="extractive") as client:
        *sentences, done = await write(client)
        assert [one["text"] for one in sentences] == ["The dock opens at 05:45 on weekdays."]
        assert done["event"] == "done"
        assert done["degraded"] == []
        ready = await client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["parts"]["writer"]["detail"].startswith("extractive")
    assert ready.json()["parts"]["retriever"]["ready"]


async def test_without_retriever_words_decide_and_readiness_says_so() -> None:
    async with generator(NOWHERE) as client:
        *sentences, done = await write(client)
        assert len(sentences) == 1
        assert done["degraded"] == ["scores_unavailable"]
        ready = await client.get("/readyz")
    assert ready.status_code == 503
    assert not ready.json()["parts"]["retriever"]["ready"]


async def test_the_model_writes_when_it_is_there(retriever: str, ollama: OllamaServer) -> None:
    ollama.script = [
        said("<thi"),
        said("nk>hm</think>The dock opens at 05:45"),
        said(" [1]. It opens at 09:00 [1]."),
        finished(),
    ]
    async with generator(retriever, ollama_host=ollama.url) as client:
        *sentences, done = await write(client)
        ready = await client.get("/readyz")
    assert [one["text"] for one in sentences] == ["The dock opens at 05:45."]
    assert done["model"] == {"writer": "ollama", "name": MODEL}
    (dropped,) = done["dropped"]
    assert dropped["text"].startswith("It opens at 09:00.")
    assert "09:00" in dropped["text"].partition("(")[2]
    assert ready.json()["parts"]["writer"]["detail"].startswith("ollama")


async def test_a_model_of_another_server_writes_as_well(retriever: str) -> None:
    async with openai.openai_server() as server, generator(retriever, openai_url=server.url) as client:
        server.script = [openai.says("The dock opens at 05:45 [1]. It opens at"), openai.says(" 09:00 [1].")]
        server.script += [openai.ends(), openai.DONE]
        *sentences, done = await write(client)
        ready = await client.get("/readyz")
        server.refusals = [(400, {"error": {"type": "exceed_context_size_error", "message": "too long"}})]
        *verbatim, failed = await write(client)
    assert [one["text"] for one in sentences] == ["The dock opens at 05:45."]
    assert done["model"] == {"writer": "openai", "name": openai.MODEL}
    told = ready.json()["parts"]["writer"]["detail"]
    assert told.startswith(f"openai: {openai.MODEL} at {server.url}; keeps replies to a schema")
    assert "RAGSTONE_OPENAI_URL is set" in told
    assert [one["text"] for one in verbatim] == ["The dock opens at 05:45 on weekdays."]
    assert (failed["model"]["writer"], failed["degraded"]) == ("extractive", ["writer_failed"])


async def test_a_sentence_is_sent_before_the_model_is_done(retriever: str, ollama: OllamaServer) -> None:
    ollama.script = [said("The dock opens at 05:45 [1]. It"), 20.0, finished()]
    async with generator(retriever, ollama_host=ollama.url) as client:
        async with client.stream("POST", "/write", content=QUESTION.model_dump_json()) as response:
            line = await asyncio.wait_for(anext(response.aiter_lines()), 5)
        assert json.loads(line)["text"] == "The dock opens at 05:45."
        await asyncio.wait_for(ollama.left.wait(), 3)


async def test_a_client_who_leaves_before_the_first_word_stops_the_model(retriever: str, ollama: OllamaServer) -> None:
    ollama.script = [20.0, finished()]
    async with generator(retriever, ollama_host=ollama.url) as client:
        asking = asyncio.create_task(client.post("/write", content=QUESTION.model_dump_json()))
        await ollama.is_asked()
        asking.cancel()
        await asyncio.wait_for(ollama.left.wait(), 3)


@pytest.mark.parametrize(
    "script", [[{"error": "out of memory"}], [said("The dock"), "close"]], ids=["error line", "broken off"]
)
async def test_a_failing_model_is_replaced_over_http(retriever: str, ollama: OllamaServer, script: list[Any]) -> None:
    ollama.script = script
    async with generator(retriever, ollama_host=ollama.url) as client:
        *sentences, done = await write(client)
    assert [one["text"] for one in sentences] == ["The dock opens at 05:45 on weekdays."]
    assert done["degraded"] == ["writer_failed"]


async def test_a_missing_model_is_seen_and_its_arrival_noticed(retriever: str, ollama: OllamaServer) -> None:
    ollama.models = []
    ollama.script = [said("The dock opens at 05:45 [1]."), finished()]
    async with generator(retriever, ollama_host=ollama.url, writer_probe_s=0.1) as client:
        *_, done = await write(client)
        assert (done["model"]["writer"], done["degraded"]) == ("extractive", ["writer_fallback"])
        ready = (await client.get("/readyz")).json()
        assert ready["ready"]
        assert f"ollama pull {MODEL}" in ready["parts"]["writer"]["detail"]
        ollama.models = [MODEL]
        await asyncio.sleep(0.5)
        *_, done = await write(client)
    assert done["model"]["writer"] == "ollama"
    assert len(ollama.loads) == 1


async def test_a_demanded_model_that_is_missing_is_not_ready(retriever: str) -> None:
    async with generator(retriever, writer="ollama", ollama_host=NOWHERE) as client:
        assert (await client.get("/readyz")).status_code == 503
        *_, done = await write(client)
    assert done["degraded"] == ["writer_fallback"]


async def test_a_full_queue_is_busy(retriever: str, ollama: OllamaServer) -> None:
    ollama.script = [1.0, said("The dock opens at 05:45 [1]."), finished()]
    async with generator(retriever, ollama_host=ollama.url, writer_parallel=1, writer_waiting=0) as client:
        first = asyncio.create_task(write(client))
        await ollama.is_asked()
        refused = await client.post("/write", content=QUESTION.model_dump_json())
        assert refused.status_code == 503
        assert refused.json()["code"] == "busy"
        assert int(refused.headers["retry-after"]) > 0
        *_, done = await first
    assert done["degraded"] == []


async def test_an_unknown_field_is_refused(retriever: str) -> None:
    async with generator(retriever) as client:
        response = await client.post("/write", json={"question": "?"})
    assert response.status_code == 422
    assert response.json()["code"] == "invalid_request"


def test_the_process_loads_no_model_library() -> None:
    code = (
        "import sys; import services.generator.__main__, services.generator.wiring;"
        "print([name for name in ('torch', 'numpy', 'chromadb', 'sentence_transformers') if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert loaded.stdout.strip() == "[]"
