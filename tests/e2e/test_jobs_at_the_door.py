"""Jobs as clients meet them: states that outlive Redis, one version of many uploads, events that end, retries."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psutil
import pytest
import redis

from tests.e2e.stack import WHOLE, Stack, running_stack, until

CASES = Path(__file__).parents[3] / "shared" / "cases" / "files"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the folder of case files is not beside this checkout")

REPEATS = 20 if WHOLE else 4
GATEWAY_MAX_BYTES = 300_000_000

T = TypeVar("T")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Three worker processes, whose Redis these tests may empty and kill."""
    settings = {"RAGSTONE_WORKER_CONCURRENCY": "3"}
    with running_stack(tmp_path_factory.mktemp("jobs") / "state", settings) as running:
        yield running


@pytest.fixture
def client(own: Stack, space: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=own.base_url, headers={"Ragstone-Space": space}, timeout=60) as one:
        yield one


def redis_of(own: Stack) -> "redis.Redis":
    return redis.Redis(port=int(own.environment["RAGSTONE_REDIS_PORT"]))


def send(client: httpx.Client, id: str, text: str) -> dict[str, Any]:
    sent = client.post("/v1/documents", json={"id": id, "text": text})
    assert sent.status_code == 202, sent.text
    job: dict[str, Any] = sent.json()["jobs"][0]
    return job


def over(client: httpx.Client, job_id: str) -> dict[str, Any]:
    last: dict[str, Any] = {}

    def ended() -> bool:
        last.update(client.get(f"/v1/jobs/{job_id}").json())
        return last["state"] not in ("queued", "running")

    until(ended, 120, told=lambda: str(last))
    return last


def at_once(calls: list[Callable[[], T]]) -> list[T]:
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T:
        gate.wait(30)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def chunks_of(client: httpx.Client, id: str, leg: str, question: str = "garden team waters bed") -> dict[str, str]:
    """What one half of searching finds of a document: the ids of its chunks, each with its version."""
    stages = {"vector": leg == "vector", "bm25": leg == "bm25", "gate": False, "critic": False, "diversity": False}
    body = {"question": question, "filters": {"document_id": id}, "top_k": 100, "stages": stages}
    found = client.post("/v1/search", json=body).json()
    return {passage["chunk_id"]: passage["version"] for passage in found["passages"]}


def test_an_outcome_outlives_redis_and_an_unknown_job_is_unknown(own: Stack, client: httpx.Client) -> None:
    job_id = send(client, "kept", "The kettle is blue.")["id"]
    assert over(client, job_id)["result"]["chunks"] == 1
    keys = list(redis_of(own).scan_iter("*celery*"))
    for key in keys:
        redis_of(own).delete(key)
    redis_of(own).flushall()
    job = client.get(f"/v1/jobs/{job_id}").json()
    assert (job["state"], job["result"]["chunks"]) == ("succeeded", 1)
    assert client.get("/v1/jobs/5f0c8f1e-0000-4000-8000-000000000000").status_code == 404
    for path in ("events", "items"):
        assert client.get(f"/v1/jobs/none/{path}").status_code == 404
    for path in ("cancel", "retry"):
        assert client.post(f"/v1/jobs/none/{path}").status_code == 404


def test_a_queue_that_is_emptied_again_and_again_leaves_no_job_behind(own: Stack, client: httpx.Client) -> None:
    ids = []
    for n in range(12):
        ids.append(send(client, f"flushed-{n}", f"Note {n} says {n * n}.")["id"])
        redis_of(own).flushall()
    assert {over(client, id)["state"] for id in ids} == {"succeeded"}


@needs_cases
def test_five_uploads_of_one_document_at_once_are_one_version(client: httpx.Client) -> None:
    text = (CASES / "q54_same_doc.md").read_text(encoding="utf-8")
    over(client, send(client, "alone", text)["id"])
    clean = len(chunks_of(client, "alone", "bm25", "rule"))
    assert clean
    for n in range(REPEATS):
        id = f"same-{n}"
        jobs = at_once([lambda id=id: send(client, id, text) for _ in range(5)])  # type: ignore[misc]
        assert len({job["id"] for job in jobs if not job["unchanged"]}) == 1
        for job in jobs:
            assert over(client, job["id"])["state"] == "succeeded"
        for leg in ("bm25", "vector"):
            found = chunks_of(client, id, leg, "rule")
            assert (len(found), len(set(found.values()))) == (clean, 1), (n, leg)


@needs_cases
def test_of_two_versions_at_once_the_later_accepted_one_is_there_as_a_whole(client: httpx.Client) -> None:
    long = (CASES / "v21_long_version.md").read_text(encoding="utf-8")
    short = (CASES / "v21_short_version.md").read_text(encoding="utf-8")
    sizes = {}
    for name, text in (("long", long), ("short", short)):
        over(client, send(client, f"alone-{name}", text)["id"])
        sizes[hashlib.sha256(text.encode()).hexdigest()] = len(chunks_of(client, f"alone-{name}", "bm25"))
    for n in range(REPEATS):
        id = f"two-{n}"
        texts = (long, short) if n % 2 else (short, long)
        jobs = at_once([lambda text=text, id=id: send(client, id, text) for text in texts])  # type: ignore[misc]
        ended = [over(client, job["id"]) for job in jobs]
        assert any(job["state"] == "succeeded" for job in ended)
        assert all(job["state"] in ("succeeded", "cancelled") for job in ended), ended
        document = client.get(f"/v1/documents/{id}").json()
        # Jobs are listed by when they were accepted, the newest first.
        newest = client.get("/v1/jobs", params={"document_id": id}).json()["items"][0]
        assert newest["state"] == "succeeded"
        assert newest["result"]["version"] == document["version"]
        for leg in ("bm25", "vector"):
            found = chunks_of(client, id, leg)
            assert set(found.values()) == {document["version"]}, (n, leg)
            assert len(found) == sizes[document["sha256"]], (n, leg)


@needs_cases
def test_a_shorter_version_leaves_nothing_of_the_longer_and_a_deletion_leaves_nothing(
    own: Stack, client: httpx.Client
) -> None:
    long = (CASES / "v21_long_version.md").read_text(encoding="utf-8")
    short = (CASES / "v21_short_version.md").read_text(encoding="utf-8")
    asked = "What is the code word?"
    over(client, send(client, "beds", long)["id"])
    assert "marigold" in client.post("/v1/ask", json={"question": asked}).json()["text"]
    version = over(client, send(client, "beds", short)["id"])["result"]["version"]
    chunks = client.get("/v1/documents/beds").json()["chunks"]
    alone = {f"{version}-{n}" for n in range(chunks)}
    for leg in ("bm25", "vector"):
        found = set(chunks_of(client, "beds", leg))
        assert len(found) == chunks
        assert {id.rpartition("-")[0] for id in found} == {id.rpartition("-")[0] for id in alone}
        assert not any("marigold" in text for text in texts(client, leg, "marigold"))
    assert stored_vectors(own, "beds") == chunks
    assert "marigold" not in client.post("/v1/ask", json={"question": asked}).json()["text"]
    receipt = client.delete("/v1/documents/beds").json()
    assert (receipt["versions"], receipt["chunks"], receipt["vectors"], receipt["postings"]) == (2, *[chunks] * 3)
    assert receipt["cleanup_job"] is None
    assert stored_vectors(own, "beds") == 0
    for leg in ("bm25", "vector"):
        assert chunks_of(client, "beds", leg) == {}


def texts(client: httpx.Client, leg: str, question: str) -> list[str]:
    stages = {"vector": leg == "vector", "bm25": leg == "bm25", "gate": False, "critic": False}
    found = client.post("/v1/search", json={"question": question, "top_k": 50, "stages": stages}).json()
    return [passage["text"] for passage in found["passages"]]


def stored_vectors(own: Stack, id: str) -> int:
    import chromadb

    chroma = chromadb.HttpClient(host="127.0.0.1", port=int(own.environment["RAGSTONE_CHROMA_PORT"]))
    collections = chroma.list_collections()
    return sum(len(one.get(where={"document_id": id}, include=[])["ids"]) for one in collections)


def events_of(client: httpx.Client, job_id: str, into: list[dict[str, Any]]) -> None:
    with client.stream("GET", f"/v1/jobs/{job_id}/events") as got:
        assert got.headers["content-type"].startswith("text/event-stream")
        into += [json.loads(line[5:]) for line in got.iter_lines() if line.startswith("data:")]


def test_events_show_the_work_of_a_large_document_and_end_with_it_also_without_redis(
    own: Stack, client: httpx.Client
) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + f"The crew of boat {n} painted the hull again. " * 20 for n in range(400))
    job_id = send(client, "large", text)["id"]
    seen: list[dict[str, Any]] = []
    watching = threading.Thread(target=events_of, args=(client, job_id, seen))
    watching.start()
    until(lambda: client.get(f"/v1/jobs/{job_id}").json()["done"] > 0, 60)
    psutil.Process(own.pid("redis")).kill()
    assert over(client, job_id)["state"] == "succeeded"
    watching.join(30)
    assert not watching.is_alive(), "the events end with the job"
    assert seen[-1]["state"] == "succeeded"
    assert seen[-1]["done"] == seen[-1]["total"] > 100
    steps = [event["done"] for event in seen if event["stage"] == "embed"]
    assert len(set(steps)) > 3
    assert steps == sorted(steps)
    until(lambda: bool(redis_of(own).ping()), 30)


def test_failed_jobs_are_retried_in_bulk_from_the_shell(own: Stack, client: httpx.Client, space: str) -> None:
    broken = [("files", (f"broken-{n}.pdf", b"%PDF-1.4 nothing follows")) for n in range(3)]
    jobs = client.post("/v1/documents", files=broken).json()["jobs"]
    assert {over(client, job["id"])["state"] for job in jobs} == {"failed"}
    client.delete("/v1/documents/broken-0.pdf")
    said = own.ragstone("jobs", "--retry-failed", "--kind", "document", "--space", space, "--json")
    assert said.returncode == 0, said.stderr
    assert "2 failed jobs wait again" in said.stderr
    assert "1 cannot be" in said.stderr
    listed = json.loads(said.stdout)["items"]
    assert {job["kind"] for job in listed} == {"document"}
    assert {over(client, job["id"])["attempts"] for job in jobs[1:]} == {1}, "they were begun anew"


def test_the_gateway_holds_no_model_however_many_workers_there_are(own: Stack, client: httpx.Client) -> None:
    for _ in range(50):
        client.post("/v1/ask", json={"question": "What is the kettle's colour?"})
    gateway = psutil.Process(own.pid("gateway"))
    assert gateway.memory_info().rss < GATEWAY_MAX_BYTES
    libraries = {Path(one.path).name for one in gateway.memory_maps()}
    assert not any("torch" in name or "onnxruntime" in name or "multiarray" in name for name in libraries)
