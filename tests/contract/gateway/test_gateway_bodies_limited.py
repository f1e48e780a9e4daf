"""Heads and bodies that are too large, too slow, too deep or endless, byte by byte on a real socket."""

import asyncio
import json
import resource
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from services.gateway.app.heads import HEAD_MAX_BYTES
from services.gateway.app.limits import FLOWING_BYTES, MESSAGE_MAX_BYTES
from services.gateway.settings import GatewaySettings
from tests.contract.gateway.front import Front, front
from tests.unit.gateway.fakes import World

PATIENCE_S = 0.5
BOUNDARY = "xxxx"
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
HOST = b"Host: localhost\r\n"


@pytest.fixture
async def gateway(redis_url: str) -> AsyncIterator[Front]:
    world = World(
        settings=GatewaySettings(document_max_bytes=100_000, body_max_bytes=3_000_000, body_timeout_s=PATIENCE_S)
    )
    async with front(world, redis_url) as one:
        yield one


def head(path: str, *headers: str, method: str = "POST") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def status_of(raw: bytes) -> int:
    assert raw.startswith(b"HTTP/1.1 "), raw[:200]
    return int(raw[9:12])


def problem(response: httpx.Response, status: int, code: str) -> None:
    assert (response.status_code, response.json()["code"]) == (status, code), response.text[:300]
    assert response.headers["content-type"] == "application/problem+json"


async def pieces(total: int, size: int = 50_000) -> AsyncIterator[bytes]:
    """So many bytes, of which nobody says beforehand how many."""
    for _ in range(0, total, size):
        yield b"x" * size


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/v1/ask", MESSAGE_MAX_BYTES),
        ("/v1/search", MESSAGE_MAX_BYTES),
        ("/v1/chat/completions", MESSAGE_MAX_BYTES),
        ("/mcp", MESSAGE_MAX_BYTES),
        ("/v1/feedback", MESSAGE_MAX_BYTES),
        ("/v1/nowhere", MESSAGE_MAX_BYTES),
    ],
)
async def test_a_body_without_content_length_is_read_to_its_limit_and_no_further(
    gateway: Front, path: str, limit: int
) -> None:
    sent = 0

    async def counted() -> AsyncIterator[bytes]:
        nonlocal sent
        async for piece in pieces(20 * limit):
            sent += len(piece)
            yield piece

    response = await gateway.client.post(path, content=counted(), headers={"Content-Type": "application/json"})
    problem(response, 413, "body_too_large")


@pytest.mark.parametrize("media_type", ["application/json", "application/x-ndjson", FORM["Content-Type"]])
async def test_an_upload_without_content_length_has_its_own_limit(gateway: Front, media_type: str) -> None:
    response = await gateway.client.post(
        "/v1/documents", content=pieces(20_000_000), headers={"Content-Type": media_type}
    )
    assert response.status_code in (400, 413, 422), response.text
    assert not gateway.world.originals.kept
    assert not gateway.world.documents.batches


@pytest.mark.parametrize("length", ["1000001", "99999999999999999999"])
async def test_a_length_that_is_announced_is_refused_before_the_body_comes(gateway: Front, length: str) -> None:
    raw = await gateway.raw(head("/v1/ask", f"Content-Length: {length}", "Connection: close"))
    assert status_of(raw) in (400, 413)


async def test_a_body_that_comes_too_slowly_is_not_waited_for(gateway: Front) -> None:
    body = [bytes([byte]) for byte in b'{"question": "When does it open?"}' * 4]
    began = time.monotonic()
    raw = await gateway.raw(head("/v1/ask", f"Content-Length: {len(body)}"), *body, every_s=0.1)
    assert status_of(raw) == 408
    assert b"connection: close" in raw.lower()
    assert b'"code":"invalid_request"' in raw
    assert PATIENCE_S <= time.monotonic() - began < PATIENCE_S + 1.5
    assert not gateway.world.retriever.calls


@pytest.mark.parametrize("path", ["/v1/documents", "/v1/evaluations"])
async def test_an_upload_that_stops_flowing_is_not_waited_for(gateway: Front, path: str) -> None:
    trickle = [b"1\r\n{\r\n"] + [b"1\r\n \r\n"] * 40
    raw = await gateway.raw(head(path, "Transfer-Encoding: chunked"), *trickle, every_s=0.1)
    assert status_of(raw) == 408


async def test_an_upload_may_take_long_while_it_flows(gateway: Front) -> None:
    async def flowing() -> AsyncIterator[bytes]:
        yield b'{"text": "'
        for _ in range(8):
            yield b"a" * FLOWING_BYTES
            await asyncio.sleep(PATIENCE_S / 3)
        yield b'"}'

    began = time.monotonic()
    response = await gateway.client.post(
        "/v1/documents", content=flowing(), headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 202, response.text
    assert time.monotonic() - began > 2 * PATIENCE_S


@pytest.mark.parametrize("before", [b"", b"GET /healthz HTTP/1.1\r\n", b"GET /healthz HT"])
async def test_a_head_that_does_not_come_is_not_waited_for(gateway: Front, before: bytes) -> None:
    dribble = [b"X-A: 1\r\n" if before.endswith(b"\n") else b""] * 40
    began = time.monotonic()
    assert await gateway.raw(before, *dribble, every_s=0.1) == b""
    assert PATIENCE_S <= time.monotonic() - began < PATIENCE_S + 1.5


async def test_nor_the_next_head_on_the_same_line(gateway: Front) -> None:
    whole = head("/healthz", method="GET")
    raw = await gateway.raw(whole, b"", b"GET /healthz", *[b"x"] * 40, every_s=0.1)
    assert raw.count(b"HTTP/1.1 200") == 1


async def test_an_answer_that_takes_long_is_no_slow_head(gateway: Front) -> None:
    gateway.world.answers(script=[])
    gateway.world.retriever.hang = True
    body = b'{"question": "When?"}'
    asked = head("/v1/ask", f"Content-Length: {len(body)}") + body
    with pytest.raises(TimeoutError):
        await gateway.raw(asked, patience_s=3 * PATIENCE_S)


HEADS: dict[str, list[bytes]] = {
    "one header": [b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-A: " + b"a" * 2 * HEAD_MAX_BYTES + b"\r\n\r\n"],
    "many headers": [b"GET /healthz HTTP/1.1\r\n" + HOST + b"X-A: aaaa\r\n" * (HEAD_MAX_BYTES // 5) + b"\r\n"],
    "an address": [b"GET /v1/documents?cursor=" + b"a" * 2 * HEAD_MAX_BYTES + b" HTTP/1.1\r\n" + HOST + b"\r\n"],
    "a name": [b"GET /healthz HTTP/1.1\r\n" + HOST + b"a" * 2 * HEAD_MAX_BYTES + b": 1\r\n\r\n"],
    "an endless header": [b"GET /healthz HTTP/1.1\r\nX-A: "] + [b"a" * 10_000] * 2000,
    "an endless address": [b"GET /"] + [b"a" * 10_000] * 2000,
}


@pytest.mark.parametrize("sent", HEADS.values(), ids=HEADS.keys())
async def test_a_head_that_is_too_large_is_refused(gateway: Front, sent: list[bytes]) -> None:
    assert status_of(await gateway.raw(*sent)) == 431


async def test_a_large_head_within_the_limit_is_read(gateway: Front) -> None:
    big = {f"X-{n}": "a" * 1000 for n in range(50)}
    assert (await gateway.client.get("/healthz", headers=big)).status_code == 200


DEEP = b"[" * 100_000
ENDLESS_NAME = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="'.encode() + b"a" * 2_500_000


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/search", "/v1/chat/completions", "/v1/documents", "/v1/feedback"])
@pytest.mark.parametrize("body", [DEEP, b'{"question": ' + DEEP, b'{"a":' * 100_000], ids=["list", "field", "objects"])
async def test_json_that_is_a_hundred_thousand_deep_is_refused(gateway: Front, path: str, body: bytes) -> None:
    response = await gateway.client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422), response.text[:300]
    assert response.headers["content-type"] == "application/problem+json"


def part(name: str, value: str) -> bytes:
    return f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()


FORMS: dict[str, bytes] = {
    "endless field name": ENDLESS_NAME,
    "many fields": part("tags", "a") * 20_000,
    "many unknown fields": b"".join(part(f"f{n}", "a") for n in range(20_000)),
    "one huge field": part("manifest", "a" * 2_900_000),
    "many headers of a part": f"--{BOUNDARY}\r\n".encode() + b"X-A: 1\r\n" * 100_000,
    "only a beginning": b"-" * 2_900_000,
    "no boundary": b"a" * 2_900_000,
}


@pytest.mark.parametrize("body", FORMS.values(), ids=FORMS.keys())
async def test_a_form_without_measure_is_refused_quickly(gateway: Front, body: bytes) -> None:
    began = time.process_time()
    response = await gateway.client.post("/v1/documents", content=body, headers=FORM)
    assert 400 <= response.status_code < 500, response.text[:300]
    assert response.headers["content-type"] == "application/problem+json"
    assert time.process_time() - began < 3
    assert not gateway.world.originals.kept


@pytest.mark.parametrize(
    ("history", "status"),
    [
        ([{"question": "q" * 24_000, "answer": "a" * 24_000}] * 20, 422),
        ([{"question": "q", "answer": "a"}] * 21, 422),
        ([{"question": "q" * 100_000, "answer": "a"}] * 20, 413),
    ],
)
async def test_a_conversation_without_measure_is_refused(gateway: Front, history: Any, status: int) -> None:
    response = await gateway.client.post("/v1/ask", json={"question": "And?", "history": history})
    assert response.status_code == status, response.text[:300]
    assert not gateway.world.retriever.calls


async def test_memory_does_not_grow_with_what_is_sent(gateway: Front) -> None:
    await gateway.client.post("/v1/ask", content=pieces(2_000_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for path in ("/v1/ask", "/v1/documents", "/mcp"):
        await gateway.client.post(path, content=pieces(60_000_000), headers={"Content-Type": "application/x-ndjson"})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000


async def test_the_line_is_good_for_the_next_question_after_a_refusal(gateway: Front) -> None:
    large = json.dumps({"question": "x" * 1_100_000})
    for _ in range(3):
        problem(await gateway.client.post("/v1/ask", content=large), 413, "body_too_large")
        assert (await gateway.client.get("/healthz")).status_code == 200
