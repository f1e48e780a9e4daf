"""Several workers, two retrievers and two gateways on machines that share no folder: a catalog, a bucket, Chroma and
Redis are all that they have in common. What a job says is done is done for all of them.

PostgreSQL is the catalog where it is installed, else one SQLite file. The quick version has two workers and is soon
over; ``RAGSTONE_TEST_SCALE=whole`` (make test-scale) has three and goes on for longer.
"""

import itertools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.shared.catalog import changes, jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from tests.chaos.cluster import QUICK, Cluster
from tests.contract.catalog.bucket import KEY, SECRET, BucketServer, bucket_server
from tests.e2e.postgres import database_for, postgres_server
from tests.e2e.stack import SCALE, until

REPLACED = 150 if SCALE else 6
DOCUMENTS = 60 if SCALE else 24
COPIES = {"worker": 3 if SCALE else 2, "retriever": 2, "gateway": 2, "asker": 1 if SCALE else 0}
BUCKET = "originals"
FOLLOW_S = 1.0
QUEUE_S = 90.0
TALLY = re.compile(r"tally ([0-9]+) boats")


@dataclass(frozen=True)
class Site:
    """Everything that runs."""

    cluster: Cluster
    catalog: Catalog
    bucket: BucketServer

    @contextmanager
    def clients(self, space: str) -> Iterator[list[httpx.Client]]:
        """One for each gateway, of which each has its own retriever."""
        with ExitStack() as opened:
            yield [
                opened.enter_context(httpx.Client(base_url=url, headers={"Ragstone-Space": space}, timeout=30))
                for url in self.cluster.urls("gateway")
            ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("many") / "state"
    folder.mkdir()
    with postgres_server() as server, bucket_server() as bucket:
        bucket.make(BUCKET)
        settings = {
            **QUICK,
            "RAGSTONE_GROUP_JOBS": "4",
            "RAGSTONE_FOLLOW_EVERY_S": str(FOLLOW_S),
            "DATABASE_URL": database_for(server, folder) if server else f"sqlite:///{folder / 'catalog.db'}",
            "RAGSTONE_BLOBS_URL": f"s3://{BUCKET}/ragstone",
            "AWS_ENDPOINT_URL": bucket.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        cluster = Cluster(folder, copies=COPIES, settings=settings, own_disks=True)
        catalog = Catalog(cluster.catalog_url)
        try:
            cluster.start()
            yield Site(cluster, catalog, bucket)
        finally:
            catalog.close()
            cluster.stop()


@dataclass
class Told:
    """What the writer has seen succeed, and what readers saw."""

    begun: int = -1
    settled: int = -1
    over: bool = False
    looks: list[int] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)


def send(client: httpx.Client, id: str, text: str) -> str:
    sent = client.post("/v1/documents", json={"id": id, "text": text, "title": id})
    assert sent.status_code == 202, sent.text
    return str(sent.json()["jobs"][0]["id"])


def ended(client: httpx.Client, job_id: str, patience_s: float = 60.0) -> dict[str, Any]:
    job: dict[str, Any] = {}

    def over() -> bool:
        job.update(client.get(f"/v1/jobs/{job_id}").json())
        return job["state"] not in ("queued", "running")

    until(over, patience_s, every_s=0.02, told=lambda: str(job))
    return job


def searched(client: httpx.Client, **stages: bool) -> str:
    body = {"question": "How many boats does the tally say?", "filters": {"document_id": "tally"}, "stages": stages}
    answer = client.post("/v1/search", json=body)
    assert answer.status_code == 200, answer.text
    return " ".join(passage["text"] for passage in answer.json()["passages"])


def asked(client: httpx.Client) -> str:
    answer = client.post("/v1/ask", json={"question": "How many boats does the tally say?"})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["text"])


WAYS: dict[str, Callable[[httpx.Client], str]] = {
    "search": searched,
    "words alone": lambda client: searched(client, vector=False, gate=False, critic=False),
    "ask": asked,
}


def look(told: Told, client: httpx.Client, number: int, ways: Sequence[str]) -> None:
    """Ask until the writer is done; whatever had succeeded before a question was sent must be in its answer."""
    for way in itertools.cycle(ways):
        if told.over:
            return
        floor = told.settled
        said = WAYS[way](client)
        seen = {int(number) for number in TALLY.findall(said)}
        told.looks.append(floor)
        # What is written from a version that is replaced before it is checked is dropped, and nothing is said instead.
        silent = way == "ask" and not seen and told.begun > floor
        if not silent and (len(seen) != 1 or min(seen) < floor):
            told.stale.append(f"{way} at gateway {number}: {floor} had succeeded, and it says {said!r}")


def test_workers_share_a_queue_and_do_each_document_once_while_a_retriever_is_killed(site: Site) -> None:
    owners: set[str] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            with site.catalog.read() as tx:
                owners.update(jobs.running_owners(tx))

    with site.clients("shared") as (first, second):
        texts = {f"boat-{n}": f"Boat {n} has the call sign QX{n:05d} and lies at quay {n}." for n in range(DOCUMENTS)}
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            sent = [send(first, id, text) for id, text in texts.items()]
            victim = site.cluster.member("retriever-2")
            victim.end()
            done = [ended(first, job_id, QUEUE_S) for job_id in sent]
            victim.start()
        finally:
            over.set()
            watcher.join()
        assert {job["state"] for job in done} == {"succeeded"}
        assert {job["attempts"] for job in done} == {1}
        with site.catalog.read() as tx:
            seq = changes.current_seq(tx, SpaceId("shared"))
            published = [change.document_id for change in changes.since(tx, SpaceId("shared"), 0)]
        assert seq == DOCUMENTS
        assert sorted(published) == sorted(texts)
        assert len(owners) == COPIES["worker"], owners
        site.cluster.wait_ready()
        for client in (first, second):
            for number in (0, DOCUMENTS // 2, DOCUMENTS - 1):
                answer = client.post("/v1/search", json={"question": f"Which boat has the call sign QX{number:05d}?"})
                assert answer.json()["passages"][0]["document_id"] == f"boat-{number}", answer.text


def test_a_document_that_is_replaced_again_and_again_is_never_seen_stale(site: Site) -> None:
    told = Told()
    with site.clients("replaced") as clients, ThreadPoolExecutor(8) as pool:

        def write(number: int) -> None:
            told.begun = number
            job = ended(clients[0], send(clients[0], "tally", f"The tally {number} boats is what the clerk wrote."))
            assert job["state"] == "succeeded", job
            told.settled = number

        write(0)
        each = [[way] for way in WAYS] if SCALE else [list(WAYS)]
        readers = [
            pool.submit(look, told, client, number, ways) for number, client in enumerate(clients, 1) for ways in each
        ]
        try:
            for number in range(1, REPLACED + 1):
                write(number)
        finally:
            told.over = True
        for reader in readers:
            reader.result(60)
    assert told.stale == []
    assert len(told.looks) > 2 * REPLACED
    assert len(set(told.looks)) > REPLACED / 2, "they looked all along"


def test_what_is_deleted_leaves_every_machine(site: Site) -> None:
    word = "zebrafinch"
    with site.clients("deleted") as clients:
        for id, text in (("ferry", f"The {word} ferry leaves at noon."), ("kettle", "The kettle is blue.")):
            assert ended(clients[0], send(clients[0], id, text))["state"] == "succeeded"
        for client in clients:
            answer = client.post("/v1/search", json={"question": f"When does the {word} ferry leave?"})
            assert answer.json()["passages"][0]["document_id"] == "ferry"
        original = clients[1].get("/v1/documents/ferry/source", params={"as": "original"})
        assert original.content == f"The {word} ferry leaves at noon.".encode()
        assert original.headers["content-length"] == str(len(original.content))
        kept = set(site.bucket.keys(BUCKET))

        receipt = clients[0].delete("/v1/documents/ferry").json()
        assert receipt["cleanup_job"] is None
        assert receipt["blobs"] == 1
        assert len(kept) - len(site.bucket.keys(BUCKET)) == 1
        for client in clients:
            answer = client.post("/v1/search", json={"question": f"When does the {word} ferry leave?"})
            assert all(passage["document_id"] != "ferry" for passage in answer.json()["passages"])
            assert client.get("/v1/documents/ferry/source", params={"as": "original"}).status_code == 404
        # The first machine's folder holds those of the others.
        disks = site.cluster.disk(1)
        until(lambda: not holds(disks, word), FOLLOW_S + 5, told=lambda: str(holds(disks, word)))


def holds(folder: Path, word: str) -> list[str]:
    """Files under it that hold the word; one may go while it is looked at."""
    found = []
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file() and word.encode() in path.read_bytes():
                found.append(str(path))
    return found


def test_no_original_lies_on_any_disk(site: Site) -> None:
    blobs = [path for path in site.cluster.site.state_dir.rglob("blobs/**/*") if path.is_file()]
    assert blobs == []
