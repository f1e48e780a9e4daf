"""The whole of Ragstone behind a real nginx: events as they are made, and limits that hold over two gateways."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.local.ports import free_port
from tests.contract.generator.openai_server import DONE, OpenAIServer, ends, says
from tests.contract.generator.scripted_server import scripted
from tests.e2e.nginx_front import GZIP_ALL, NginxFront, needs_nginx, nginx_front
from tests.e2e.stack import ROOT, Stack, running_stack, until
from tests.unit.gateway.test_gateway_streams import parsed

pytestmark = needs_nginx

ROOMS = ("hall", "attic", "cellar", "pantry", "studio", "garage", "chapel", "office", "tower", "stable")
FACTS = [f"The {room} of the mill opens at {6 + n}:15 on weekdays." for n, room in enumerate(ROOMS)]
QUESTION = "When does each room of the mill open on weekdays?"
TOKEN_S = 0.3
LIMIT = 6


class Timed(OpenAIServer):
    """Notes when it says something."""

    def __init__(self) -> None:
        super().__init__()
        self.said_at: list[float] = []

    def framed(self, event: dict[str, Any]) -> bytes:
        if event["choices"][0]["delta"].get("content", "").startswith("The "):
            self.said_at.append(time.monotonic())
        return super().framed(event)


@dataclass
class Site:
    """Two gateways of one stack, the nginx before them, and who writes."""

    stack: Stack
    nginx: NginxFront
    model: Timed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("behind")


@contextlib.contextmanager
def second_gateway(stack: Stack, folder: Path) -> Iterator[int]:
    """Another process of the same gateway; its port."""
    port = free_port()
    named = stack.environment
    more = {
        "RAGSTONE_PORT": str(port),
        "RAGSTONE_REDIS_URL": f"redis://127.0.0.1:{named['RAGSTONE_REDIS_PORT']}/0",
        "RAGSTONE_RETRIEVER_URL": f"http://127.0.0.1:{named['RAGSTONE_RETRIEVER_PORT']}",
        "RAGSTONE_GENERATOR_URL": f"http://127.0.0.1:{named['RAGSTONE_GENERATOR_PORT']}",
    }
    words = [sys.executable, "-m", "services.gateway"]
    with (folder / "gateway.log").open("wb") as log:
        process = subprocess.Popen(words, cwd=ROOT, env={**named, **more}, stdout=log, stderr=log)

    def ready() -> bool:
        assert process.poll() is None, (folder / "gateway.log").read_text()
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).status_code == 200
        return False

    try:
        until(ready, 60)
        yield port
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture
async def site(folder: Path) -> AsyncIterator[Site]:
    """Started for each test: the limits begin anew."""
    async with scripted(Timed()) as model:
        state = folder / str(time.monotonic_ns())
        settings = {
            "RAGSTONE_OPENAI_URL": model.url,
            "RAGSTONE_WRITER": "openai",
            "RAGSTONE_TRUSTED_PROXIES": '["127.0.0.1"]',
            "RAGSTONE_LIMIT_ADDRESS": f"{LIMIT}/minute",
            "RAGSTONE_LIMIT_WRONG_KEYS": "5/minute",
            "RAGSTONE_CACHE_S": "0",
            "RAGSTONE_WITHOUT_KEYS": "true",
        }
        with contextlib.ExitStack() as running:
            stack = await asyncio.to_thread(running.enter_context, running_stack(state, settings))
            port = await asyncio.to_thread(running.enter_context, second_gateway(stack, state))
            ports = [stack.port, port]
            nginx = await asyncio.to_thread(running.enter_context, nginx_front(state / "nginx", ports, GZIP_ALL))
            await asyncio.to_thread(stack.add, "\n\n".join(FACTS), "mill.md")
            yield Site(stack, nginx, model)
            await asyncio.to_thread(running.close)


async def searches(client: httpx.AsyncClient, times: int, **headers: str) -> list[int]:
    body = {"question": QUESTION}
    return [(await client.post("/v1/search", json=body, headers=headers)).status_code for _ in range(times)]


async def test_sentences_arrive_as_they_are_written_and_limits_hold_over_two_gateways(site: Site) -> None:
    await events_arrive(site)
    await floods_are_held_up(site)
    await keys_are_told_apart(site)


async def events_arrive(site: Site) -> None:
    site.model.script = []
    for fact in FACTS:
        site.model.script += [says(f"{fact[:-1]} [1]. "), TOKEN_S]
    site.model.script += [ends(), DONE]
    heard: list[tuple[float, str]] = []
    async with site.nginx.client("127.0.0.9") as client:
        body = {"question": QUESTION, "stream": True}
        async with client.stream("POST", "/v1/ask", json=body) as response:
            assert response.status_code == 200
            assert response.headers["content-type"].startswith("text/event-stream")
            assert response.headers["cache-control"] == "no-store"
            async for piece in response.aiter_text():
                heard.append((time.monotonic(), piece))
    events = parsed("".join(piece for _, piece in heard))
    assert events[-1][0] == "answer"
    assert events[-1][1]["status"] == "answered", events[-1][1]
    assert [name for name, _ in events].count("sentence") >= 8, events[-1][1]
    first = next(at for at, piece in heard if "event: sentence" in piece)
    assert first - site.model.said_at[0] < 1.0
    assert sum("event: sentence" in piece for _, piece in heard) >= 8


async def floods_are_held_up(site: Site) -> None:
    async with site.nginx.client("127.0.0.2") as flooder, site.nginx.client("127.0.0.3") as other:
        assert await searches(flooder, LIMIT + 3) == [200] * LIMIT + [429] * 3
        assert await searches(other, LIMIT) == [200] * LIMIT
        streamed = await flooder.post("/v1/ask", json={"question": QUESTION, "stream": True})
        assert streamed.status_code == 429
        assert int(streamed.headers["Retry-After"]) >= 1
    direct = httpx.AsyncClient(
        base_url=site.stack.base_url, transport=httpx.AsyncHTTPTransport(local_address="127.0.0.4"), timeout=30
    )
    async with direct:
        spoofed = [(await searches(direct, 1, **{"X-Forwarded-For": f"198.51.100.{n}"}))[0] for n in range(LIMIT + 2)]
    assert spoofed == [200] * LIMIT + [429] * 2


async def keys_are_told_apart(site: Site) -> None:
    async with httpx.AsyncClient(base_url=site.stack.base_url, trust_env=False, timeout=30) as owner:
        bearer = [f"Bearer {await made(owner, 'first', role='admin')}"]
        owner.headers["Authorization"] = bearer[0]
        bearer += [f"Bearer {await made(owner, name, requests_per_minute=3)}" for name in ("one", "two")]
    # The other gateway hears of the first key within a second.
    await asyncio.sleep(1.2)
    async with site.nginx.client("127.0.0.5") as client:
        assert await searches(client, 5, Authorization=bearer[1]) == [200] * 3 + [429] * 2
        assert await searches(client, 3, Authorization=bearer[2]) == [200] * 3
        wrong = [(await searches(client, 1, Authorization=f"Bearer rs_guess{n}_00"))[0] for n in range(8)]
        assert wrong == [401] * 5 + [429] * 3


async def made(owner: httpx.AsyncClient, name: str, **wanted: Any) -> str:
    response = await owner.post("/v1/keys", json={"name": name, **wanted})
    assert response.status_code == 201, response.text
    secret: str = response.json()["secret"]
    return secret
