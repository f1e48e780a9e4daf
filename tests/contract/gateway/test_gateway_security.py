"""Doors that stay shut: things of another space by their ids, answers without safe headers, requests in two minds."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from services.gateway.app.safe_headers import DEFAULTS
from services.shared.catalog import keys
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.keys import NewKey, Role
from tests.contract.gateway.conftest import Serving
from tests.contract.gateway.front import front
from tests.contract.gateway.test_gateway_index_catalog import filled
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import NOON
from tests.unit.gateway.test_gateway_pages import BROWSER

NO_ID = "5f0c8f1e00004000"
BODIES: dict[str, Any] = {
    "fact": {"text": "It is so."},
    "correction": {"behaviour": "answer", "expected": "Nine.", "facts": [["nine"]]},
    "promote": {"force": True},
}
QUESTION = {"id": "q1", "text": "When does it open?", "kind": "fact", "behaviour": "abstain"}
Operations = dict[str, dict[str, Any]]


async def made(gateway: Serving, owner: httpx.AsyncClient) -> dict[str, str]:
    """One thing of every kind in the space main; their ids by the list that shows them."""
    await filled(gateway, owner)
    second = (await owner.post("/v1/indexes", json={"embedder": "big"})).json()
    (await owner.put("/v1/golden", json={"items": [{"question": QUESTION}]})).raise_for_status()
    evaluation = (await owner.post("/v1/evaluations", json={"questions": [QUESTION]})).raise_for_status().json()
    asked = (await owner.post("/v1/ask", json={"question": "Who built the mill?"})).json()
    said = await owner.post("/v1/feedback", json={"answer_id": asked["id"], "verdict": "bad"})
    gaps: list[dict[str, Any]] = []
    for _ in range(100):
        gaps = (await owner.get("/v1/gaps")).json()["items"]
        if gaps:
            break
        await asyncio.sleep(0.05)
    documents = (await owner.get("/v1/documents")).json()["items"]
    return {
        "/v1/documents": documents[0]["id"],
        "/v1/jobs": second["job_id"],
        "/v1/indexes": second["id"],
        "/v1/golden": "q1",
        "/v1/evaluations": evaluation["id"],
        "/v1/feedback": said.json()["id"],
        "/v1/gaps": gaps[0]["id"],
        "answer": asked["id"],
    }


def of_one(document: dict[str, Any], ids: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Every operation on one thing of a space: method, path, and the list that its id is from."""
    for path, operations in document["paths"].items():
        lists = [one for one in ids if path.startswith(one + "/{id}")]
        for method in operations:
            if lists:
                yield method.upper(), path, lists[0]


async def test_no_id_of_another_space_opens_anything(gateway: Serving, client: httpx.AsyncClient) -> None:
    """Each operation on one thing says of another space's the same as of one that never was."""
    document = (await client.get("/openapi.json")).json()
    ids = await made(gateway, client)
    with gateway.catalog.write() as tx:
        stranger = keys.create(tx, NewKey(name="s", role=Role.WRITE, space=SpaceId("other")), NOON).secret
        owner = keys.create(tx, NewKey(name="o", role=Role.ADMIN), NOON).secret
    tried = set()
    for method, path, where in of_one(document, ids):
        body = BODIES.get(path.rpartition("/")[2])
        answers = []
        for id in (ids[where], NO_ID):
            answers.append(
                await client.request(
                    method,
                    path.replace("{id}", quote(id, safe="")),
                    json=body,
                    headers={"Authorization": f"Bearer {stranger}"},
                )
            )
        theirs, nobodys = ({**one.json(), "request_id": "", "detail": ""} for one in answers)
        assert answers[0].status_code == 404, (method, path, answers[0].text)
        assert theirs == nobodys
        details = [one.json()["detail"].replace(id, "") for one, id in zip(answers, (ids[where], NO_ID), strict=True)]
        assert details[0] == details[1]
        tried.add(path)
    assert len(tried) >= 15
    judged = {"answer_id": ids["answer"], "verdict": "good"}
    refused = await client.post("/v1/feedback", json=judged, headers={"Authorization": f"Bearer {stranger}"})
    assert (refused.status_code, refused.json()["code"]) == (404, "answer_not_found")
    for where in ids:
        if where.startswith("/v1/"):
            listed = await client.get(where, headers={"Authorization": f"Bearer {stranger}"})
            assert listed.json()["items"] == [], where
    # Nothing was changed by the attempts.
    for where, id in ids.items():
        if where.startswith("/v1/"):
            there = await client.get(where, headers={"Authorization": f"Bearer {owner}"})
            assert f'"{id}"' in there.text, where


async def test_every_answer_has_safe_headers_whoever_gives_it(tmp_path: Path, redis_url: str) -> None:
    world = World()
    world.documents.hold("shed.md", filename="shed.html")
    world.originals.original = _page(tmp_path)  # type: ignore[method-assign]
    async with front(world, redis_url) as gateway:
        client = gateway.client
        source = "/v1/documents/shed.md/source"
        pages = [
            await client.get("/"),
            await client.get("/docs"),
            await client.get("/widget-example"),
            await client.get("/assets/report.html"),
            await client.get(source, headers=BROWSER),
        ]
        public = [
            await client.get(path) for path in ("/assets/page.js", "/assets/swagger/swagger-ui.css", "/widget.js")
        ]
        rest = [
            await client.get("/v1/documents"),
            await client.get(source),
            await client.get(source, params={"as": "original"}),
            await client.get("/v1/nothing"),
            await client.get("/openapi.json"),
            await client.get("/healthz"),
            await client.get("/metrics"),
            await client.post("/v1/ask", json={"question": "When?"}),
            await client.post("/v1/ask", json={"question": "When?", "stream": True}),
            await client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": "When?"}]}),
            await client.post("/v1/ask", content=b"{"),
            await client.post("/v1/ask", content=b"x" * 1_500_000),
            await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            await client.post("/v1/documents", json={}, headers={"Origin": "https://evil.example"}),
            await client.get("/v1/me", headers={"Authorization": "Bearer rs_no", "Host": "evil.example"}),
        ]
    assert {one.status_code for one in rest} >= {200, 403, 404, 413, 422}
    for one in (*pages, *public, *rest):
        where = (str(one.request.url), one.headers)
        assert one.headers["x-content-type-options"] == "nosniff", where
        assert one.headers["referrer-policy"] in ("no-referrer", "same-origin"), where
        assert "server" not in one.headers, where
        policy = one.headers["content-security-policy"]
        assert "default-src 'none'" in policy or "default-src 'self'" in policy, where
    for one in pages:
        policy = one.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy or "frame-ancestors 'self'; sandbox" in policy
        assert "unsafe-eval" not in policy
    for one in rest:
        # The second is what the SDK of the door for agents says of its events.
        assert one.headers["cache-control"] in ("no-store", "no-cache, no-transform"), one.request.url
        assert one.headers["cross-origin-resource-policy"] == "same-origin", one.request.url
    original = rest[2]
    assert original.headers["content-disposition"].startswith("attachment")
    assert original.headers["content-security-policy"].startswith("sandbox;")


def _page(folder: Path) -> Any:
    async def original(sha256: str) -> Path:
        page = folder / "original"
        page.write_text("<script>alert(1)</script>", encoding="utf-8")
        return page

    return original


def shaped(*headers: str, body: bytes = b"0\r\n\r\n") -> bytes:
    """A request with these headers, and a second one behind it that nobody may answer."""
    lines = ["POST /v1/search HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers, "", ""]
    return "\r\n".join(lines).encode() + body + b"GET /v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        shaped("Content-Length: 6", "Transfer-Encoding: chunked"),
        shaped("Transfer-Encoding: chunked", "Content-Length: 5"),
        shaped("Content-Length: 0", "Content-Length: 40", body=b""),
        shaped("Transfer-Encoding: xchunked"),
        shaped("Transfer-Encoding: chunked, identity"),
        shaped("Transfer-Encoding : chunked"),
        shaped("Transfer-Encoding:\r\n chunked", "Content-Length: 0"),
        shaped("Content-Length: -1", body=b""),
        shaped("Content-Length: +40", body=b""),
        shaped("Transfer-Encoding: chunked", body=b"0\n\n"),
        shaped("Transfer-Encoding: chunked", body=b"0;\nxx\r\n\r\n"),
        shaped("Host: evil.example", "Content-Length: 0", body=b""),
        b"GET /v1/me HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        b"GET /v1/me HTTP/1.1\nHost: localhost\n\n",
    ],
)
async def test_a_request_that_can_be_read_in_two_ways_is_refused(sent: bytes, redis_url: str) -> None:
    """One answer and a closed line: a proxy in front that reads it the other way smuggles nothing past."""
    async with front(World(), redis_url) as gateway:
        came = await gateway.raw(sent)
    head, _, body = came.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert came.count(b"HTTP/1.1 ") == 1
    assert b'"code":"invalid_request"' in body
    for name, value in DEFAULTS.items():
        assert f"{name}: {value}".encode() in head


async def test_a_crowd_of_silent_lines_holds_nobody_up(redis_url: str) -> None:
    async with front(World(), redis_url) as gateway:
        lines = [await asyncio.open_connection("127.0.0.1", gateway.port) for _ in range(200)]
        try:
            assert (await asyncio.wait_for(gateway.client.get("/v1/me"), 5)).status_code == 200
        finally:
            for _, writer in lines:
                writer.close()
