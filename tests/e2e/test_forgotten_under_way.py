"""A deletion holds against work under way, and is finished by others when its process is killed in the middle of it."""

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import psutil
import pytest

from tests.e2e import canaries
from tests.e2e.stack import WHOLE, Stack, running_stack, until

ROUNDS = 12 if WHOLE else 5
KILLS = 4 if WHOLE else 1
PARAGRAPH = "The pilot of the harbour keeps a record of every boat and of every tide. "


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack whose parts these tests may kill."""
    with running_stack(tmp_path_factory.mktemp("under-way") / "state") as running:
        yield running


@pytest.fixture
def client(own: Stack) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=own.base_url, headers={"Ragstone-Space": "tides"}, timeout=30) as one:
        yield one


def text(word: str, paragraphs: int = 60) -> str:
    return "\n\n".join(f"{PARAGRAPH}{word} part {n}." for n in range(paragraphs))


def send(client: httpx.Client, id: str, word: str) -> str:
    body = {"id": id, "title": f"{word} title", "text": text(word), "tags": [word], "metadata": {"k": word}}
    job_id: str = client.post("/v1/documents", json=body).json()["jobs"][0]["id"]
    return job_id


def send_batch(client: httpx.Client, ids: dict[str, str]) -> str:
    lines = [json.dumps({"id": id, "title": word, "text": text(word, 12), "tags": [word]}) for id, word in ids.items()]
    headers = {"Content-Type": "application/x-ndjson"}
    job_id: str = client.post("/v1/documents", content="\n".join(lines), headers=headers).json()["jobs"][0]["id"]
    return job_id


def quiet(client: httpx.Client, patience_s: float = 90) -> dict[str, int]:
    """The jobs by state, when none waits or runs any more."""
    last: dict[str, int] = {}

    def ended() -> bool:
        with suppress(httpx.HTTPError):
            last.update(client.get("/v1/jobs").json()["counts"])
            return not last["queued"] + last["running"]
        return False

    until(ended, patience_s, every_s=0.3, told=lambda: str(last))
    return last


def vectors(own: Stack) -> set[str]:
    """Ids of the documents that have vectors in any collection."""
    import chromadb

    port = int(own.environment["RAGSTONE_CHROMA_PORT"])
    chroma = chromadb.HttpClient(host="127.0.0.1", port=port)
    seen = set()
    for collection in chroma.list_collections():
        for metadata in collection.get(include=["metadatas"])["metadatas"] or []:
            seen.add(str(metadata["document_id"]))
    return seen


def gone(own: Stack, client: httpx.Client, ids: list[str], words: list[str]) -> None:
    """Nothing of these documents is anywhere, now or a little later."""
    listed = {item["id"] for item in client.get("/v1/documents?limit=200").json()["items"]}
    assert not listed & set(ids)
    until(lambda: not vectors(own) & set(ids), 30)
    until(lambda: not canaries.in_files(own.folder.folder, words), 30,
          told=lambda: str(canaries.in_files(own.folder.folder, words)))  # fmt: skip
    for id in ids:
        found = client.post("/v1/search", json={"question": PARAGRAPH, "filters": {"document_id": id}}).json()
        assert found["passages"] == []


def test_documents_deleted_on_their_way_in_stay_deleted(own: Stack, client: httpx.Client) -> None:
    """Each at another moment: before, while and after it is read, cut, embedded and published."""
    dice = random.Random(6)
    words = [f"zqunderway{n:02d}q" for n in range(ROUNDS)]
    for n, word in enumerate(words):
        send(client, f"doc-{n}", word)
        time.sleep(dice.uniform(0, 2.0))
        receipt = client.delete(f"/v1/documents/doc-{n}")
        assert receipt.status_code == 200, receipt.text
    assert quiet(client)["failed"] == 0
    gone(own, client, [f"doc-{n}" for n in range(ROUNDS)], words)
    states = {job["state"] for job in client.get("/v1/jobs?kind=document&limit=200").json()["items"]}
    assert states <= {"cancelled", "succeeded"}


def test_documents_of_a_batch_under_way_stay_deleted_and_the_others_come_in(own: Stack, client: httpx.Client) -> None:
    dice = random.Random(7)
    batch = {f"line-{n}": f"zqline{n:02d}q" for n in range(24)}
    deleted = dice.sample(sorted(batch), 6)
    job_id = send_batch(client, batch)
    for id in deleted:
        time.sleep(dice.uniform(0, 1.5))
        # One that no worker came to yet is not known: there is nothing to forget but its line.
        client.delete(f"/v1/documents/{id}")
    quiet(client)
    again = [id for id in deleted if client.delete(f"/v1/documents/{id}").status_code == 200]
    quiet(client)
    assert client.get(f"/v1/jobs/{job_id}").json()["state"] == "succeeded"
    gone(own, client, deleted, [batch[id] for id in deleted if id not in again])
    listed = {item["id"] for item in client.get("/v1/documents?limit=200").json()["items"]}
    assert listed >= set(batch) - set(deleted)


def killed(own: Stack, part: str) -> None:
    process = psutil.Process(own.pid(part))
    for victim in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            victim.kill()


def back(own: Stack, client: httpx.Client) -> None:
    def ready() -> bool:
        with suppress(httpx.HTTPError, AssertionError):
            return bool(client.get("/readyz").json()["ready"]) and all(part.state == "up" for part in own.run.parts)
        return False

    until(ready, 90, every_s=0.3)


@pytest.mark.parametrize("part", ["gateway", "retriever", "worker", "chroma"])
def test_a_deletion_whose_process_or_help_is_killed_is_finished_all_the_same(
    own: Stack, client: httpx.Client, part: str
) -> None:
    dice = random.Random(part)
    for n in range(KILLS):
        id, word = f"{part}-{n}", f"zq{part}{n}killedq"
        send(client, id, word)
        quiet(client)
        client.post("/v1/ask", json={"question": "Who keeps a record of every boat?"})
        answer: dict[str, Any] = {}

        def delete(id: str = id, answer: dict[str, Any] = answer) -> None:
            with suppress(httpx.HTTPError):
                answer.update(client.delete(f"/v1/documents/{id}").json())

        asking = threading.Thread(target=delete)
        asking.start()
        time.sleep(dice.uniform(0, 0.12))
        killed(own, part)
        asking.join()
        back(own, client)
        if client.get(f"/v1/documents/{id}").status_code == 200:
            assert part == "gateway", answer
            assert "document_id" not in answer
            assert client.delete(f"/v1/documents/{id}").status_code == 200
        quiet(client)
        gone(own, client, [id], [word])
        for job in client.get(f"/v1/jobs?kind=cleanup&document_id={id}").json()["items"]:
            assert job["state"] == "succeeded", job


def test_a_vector_store_that_hangs_does_not_hang_the_deletion(own: Stack, client: httpx.Client) -> None:
    send(client, "hangs", "zqhangsq")
    quiet(client)
    process = psutil.Process(own.pid("chroma"))
    process.suspend()
    try:
        began = time.monotonic()
        receipt = client.delete("/v1/documents/hangs").json()
        took = time.monotonic() - began
    finally:
        process.resume()
    assert took < 10
    assert receipt["vectors"] == 0
    assert receipt["chunks"] > 0
    cleanup = receipt["cleanup_job"]
    assert cleanup is not None
    quiet(client)
    assert client.get(f"/v1/jobs/{cleanup}").json()["state"] == "succeeded"
    gone(own, client, ["hangs"], ["zqhangsq"])


def test_a_redis_that_is_away_does_not_hang_it_either(own: Stack, client: httpx.Client) -> None:
    send(client, "away", "zqawayq")
    quiet(client)
    asked = {"question": "Who keeps a record of every boat?", "filters": {"document_id": "away"}}
    client.post("/v1/ask", json=asked)
    process = psutil.Process(own.pid("redis"))
    process.suspend()
    try:
        began = time.monotonic()
        receipt = client.delete("/v1/documents/away").json()
        took = time.monotonic() - began
    finally:
        process.resume()
    assert took < 10
    assert receipt["cleanup_job"] is not None
    quiet(client)
    gone(own, client, ["away"], ["zqawayq"])
