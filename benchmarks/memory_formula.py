"""Memory of the whole stack by the number of worker processes and retrievers, beside what the formula says.

Run: python -m benchmarks.memory_formula [--workers 1 2 4] [--retrievers 1 2] [--questions 20]

For each pair of numbers a stack of its own, with default settings but for ``RAGSTONE_WORKER_CONCURRENCY``, and
``RAGSTONE_GROUP_JOBS=1`` so that every worker process gets work: ten files of corpus/ go in, and again until each has
loaded its model, and questions are asked of the gateway and of each retriever. Prints Markdown: resident memory of the
largest process of each kind, then the memory of all processes together, which is what each has for itself, and the
files that they have mapped (programs, libraries), once. Needs Linux, where the system tells these apart.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import psutil

from services.local.health import Addresses, why_not_ready
from services.local.ports import free_port
from services.local.processes import PARTS, Part
from services.local.stack import Site, child_environment, fillings
from services.shared.models.backends import Use, cpu_flags, preferred

ROOT = Path(__file__).parents[1]
READER = "services.ingestor.adapters.parsing.child"
PATIENCE_S = 180.0
FILES = 10
MB = 1_000_000


@dataclass(frozen=True)
class Formula:
    """MB of a whole stack: of what there is once, of each retriever, of each worker process."""

    once: int
    retriever: int
    worker: int

    def __str__(self) -> str:
        return f"{self.once} + {self.retriever} × retrievers + {self.worker} × worker processes"

    def expected(self, workers: int, retrievers: int) -> int:
        """All parts together, MB."""
        return self.once + retrievers * self.retriever + workers * self.worker


FORMULAS: Mapping[str, Formula] = {
    "torch": Formula(once=815, retriever=145, worker=610),
    "onnx": Formula(once=680, retriever=145, worker=315),
}
"""As docs/runbook.md says them, by the library that computes the vectors of documents."""

LIBRARY = preferred("auto", "auto", Use.DOCUMENTS, cpu_flags())[0].library
"""What computes the vectors of documents on this machine, unless a setting says otherwise."""

GATEWAY_MB = 300
"""The gateway holds no model: it stays below this, whatever the workers do."""

KINDS = (
    "gateway",
    "generator",
    "retriever",
    "worker",
    "worker process",
    "reader",
    "reconciler",
    "asker",
    "chroma",
    "redis",
)
"""In the table. Of the worker there are its parent, its processes, and a reader of files for each."""

MOST_TIMES = 20
"""The files are sent again, until no worker process is without its model."""

_MAPPING = re.compile(r"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ (\S+) (\d+)")
_SIZE = re.compile(r"^(Rss|Anonymous):\s+(\d+)")
_OWN = re.compile(r"^Pss_Anon:\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Measured:
    """MB: the resident size of the largest process of each kind, and the memory of all processes together."""

    largest: Mapping[str, int]
    total: int


class Started:
    """A stack without a supervisor: every part, the retriever as often as asked."""

    def __init__(self, folder: Path, workers: int, retrievers: int, library: str) -> None:
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
        own.pop("DATABASE_URL", None)
        ports = {part.name: free_port() for part in PARTS if part.port is not None}
        urls = (f"redis://127.0.0.1:{ports['redis']}/0", f"http://127.0.0.1:{ports['chroma']}")
        self.site = Site(folder.absolute(), "127.0.0.1", ports, *urls)
        self.retrievers = [self.site.url_of("retriever")]
        self.retrievers += [f"http://127.0.0.1:{free_port()}" for _ in range(1, retrievers)]
        self.workers = workers
        settings = {
            "RAGSTONE_WORKER_CONCURRENCY": str(workers),
            "RAGSTONE_GROUP_JOBS": "1",
            "RAGSTONE_EMBEDDER_BACKEND": "auto" if library == LIBRARY else library,
        }
        self._environment = child_environment(self.site, PARTS, own | settings)
        self._processes: list[tuple[str, subprocess.Popen[bytes]]] = []

    @contextmanager
    def running(self) -> Iterator["Started"]:
        """Until it is ready; ended with all its processes."""
        for name in ("redis", "chroma", "logs"):
            (self.site.state_dir / name).mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            for part in PARTS:
                urls = self.retrievers if part.name == "retriever" else [self.site.url_of(part.name)]
                for url in urls:
                    stack.callback(_end, self._start(part, url))
            for part in PARTS:
                for url in self.retrievers if part.name == "retriever" else [self.site.url_of(part.name)]:
                    addresses = Addresses(url=url, redis_url=self.site.redis_url)
                    until(partial(_ready, part, addresses), part.name)
            yield self

    def log(self, name: str) -> str:
        """What the parts of this name wrote."""
        return (self.site.state_dir / "logs" / f"{name}.log").read_text(errors="replace")

    def processes(self) -> dict[str, list[psutil.Process]]:
        """All of them by what they are; a worker's children hold the models, and readers read files for them."""
        found: dict[str, list[psutil.Process]] = defaultdict(list)
        for name, process in self._processes:
            parent = psutil.Process(process.pid)
            found[name].append(parent)
            for child in parent.children(recursive=True):
                kind = ("reader" if READER in child.cmdline() else "worker process") if name == "worker" else name
                found[kind].append(child)
        return found

    def _start(self, part: Part, url: str) -> "subprocess.Popen[bytes]":
        environment = {**self._environment, **part.environment}
        if part.name == "retriever":
            environment["RAGSTONE_RETRIEVER_PORT"] = url.rpartition(":")[2]
        values = fillings(self.site, PARTS)
        with (self.site.state_dir / "logs" / f"{part.name}.log").open("ab") as log:
            process = subprocess.Popen(
                [word.format(**values) for word in part.command],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append((part.name, process))
        return process


def _ready(part: Part, addresses: Addresses) -> bool:
    return why_not_ready(part.health, addresses) is None


def _end(process: "subprocess.Popen[bytes]") -> None:
    family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    for one in family:
        with suppress(psutil.NoSuchProcess):
            one.kill()
    process.wait(10)


def used(started: Started, questions: int) -> None:
    """Every worker process has worked, and everybody was asked."""
    files = sorted((ROOT / "corpus" / "projects").glob("*.md"))[:FILES]
    texts = [json.loads(line)["text"] for line in (ROOT / "evals" / "questions.jsonl").read_text().splitlines()]
    with httpx.Client(base_url=started.site.url, timeout=60, trust_env=False) as client:
        number = 0
        while number == 0 or started.log("worker").count("embedder_loaded") < started.workers:
            named = [("files", (f"{number}-{file.name}", file.read_bytes(), "text/markdown")) for file in files]
            client.post("/v1/documents", files=named).raise_for_status()
            until(lambda: over(client), "work")
            number += 1
            assert number < MOST_TIMES, "some worker process never got anything to do"
        for text in texts[:questions]:
            client.post("/v1/ask", json={"question": text}).raise_for_status()
            for url in started.retrievers[1:]:
                body = {"space": "main", "question": text}
                client.post(f"{url}/retrieve", json=body).raise_for_status()


def over(client: httpx.Client) -> bool:
    """Has every job ended, and well?"""
    counts = client.get("/v1/jobs", params={"limit": 1}).raise_for_status().json()["counts"]
    assert not counts["failed"]
    return not counts["queued"] and not counts["running"]


def measured(started: Started) -> Measured:
    """As it is now."""
    processes = started.processes()
    own = 0
    files: dict[tuple[str, str], int] = {}
    for process in (one for group in processes.values() for one in group):
        anonymous, mapped = _memory(process.pid)
        own += anonymous
        for file, size in mapped.items():
            files[file] = max(size, files.get(file, 0))
    return Measured(
        largest={name: max(one.memory_info().rss for one in group) // MB for name, group in processes.items()},
        total=(own + sum(files.values())) // MB,
    )


def _memory(pid: int) -> tuple[int, dict[tuple[str, str], int]]:
    """Bytes that a process has for itself (its share, where a forked child has them too), and those of each file."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    files: dict[tuple[str, str], int] = defaultdict(int)
    file = ("", "0")
    for line in Path(f"/proc/{pid}/smaps").read_text(errors="replace").splitlines():
        if (begun := _MAPPING.match(line)) is not None:
            file = (begun[1], begun[2])
        elif file[1] != "0" and (size := _SIZE.match(line)) is not None:
            files[file] += int(size[2]) * 1024 * (1 if size[1] == "Rss" else -1)
    return int(_OWN.findall(rollup)[0]) * 1024, files


def until(true: Callable[[], bool], what: str) -> None:
    """Wait for it."""
    give_up = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < give_up, f"{what} was not ready within {PATIENCE_S:.0f} s"
        time.sleep(0.1)


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--retrievers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--library", choices=sorted(FORMULAS), default=LIBRARY)
    options = parser.parse_args()
    print(f"| {' | '.join(['worker processes', 'retrievers', *KINDS, 'all together', 'formula'])} |")
    print(f"|{'---|' * (len(KINDS) + 4)}")
    for workers in options.workers:
        for retrievers in options.retrievers:
            with (
                tempfile.TemporaryDirectory() as folder,
                Started(Path(folder), workers, retrievers, options.library).running() as started,
            ):
                used(started, options.questions)
                found = measured(started)
            cells = [workers, retrievers, *(found.largest.get(kind, 0) for kind in KINDS), found.total]
            cells.append(FORMULAS[options.library].expected(workers, retrievers))
            print(f"| {' | '.join(f'{cell:,}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main()
