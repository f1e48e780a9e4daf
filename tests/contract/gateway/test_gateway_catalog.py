"""The gateway over a real catalog, blob folder and queue: documents, jobs and answers as clients meet them."""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import redis

from services.shared.catalog import documents, jobs
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import Queue
from services.shared.contracts.search import Passage
from services.shared.kit.events import JobEventSender
from services.shared.kit.settings import RedisSettings
from tests.contract.gateway.conftest import Serving, serving
from tests.contract.gateway.working import ingest
from tests.unit.gateway.messages import done, sentence

OTHER = {"Ragstone-Space": "other"}


async def send(client: httpx.AsyncClient, name: str, content: bytes, **options: Any) -> dict[str, Any]:
    response = await client.post("/v1/documents", files=[("files", (name, content))], **options)
    assert response.status_code == 202, response.text
    receipt: dict[str, Any] = response.json()["jobs"][0]
    return receipt


async def live(gateway: Serving, client: httpx.AsyncClient, name: str, text: str) -> Passage:
    receipt = await send(client, name, text.encode())
    return await asyncio.to_thread(ingest, gateway.catalog, gateway.blobs, "main", receipt["id"])


async def test_the_life_of_a_document(gateway: Serving, client: httpx.AsyncClient, redis_url: str) -> None:
    receipt = await send(client, "Bücher/päß.md", b"One fact.", data={"type": "faq", "tags": "a,b"})
    assert (receipt["document_id"], receipt["state"], receipt["unchanged"]) == ("päß.md", "queued", False)
    assert (await client.get("/v1/documents")).json()["items"] == []
    again = await send(client, "päß.md", b"One fact.", data={"type": "faq", "tags": "a,b"})
    assert again["id"] == receipt["id"]

    await asyncio.to_thread(ingest, gateway.catalog, gateway.blobs, "main", receipt["id"])
    job = (await client.get(f"/v1/jobs/{receipt['id']}")).json()
    assert (job["state"], job["result"]["chunks"]) == ("succeeded", 1)
    same = await send(client, "päß.md", b"One fact.", data={"type": "faq", "tags": "a,b"})
    assert (same["state"], same["unchanged"]) == ("succeeded", True)
    assert (await client.get(f"/v1/jobs/{same['id']}")).json()["result"]["unchanged"] is True

    path = f"/v1/documents/{quote('päß.md')}"
    document = (await client.get(path)).json()
    assert (document["filename"], document["type"], document["tags"]) == ("päß.md", "faq", ["a", "b"])
    assert (document["media_type"], document["size_bytes"]) == ("text/markdown", 9)
    assert (await client.get("/v1/documents?type=faq")).json()["items"] == [document]
    assert (await client.get("/v1/documents?type=none")).json()["items"] == []
    original = await client.get(f"{path}/source?as=original")
    assert original.content == b"One fact."
    assert original.headers["content-disposition"] == "attachment; filename*=utf-8''p%C3%A4%C3%9F.md"
    assert original.headers["content-security-policy"].startswith("sandbox")
    assert original.headers["x-content-type-options"] == "nosniff"

    receipt = (await client.delete(path)).json()
    assert (receipt["versions"], receipt["chunks"], receipt["blobs"]) == (1, 1, 1)
    assert receipt["cleanup_job"] is None
    [cleanup] = (await client.get("/v1/jobs?kind=cleanup")).json()["items"]
    assert (cleanup["state"], cleanup["document_id"]) == ("succeeded", "päß.md")
    mine = (await client.get("/v1/jobs", params={"document_id": "päß.md", "kind": "document"})).json()["items"]
    assert {job["id"] for job in mine} == {job["id"], same["id"]}
    for gone in (path, f"{path}/source", f"{path}/source?as=original"):
        assert (await client.get(gone)).json()["code"] == "document_not_found"
    assert (await client.delete(path)).status_code == 404
    rung = redis.Redis.from_url(redis_url).keys("*ingest*")
    assert rung, "the queue got a message"


async def test_bytes_shared_with_another_document_stay(gateway: Serving, client: httpx.AsyncClient) -> None:
    await live(gateway, client, "a.md", "Shared words.")
    await live(gateway, client, "b.md", "Shared words.")
    assert (await client.delete("/v1/documents/a.md")).json()["blobs"] == 0
    assert (await client.get("/v1/documents/b.md/source?as=original")).content == b"Shared words."
    assert (await client.delete("/v1/documents/b.md")).json()["blobs"] == 1


async def test_an_answer_opens_its_source_at_the_quoted_place(gateway: Serving, client: httpx.AsyncClient) -> None:
    text = "Häuser 😀\nDie Hütte öffnet um neun. Lampen sind verboten."
    one = await live(gateway, client, "a/b c.md", text)
    gateway.world.answers(one, script=[sentence("Um neun.", (one, "öffnet um neun"), of=[one]), done()])
    answer = (await client.post("/v1/ask", json={"question": "Wann?"})).json()
    citation = answer["citations"][0]
    source = await client.get(citation["url"])
    assert source.text[citation["start"] : citation["end"]] == citation["quote"] == "öffnet um neun"
    assert source.text == text


async def test_deletion_and_replacement_take_effect_at_once(gateway: Serving, client: httpx.AsyncClient) -> None:
    old = await live(gateway, client, "a.md", "The key hangs left.")
    gateway.world.answers(old, script=[sentence("Left.", (old, "hangs left"), of=[old]), done()])
    ask = {"question": "Where is the key?"}
    assert (await client.post("/v1/ask", json=ask)).json()["status"] == "answered"

    await live(gateway, client, "a.md", "The key hangs right.")
    replaced = (await client.post("/v1/ask", json=ask)).json()
    assert replaced["status"] == "abstained"
    assert "left" not in replaced["text"]
    still = await client.get(f"/v1/documents/a.md/source?version={old.version}")
    assert still.text == "The key hangs left.", "an old citation still opens"

    assert (await client.delete("/v1/documents/a.md")).status_code == 200
    assert (await client.post("/v1/search", json=ask)).json()["passages"] == []
    assert (await client.get(f"/v1/documents/a.md/source?version={old.version}")).status_code == 404


async def test_a_deletion_between_writing_and_answering_empties_the_answer(
    gateway: Serving, client: httpx.AsyncClient
) -> None:
    one = await live(gateway, client, "a.md", "The key hangs left.")

    def forget() -> None:
        with gateway.catalog.write() as tx:
            documents.remove(tx, SpaceId("main"), DocumentId("a.md"), datetime.now(UTC))

    gateway.world.answers(one, script=[sentence("Left.", (one, "hangs left"), of=[one]), forget, done()])
    answer = (await client.post("/v1/ask", json={"question": "Where?"})).json()
    assert (answer["status"], answer["citations"], answer["passages_used"]) == ("abstained", [], [])
    assert "eft" not in answer["text"]


async def test_spaces_do_not_see_each_other(gateway: Serving, client: httpx.AsyncClient) -> None:
    receipt = await send(client, "a.md", b"Mine.", headers=OTHER)
    ingest(gateway.catalog, gateway.blobs, "other", receipt["id"])
    job = f"/v1/jobs/{receipt['id']}"
    assert (await client.get(job, headers=OTHER)).status_code == 200
    assert (await client.get("/v1/documents/a.md", headers=OTHER)).status_code == 200
    for method, path in [
        ("GET", job),
        ("GET", f"{job}/items"),
        ("GET", f"{job}/events"),
        ("POST", f"{job}/cancel"),
        ("POST", f"{job}/retry"),
        ("GET", "/v1/documents/a.md"),
        ("GET", "/v1/documents/a.md/source"),
        ("DELETE", "/v1/documents/a.md"),
    ]:
        assert (await client.request(method, path)).status_code == 404, (method, path)
    assert (await client.get("/v1/jobs")).json()["items"] == []
    assert (await client.get("/v1/documents/a.md", headers=OTHER)).status_code == 200


async def test_jobs_are_listed_cancelled_and_retried(gateway: Serving, client: httpx.AsyncClient) -> None:
    ids = [(await send(client, f"{n}.md", b"x%d" % n))["id"] for n in range(3)]
    page = (await client.get("/v1/jobs?limit=2&state=queued")).json()
    assert [job["id"] for job in page["items"]] == [ids[2], ids[1]]
    assert page["counts"] == {"queued": 3, "running": 0, "succeeded": 0, "failed": 0, "cancelled": 0}
    rest = (await client.get("/v1/jobs", params={"cursor": page["next_cursor"], "limit": 2})).json()
    assert [job["id"] for job in rest["items"]] == [ids[0]]
    cancelled = await client.post(f"/v1/jobs/{ids[0]}/cancel")
    assert cancelled.json()["state"] == "cancelled"
    assert (await client.post(f"/v1/jobs/{ids[0]}/cancel")).json()["code"] == "job_state_conflict"
    assert (await client.post(f"/v1/jobs/{ids[0]}/retry")).json()["state"] == "queued"
    assert (await client.get("/v1/jobs?cursor=nonsense")).json()["code"] == "invalid_request"
    assert (await client.get("/v1/jobs/0123456789abcdef")).json()["code"] == "job_not_found"


async def test_a_batch_is_one_job_with_its_bytes(gateway: Serving, client: httpx.AsyncClient) -> None:
    body = b'{"id": "a", "text": "A"}\n{"id": "b"}\n'
    response = await client.post(
        "/v1/documents", content=body, headers={"Content-Type": "application/x-ndjson", **OTHER}
    )
    receipt = response.json()["jobs"][0]
    job = (await client.get(f"/v1/jobs/{receipt['id']}", headers=OTHER)).json()
    assert (job["kind"], job["document_id"], job["state"]) == ("batch", None, "queued")
    with gateway.catalog.read() as tx:
        row = jobs.get(tx, SpaceId("other"), JobId(receipt["id"]))
    assert row is not None
    assert gateway.blobs.read(row.payload["blob_sha256"]) == body
    items = (await client.get(f"/v1/jobs/{receipt['id']}/items", headers=OTHER)).json()
    assert (items["items"], items["next_cursor"]) == ([], None)


async def test_an_empty_file_among_others_is_kept_with_a_job_of_its_own(client: httpx.AsyncClient) -> None:
    files = [("files", ("full.md", b"Text.", "text/markdown")), ("files", ("empty.md", b"", "text/markdown"))]
    response = await client.post("/v1/documents", files=files)
    assert response.status_code == 202, response.text
    jobs = response.json()["jobs"]
    assert [(one["document_id"], one["state"]) for one in jobs] == [("full.md", "queued"), ("empty.md", "queued")]


async def test_five_uploads_of_one_document_at_once_are_one_job(client: httpx.AsyncClient) -> None:
    receipts = await asyncio.gather(*(send(client, "a.md", b"Same bytes.") for _ in range(5)))
    assert len({receipt["id"] for receipt in receipts}) == 1


async def test_a_job_is_watched_to_its_end(gateway: Serving, client: httpx.AsyncClient, redis_url: str) -> None:
    receipt = await send(client, "a.md", b"Watched.")
    sender = JobEventSender(RedisSettings(redis_url=redis_url))
    states: list[str] = []
    async with client.stream("GET", f"/v1/jobs/{receipt['id']}/events") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        async for line in response.aiter_lines():
            if line.startswith("data: "):
                states.append(line.split('"state":"')[1].split('"')[0])
                if len(states) == 1:
                    await asyncio.to_thread(ingest, gateway.catalog, gateway.blobs, "main", receipt["id"])
                    await asyncio.to_thread(sender.changed, JobId(receipt["id"]))
    assert states == ["queued", "succeeded"]


async def test_without_redis_uploads_are_taken_and_wait_for_the_reconciler(
    catalog: Catalog, blobs: Blobs, nowhere: str
) -> None:
    async with serving(catalog, blobs, nowhere) as one, httpx.AsyncClient(base_url=one.url, trust_env=False) as client:
        began = time.monotonic()
        receipt = await send(client, "a.md", b"Kept.")
        assert time.monotonic() - began < 3, "nobody waits for a Redis that is not there"
        with catalog.read() as tx:
            waiting = jobs.unrung(tx, queue=Queue.INGEST, older_than=datetime(2000, 1, 1, tzinfo=UTC), limit=5)
        assert [row.id for row in waiting] == [receipt["id"]]


async def test_hostile_names_leave_no_file_outside(gateway: Serving, client: httpx.AsyncClient, tmp_path: Path) -> None:
    marker = tmp_path / "outside.txt"
    marker.write_text("here")
    for name in ("../outside.txt", "..\\..\\outside.txt", str(marker), "a/../../outside.txt"):
        await send(client, name, b"x")
    assert (await client.delete("/v1/documents/" + quote("../outside.txt", safe=""))).status_code == 404
    assert (await client.delete("/v1/documents/outside.txt")).status_code == 200
    assert marker.read_text() == "here"
    assert _names(tmp_path.glob("*")) == _names([marker, *tmp_path.glob("catalog.db*"), tmp_path / "blobs"])


def _names(paths: Any) -> Sequence[str]:
    return sorted(path.name for path in paths)
