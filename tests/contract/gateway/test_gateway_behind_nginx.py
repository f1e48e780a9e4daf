"""A real nginx with its own settings before real gateway sockets: what limits see, and how events come through."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from services.gateway.adapters.generator import HttpGenerator
from services.gateway.app import streams
from services.gateway.settings import GatewaySettings
from services.shared.contracts.errors import ErrorCode
from services.shared.kit.http_client import ServiceClient
from tests.contract.gateway.front import Front, front, until
from tests.contract.gateway.scripted_generator import Move, ScriptedGenerator, scripted_generator
from tests.e2e.nginx_front import GZIP_ALL, NginxFront, needs_nginx, nginx_front
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, found, passage, sentence
from tests.unit.gateway.test_gateway_streams import parsed

pytestmark = needs_nginx

ONE = passage()
DONE = done().model_dump_json().encode() + b"\n"
TOKENS = 10
TOKEN_S = 0.3
SLOWER = 100.0
"""How much longer silences are in life than here."""
QUESTION = {"question": "When?"}
STREAM = {**QUESTION, "stream": True}


@dataclass
class Behind:
    """Gateways that share a Redis, the nginx before them, and what their generator plays."""

    nginx: NginxFront
    gateways: list[Front]
    generator: ScriptedGenerator

    def plays(self, *moves: Move) -> None:
        self.generator.moves = {"/write": moves}


def line(text: str) -> bytes:
    return sentence(text, (ONE, "opens at nine"), of=[ONE]).model_dump_json().encode() + b"\n"


@contextlib.asynccontextmanager
async def behind(
    folder: Path, redis_url: str, *, replicas: int = 1, more: str = "", silence_s: float = 20.0, **settings: Any
) -> AsyncIterator[Behind]:
    redis.Redis.from_url(redis_url).flushdb()
    settings = {"trusted_proxies": ["127.0.0.1"], "cache_s": 0, **settings}
    world = World(settings=GatewaySettings(**settings))
    world.retriever.response = found(ONE)
    async with contextlib.AsyncExitStack() as stack:
        generator = await stack.enter_async_context(scripted_generator())
        calls = ServiceClient(
            name="generator", base_url=generator.url, unavailable=ErrorCode.GENERATOR_UNAVAILABLE, timeout_s=silence_s
        )
        stack.push_async_callback(calls.close)
        outside = world.outside

        def with_generator() -> Any:
            return replace(outside(), generator=HttpGenerator(calls))

        world.outside = with_generator  # type: ignore[method-assign]
        gateways = [await stack.enter_async_context(front(world, redis_url)) for _ in range(replicas)]
        ports = [gateway.port for gateway in gateways]
        nginx = await asyncio.to_thread(stack.enter_context, nginx_front(folder / "nginx", ports, more))
        told = Behind(nginx, gateways, generator)
        told.plays(line("It opens at nine."), DONE, "end")
        yield told


async def statuses(client: httpx.AsyncClient, times: int, body: Any = QUESTION, **headers: str) -> list[int]:
    return [(await client.post("/v1/ask", json=body, headers=headers)).status_code for _ in range(times)]


@pytest.mark.parametrize("body", [QUESTION, STREAM], ids=["plain", "streamed"])
async def test_who_floods_is_held_up_and_the_other_client_is_not(
    tmp_path: Path, redis_url: str, body: dict[str, Any]
) -> None:
    async with behind(tmp_path, redis_url, replicas=2, limit_address="6/minute") as told:
        async with told.nginx.client("127.0.0.2") as flooder, told.nginx.client("127.0.0.3") as other:
            assert await statuses(flooder, 10, body) == [200] * 6 + [429] * 4
            assert await statuses(other, 6, body) == [200] * 6
            refused = await flooder.post("/v1/ask", json=body)
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["Retry-After"]) >= 1
        assert refused.headers["RateLimit-Remaining"] == "0"
        assert [bool(gateway.world.retriever.calls) for gateway in told.gateways] == [True, True]


async def test_inventing_addresses_helps_neither_through_the_proxy_nor_past_it(tmp_path: Path, redis_url: str) -> None:
    async with behind(tmp_path, redis_url, limit_address="4/minute", without_keys=True) as told:
        direct = f"http://127.0.0.1:{told.gateways[0].port}"
        past = httpx.AsyncClient(base_url=direct, transport=httpx.AsyncHTTPTransport(local_address="127.0.0.4"))
        for client in (told.nginx.client("127.0.0.2"), past):
            async with client:
                seen = [
                    (await statuses(client, 1, **{"X-Forwarded-For": f"198.51.100.{n}, 10.0.0.{n}"}))[0]
                    for n in range(7)
                ]
            assert seen == [200] * 4 + [429] * 3


async def test_keys_are_told_apart_and_wrong_ones_are_held_up(tmp_path: Path, redis_url: str) -> None:
    async with behind(tmp_path, redis_url, replicas=2, limit_key="3/minute", limit_wrong_keys="4/minute") as told:
        keys = told.gateways[0].world.keys
        one, two = (f"Bearer {keys.make()}" for _ in range(2))
        async with told.nginx.client() as client:
            assert await statuses(client, 5, Authorization=one) == [200] * 3 + [429] * 2
            assert await statuses(client, 3, Authorization=two) == [200] * 3
            wrong = [(await statuses(client, 1, Authorization=f"Bearer rs_guess{n}_00"))[0] for n in range(7)]
            assert wrong == [401] * 4 + [429] * 3
        async with told.nginx.client("127.0.0.3") as elsewhere:
            assert await statuses(elsewhere, 1, Authorization=one.replace("Bearer ", "Bearer x")) == [401]


async def test_answers_at_once_are_counted_for_each_client(tmp_path: Path, redis_url: str) -> None:
    async with behind(tmp_path, redis_url, answers_per_caller=1) as told:
        told.plays(line("It opens at nine."), "wait")
        places = told.gateways[0].gateway.limits.places
        async with told.nginx.client("127.0.0.2") as one, told.nginx.client("127.0.0.3") as other:
            waiting = [asyncio.create_task(client.post("/v1/ask", json=STREAM)) for client in (one, other)]
            await until(lambda: places.taken == 2)
            assert await statuses(one, 1) == [503]
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            # nginx sees that they left, and leaves too.
            await until(lambda: places.taken == 0)


@pytest.mark.parametrize("more", ["", GZIP_ALL], ids=["default", "compressed"])
async def test_events_come_through_one_by_one(tmp_path: Path, redis_url: str, more: str) -> None:
    async with behind(tmp_path, redis_url, more=more) as told:
        moves: list[Move] = []
        for n in range(TOKENS):
            moves += [line(f"It opens at nine, {n}."), TOKEN_S]
        told.plays(*moves, DONE, "end")
        heard: list[tuple[float, str]] = []
        async with told.nginx.client() as client:
            began = time.monotonic()
            async with client.stream("POST", "/v1/ask", json=STREAM, headers={"Accept-Encoding": "gzip"}) as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                assert response.headers["cache-control"] == "no-store"
                # nginx keeps X-Accel-Buffering to itself; it is looked at below.
                assert (response.headers.get("content-encoding") == "gzip") == bool(more)
                async for piece in response.aiter_text():
                    heard.append((time.monotonic() - began, piece))
        whole = parsed("".join(piece for _, piece in heard))
        assert [name for name, _ in whole].count("sentence") == TOKENS
        assert whole[-1][0] == "answer"
        first = next(at for at, piece in heard if "event: sentence" in piece)
        assert first < 1.0
        assert sum("event: sentence" in piece for _, piece in heard) >= 8
        assert sum("event: sentence" in piece and at < TOKENS * TOKEN_S - 1 for at, piece in heard) >= 5
        direct = await told.gateways[0].client.post("/v1/ask", json=STREAM)
        assert direct.headers["x-accel-buffering"] == "no"


@pytest.mark.parametrize("more", ["", GZIP_ALL], ids=["default", "compressed"])
async def test_a_long_silence_is_filled(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    assert streams.KEEPALIVE_S < 10
    monkeypatch.setattr(streams, "KEEPALIVE_S", streams.KEEPALIVE_S / SLOWER)
    # nginx gives up on a silence of 60 s.
    scaled = f"{more} proxy_read_timeout 1s;"
    async with behind(tmp_path, redis_url, more=scaled) as told:
        told.plays(line("It opens at nine."), 3.0, DONE, "end")
        comments: list[float] = []
        async with told.nginx.client() as client, client.stream("POST", "/v1/ask", json=STREAM) as response:
            raw = ""
            async for piece in response.aiter_text():
                raw += piece
                if piece.lstrip().startswith(":"):
                    comments.append(time.monotonic())
        assert len(comments) >= 60 / 10
        assert parsed(raw)[-1][0] == "answer"


BREAKS: dict[str, Sequence[Move]] = {
    "closes": [line("It opens at nine."), "abort"],
    "stalls": [line("It opens at nine."), 5.0, DONE, "end"],
    "cuts a line in half": [line("It opens at nine."), line("Nothing else.")[:30], "abort"],
}


@pytest.mark.parametrize("moves", BREAKS.values(), ids=BREAKS.keys())
async def test_a_generator_that_dies_in_the_middle_ends_with_an_answer_that_says_so(
    tmp_path: Path, redis_url: str, moves: Sequence[Move]
) -> None:
    async with behind(tmp_path, redis_url, silence_s=0.6) as told:
        told.plays(*moves)
        async with told.nginx.client() as client:
            response = await client.post("/v1/ask", json=STREAM)
        events = parsed(response.text)
        assert [name for name, _ in events if name in ("answer", "error")] == ["answer"]
        assert (events[-1][1]["status"], events[-1][1]["reason"]) == ("abstained", "writer_unavailable")


async def test_a_slow_reader_gets_everything(tmp_path: Path, redis_url: str) -> None:
    async with behind(tmp_path, redis_url) as told:
        long = [line(f"It opens at nine, {n}. " + "x" * 2000) for n in range(40)]
        told.plays(*long, DONE, "end")
        body = json.dumps(STREAM).encode()
        host, port = told.nginx.url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
        lines = ["POST /v1/ask HTTP/1.0", "Host: localhost", "Content-Type: application/json"]
        writer.write("\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body)
        raw = b""
        while piece := await reader.read(8192):
            raw += piece
            await asyncio.sleep(0.01)
        writer.close()
        events = parsed(raw.partition(b"\r\n\r\n")[2].decode())
        assert [name for name, _ in events].count("sentence") == len(long)
        assert events[-1][0] == "answer"
        await until(lambda: told.gateways[0].gateway.limits.places.taken == 0)


ODD = {
    "new lines": "One\nTwo\r\nThree\rFour\n\ndata: Five\n\nevent: answer\n: six",
    "separators": "One\u2028Two\u2029Three\x85Four\x0bFive\x0cSix\x1cSeven",
    "controls": "One\x00Two\x01Three\x1bFour\x7fFive",
    "emoji": "😀 👩‍👩‍👧‍👦 🇺🇳 é \U0010ffff \ufeff \u202e",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
async def test_any_character_survives_the_framing(tmp_path: Path, redis_url: str, text: str) -> None:
    async with behind(tmp_path, redis_url, more=GZIP_ALL) as told:
        told.plays(line(text), DONE, "end")
        async with told.nginx.client() as client:
            raw = (await client.post("/v1/ask", json=STREAM)).content.decode()
            plain = (await client.post("/v1/ask", json=QUESTION)).json()
        events = parsed(raw)
        assert [name for name, _ in events if name in ("sentence", "answer", "error")] == ["sentence", "answer"]
        (spoken,) = [data["text"] for name, data in events if name == "sentence"]
        assert spoken.startswith(text.rstrip())
        assert events[-1][1]["text"] == plain["text"] == spoken
        # Readers of lines that go by Unicode would else split in the middle of an event.
        assert all(line_.partition(":")[0] in ("", "event", "data") for line_ in raw.splitlines())
