"""One Chroma server owns its folder: two workers and two retrievers begin at the same moment, write and read, over and
over, on an empty store and on a full one, and nobody else ever opens a file of it.

The quick version begins with each once, ``RAGSTONE_TEST_REPEATS=whole`` ten times; `make test-scale` has PostgreSQL as
catalog. What a second ``ragstone up`` says to a run of the same folder is told in ``test_local_run``; here two begin at
the same moment.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx
import psutil

from services.local.health import Addresses, why_not_ready
from services.shared.kit.presence import present
from services.shared.kit.settings import RedisSettings
from tests.chaos.cluster import QUICK, Cluster
from tests.e2e.postgres import database_for
from tests.e2e.stack import ROOT, SCALE, STOP_S, WHOLE, Stack, alive, until

ROUNDS = 10 if WHOLE else 1
WRITES = 8 if WHOLE else 2
"""Of each of two writers, in each of two starts a round."""

HEALTHY_S = 30.0
SEEN_S = 5.0
LOOK_S = 0.5
FULL = 60 if WHOLE else 30
"""Documents of the batch that makes a store a full one."""

COMPLAINTS = re.compile(r"\blocked\b|read-?only|already exists", re.IGNORECASE)
ONLY_VECTORS = {"bm25": False, "gate": False, "critic": False, "diversity": False}


@dataclass
class Written:
    """What was acknowledged, and how soon the slower retriever had it."""

    texts: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


class Openers:
    """Looks all the time who has a file of a folder open or mapped."""

    def __init__(self, folder: Path) -> None:
        self._folder = f"{folder.resolve()}/"
        self.seen: dict[int, str] = {}

    @contextmanager
    def watched(self) -> Iterator["Openers"]:
        stop = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(stop,))
        watcher.start()
        try:
            yield self
        finally:
            stop.set()
            watcher.join()

    def _watch(self, stop: threading.Event) -> None:
        while True:
            for process in Path("/proc").glob("[0-9]*"):
                with suppress(OSError):
                    if self._has_open(process):
                        self.seen[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if stop.wait(LOOK_S):
                return

    def _has_open(self, process: Path) -> bool:
        for descriptor in (process / "fd").iterdir():
            with suppress(OSError):
                if os.readlink(descriptor).startswith(self._folder):
                    return True
        return self._folder in (process / "maps").read_text(errors="replace")


@contextmanager
def running(cluster: Cluster) -> Iterator[None]:
    """Everybody, begun at the same moment: nobody made the stores ready before."""
    (cluster.site.state_dir / "redis").mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    try:
        for member in cluster.members:
            member.start()
        until(lambda: not waited_for(cluster), HEALTHY_S, told=lambda: str(waited_for(cluster)))
        _told(f"healthy after {time.monotonic() - began:.1f} s")
        yield
        assert [member.name for member in cluster.members if not member.alive] == []
    finally:
        cluster.stop()


def waited_for(cluster: Cluster) -> list[str]:
    """Who is not ready yet; a process that ended will never be."""
    ended = [member.name for member in cluster.members if not member.alive]
    logs = cluster.site.state_dir / "logs"
    assert ended == [], f"it ended by itself: {(logs / f'{ended[0]}.log').read_text(errors='replace')[-2000:]}"
    redis = RedisSettings(redis_url=cluster.site.redis_url)
    waiting = []
    for member in cluster.members:
        url = f"http://127.0.0.1:{member.port}" if member.port else cluster.site.url
        if (why := why_not_ready(member.part.health, Addresses(url=url, redis_url=redis.redis_url))) is not None:
            waiting.append(f"{member.name}: {why}")
    if not waiting and (there := present("worker", redis)) != cluster.copies["worker"]:
        waiting.append(f"{there} workers are at work")
    return waiting


def write(cluster: Cluster, who: str, written: Written) -> None:
    """Send documents, old ones in a new version too, and look for each at both retrievers once it is acknowledged."""
    with httpx.Client(base_url=cluster.site.url, timeout=20) as client:
        for number in range(WRITES):
            name, text = f"{who}-{number % 3}", f"The boat {who} {number} came in at {time.time_ns()} and was counted."
            send(client, {name: text})
            began = time.monotonic()
            until(partial(holds, client, cluster, name, text), SEEN_S)
            written.seconds.append(time.monotonic() - began)
            written.texts[name] = text


def send(client: httpx.Client, texts: Mapping[str, str]) -> None:
    """As one batch; comes back when it is live."""
    lines = "\n".join(json.dumps({"id": name, "text": text}) for name, text in texts.items())
    sent = client.post("/v1/documents", content=lines, headers={"Content-Type": "application/x-ndjson"})
    job_id = sent.raise_for_status().json()["jobs"][0]["id"]
    state = [""]

    def over() -> bool:
        state[0] = client.get(f"/v1/jobs/{job_id}").json()["state"]
        return state[0] not in ("queued", "running")

    until(over, 60, every_s=0.03, told=lambda: state[0])
    assert state[0] == "succeeded", client.get(f"/v1/jobs/{job_id}").json()


def holds(client: httpx.Client, cluster: Cluster, name: str, text: str) -> bool:
    """Do the vectors of both retrievers have this text of the document?"""
    body = {"space": "main", "question": text, "filters": {"document_id": name}, "stages": ONLY_VECTORS}
    for url in cluster.retrievers:
        answer = client.post(f"{url}/retrieve", json=body).raise_for_status().json()
        if answer["degraded"] or not any(text in passage["text"] for passage in answer["passages"]):
            return False
    return True


def complaints(folder: Path) -> list[str]:
    """Lines of any log that tell of two who are at one thing."""
    lines = [(log.name, line) for log in folder.glob("*.log") for line in log.read_text(errors="replace").splitlines()]
    return [f"{name}: {line}" for name, line in lines if COMPLAINTS.search(line)]


def family(cluster: Cluster, name: str) -> set[int]:
    """A part's processes; asked while it runs."""
    mine = {str(cluster.site.ports[name])}
    parents = [
        one for one in psutil.Process().children() if mine & set(one.cmdline()) and name in " ".join(one.cmdline())
    ]
    return {process.pid for parent in parents for process in [parent, *parent.children(recursive=True)]}


def one_start(cluster: Cluster, written: Written, *, full: bool) -> None:
    """Begin, see that everything acknowledged earlier is there, write and read, look who has the folder open."""
    openers = Openers(cluster.site.state_dir / "chroma")
    with openers.watched(), running(cluster), httpx.Client(base_url=cluster.site.url, timeout=20) as client:
        lost = [name for name, text in written.texts.items() if not holds(client, cluster, name, text)]
        assert lost == []
        owner = family(cluster, "chroma")
        if not full:
            boats = {f"boat-{n}": f"Boat {n} is painted in colour {n * 7} and lies at quay {n}." for n in range(FULL)}
            send(client, boats)
            written.texts |= boats
        with ThreadPoolExecutor() as pool:
            for writer in [pool.submit(write, cluster, who, written) for who in ("north", "south")]:
                writer.result()
    assert owner & openers.seen.keys(), "the server has its own files open"
    assert {pid: command for pid, command in openers.seen.items() if pid not in owner} == {}


def cluster_in(folder: Path) -> Cluster:
    """With SQLite in its folder; with PostgreSQL where more of each is tried."""
    settings = {"DATABASE_URL": database_for(os.environ["DATABASE_URL"], folder)} if SCALE else {}
    return Cluster(folder, settings={**QUICK, **settings})


def test_everybody_begins_at_once_and_only_the_server_opens_the_folder(tmp_path: Path) -> None:
    for number in range(ROUNDS):
        cluster, written = cluster_in(tmp_path / str(number)), Written()
        for full in (False, True):
            one_start(cluster, written, full=full)
        assert complaints(cluster.site.state_dir / "logs") == []
        _told(f"{len(written.seconds)} writes were at both retrievers after {max(written.seconds):.2f} s at most")


def test_of_two_that_begin_at_once_on_one_folder_one_runs_and_the_other_names_it(tmp_path: Path) -> None:
    stacks = [Stack(tmp_path / "state"), Stack(tmp_path / "state")]
    logs = [tmp_path / f"{number}.log" for number in range(len(stacks))]
    begun = [up(stack, log) for stack, log in zip(stacks, logs, strict=True)]
    try:
        until(lambda: any(process.poll() is not None for process in begun), 2 * HEALTHY_S)
        loser = next(number for number, process in enumerate(begun) if process.poll() is not None)
        winner = 1 - loser
        said = logs[loser].read_text()
        assert begun[loser].returncode == 0, said
        assert "runs already" in said
        assert f"Ragstone runs at {stacks[winner].base_url}" in said
        assert stacks[loser].run.pid == begun[winner].pid
        chroma = str(tmp_path / "state" / "chroma")
        servers = [one for one in psutil.process_iter(["cmdline"]) if chroma in (one.info["cmdline"] or [])]
        assert len(servers) == 1
        family = psutil.Process(begun[winner].pid).children(recursive=True)
        assert servers[0] in family
    finally:
        for process in begun:
            process.terminate()
        for process in begun:
            process.wait(STOP_S)
    assert alive(family) == []


def up(stack: Stack, log: Path) -> "subprocess.Popen[bytes]":
    """``ragstone up`` in the foreground."""
    command = [sys.executable, "-m", "services.local", "up"]
    with log.open("wb") as out:
        return subprocess.Popen(
            command, cwd=ROOT, env=stack.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )


def _told(line: str) -> None:
    sys.stdout.write(f"{line}\n")
