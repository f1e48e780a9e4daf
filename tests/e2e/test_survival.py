"""What outlives a killed worker, an emptied Redis and a restarted retriever."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
import redis

from tests.e2e.stack import SCALE, WHOLE, Stack, running_stack, until

DOCUMENTS = 300 if WHOLE else 120
PARAGRAPH = " ".join(f"The {word} of the harbour keeps a record of every boat." for word in ("pilot", "clerk", "cook"))


@pytest.fixture(scope="module")
def own_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack whose parts these tests may kill."""
    with running_stack(tmp_path_factory.mktemp("survival") / "state") as running:
        yield running


def batch() -> bytes:
    """Documents that each hold a word of their own."""
    rows = (
        {"id": f"boat-{n}", "title": f"Boat {n}", "text": f"{PARAGRAPH} Boat {n} has the call sign QX{n:05d}.\n\n" * 4}
        for n in range(DOCUMENTS)
    )
    return "\n".join(json.dumps(row) for row in rows).encode()


def kill_family(pid: int) -> None:
    """SIGKILL for a process and its children, as the kernel does it when memory runs out."""
    process = psutil.Process(pid)
    for victim in [process, *process.children(recursive=True)]:
        os.kill(victim.pid, signal.SIGKILL)


def redis_of(stack: Stack) -> "redis.Redis":
    return redis.Redis(port=int(stack.environment["RAGSTONE_REDIS_PORT"]))


def test_a_killed_worker_and_an_emptied_redis_lose_nothing_and_double_nothing(own_stack: Stack) -> None:
    client = httpx.Client(base_url=own_stack.base_url, headers={"Ragstone-Space": "harbour"}, timeout=30)
    sent = client.post("/v1/documents", content=batch(), headers={"Content-Type": "application/x-ndjson"})
    job_id = sent.json()["jobs"][0]["id"]
    until(lambda: client.get(f"/v1/jobs/{job_id}").json()["done"] > 0, 60)
    before = client.get(f"/v1/jobs/{job_id}").json()["state"]
    assert before in ("running", "queued"), "queued: it had made way after its time slice"

    kill_family(own_stack.pid("worker"))
    redis_of(own_stack).flushall()

    until(lambda: client.get(f"/v1/jobs/{job_id}").json()["state"] not in ("queued", "running"), 120, every_s=0.5)
    job = client.get(f"/v1/jobs/{job_id}").json()
    assert job["state"] == "succeeded", job
    assert job["attempts"] >= (2 if before == "running" else 1)
    ids = []
    cursor = None
    while True:
        page = client.get("/v1/documents", params={"limit": 100, **({"cursor": cursor} if cursor else {})}).json()
        ids += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert sorted(ids) == sorted(f"boat-{n}" for n in range(DOCUMENTS))
    counts = client.get("/v1/jobs").json()["counts"]
    assert counts["queued"] == counts["running"] == 0
    for n in (0, 7, DOCUMENTS // 2, DOCUMENTS - 1):
        body = {"question": f"Which boat has the call sign QX{n:05d}?", "stages": {"vector": False, "gate": False}}
        found = client.post("/v1/search", json=body).json()
        assert found["passages"][0]["document_id"] == f"boat-{n}"
        places = [(p["start"], p["end"]) for p in found["passages"] if p["document_id"] == f"boat-{n}"]
        assert len(set(places)) == len(places), "no passage is there twice"


@pytest.mark.skipif(SCALE, reason="a job does not wait for one worker that hangs where there are others")
def test_a_job_whose_message_was_flushed_before_it_began_is_rung_again(own_stack: Stack) -> None:
    client = httpx.Client(base_url=own_stack.base_url, headers={"Ragstone-Space": "flushed"}, timeout=30)
    worker = psutil.Process(own_stack.pid("worker"))
    family = [worker, *worker.children(recursive=True)]
    for process in family:
        process.suspend()
    try:
        sent = client.post("/v1/documents", json={"id": "buoy", "text": "The buoy is painted orange."})
        job_id = sent.json()["jobs"][0]["id"]
        redis_of(own_stack).flushall()
        assert client.get(f"/v1/jobs/{job_id}").json()["state"] == "queued"
    finally:
        for process in family:
            process.resume()
    until(lambda: client.get(f"/v1/jobs/{job_id}").json()["state"] == "succeeded", 60)


def test_the_same_question_gives_the_same_order_after_a_restart_of_the_retriever(own_stack: Stack) -> None:
    client = httpx.Client(base_url=own_stack.base_url, headers={"Ragstone-Space": "harbour"}, timeout=30)

    told = [""]

    def order() -> list[str]:
        body = {"question": "Who keeps a record of every boat?", "top_k": 10}
        answer = client.post("/v1/search", json=body)
        found = answer.json().pop("passages", [])
        told.append(f"{answer.status_code}, {len(found)} passages: {answer.text[-1500:]}")
        return [p["chunk_id"] for p in found]

    until(lambda: len(order()) == 10, 60, every_s=0.5, told=lambda: told[-1])
    before = order()
    old = own_stack.pid("retriever")
    kill_family(old)
    until(lambda: any(part.name == "retriever" and part.pid not in (None, old) for part in own_stack.run.parts), 60)
    until(lambda: order() != [], 60, every_s=0.5, told=lambda: told[-1])
    assert order() == before


def test_uploads_are_taken_while_redis_is_away_and_done_when_it_is_back(own_stack: Stack) -> None:
    client = httpx.Client(base_url=own_stack.base_url, headers={"Ragstone-Space": "away"}, timeout=30)
    process = psutil.Process(own_stack.pid("redis"))
    process.suspend()
    try:
        sent = client.post("/v1/documents", json={"id": "tide", "text": "High tide is at 14:20 on Friday."})
        assert sent.status_code == 202, sent.text
    finally:
        process.resume()
    job_id = sent.json()["jobs"][0]["id"]
    until(lambda: client.get(f"/v1/jobs/{job_id}").json()["state"] == "succeeded", 60)
    assert "14:20" in client.post("/v1/ask", json={"question": "When is high tide on Friday?"}).json()["text"]


def test_the_state_folder_holds_no_file_named_by_a_client(own_stack: Stack) -> None:
    blobs = Path(own_stack.folder.folder) / "blobs"
    assert all(len(path.name) >= 60 for path in blobs.rglob("*") if path.is_file())
