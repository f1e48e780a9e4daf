"""A whole Ragstone for end-to-end tests: started by the real command, on free ports, in a folder of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import psutil

from services.local.api import Api
from services.local.ports import free_port
from services.local.state import Run, RunFolder
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.documents import DocumentIn
from services.shared.contracts.jobs import Job
from tests.e2e.many import More

ROOT = Path(__file__).parents[2]
WHOLE = os.environ.get("RAGSTONE_TEST_REPEATS") == "whole"
"""Ask for all the repeats that a race or a kill is tried with; otherwise a few."""
SCALE = os.environ.get("RAGSTONE_TEST_SCALE") == "whole"
"""Run on PostgreSQL with more of each: see ``tests.e2e.many``."""
START_S = 120.0
STOP_S = 20.0
SHORT_LEASES: Mapping[str, str] = {
    "RAGSTONE_LEASE_S": "4",
    "RAGSTONE_JOB_TIME_LIMIT_S": "120",
    "RAGSTONE_RECONCILE_EVERY_S": "1",
    "RAGSTONE_RING_AFTER_S": "3",
}


def until(
    what: Callable[[], bool],
    patience_s: float = 30.0,
    every_s: float = 0.1,
    told: Callable[[], str] = str,
) -> None:
    """Wait for something to become true; fails after ``patience_s`` with what was ``told`` last."""
    deadline = time.monotonic() + patience_s
    while not what():
        assert time.monotonic() < deadline, f"it did not happen within {patience_s:.0f} s; {told()}"
        time.sleep(every_s)


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run."""
    return [process for process in processes if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


class Stack:
    """One run of `ragstone up`; every port is a free one, also the usual ones are left alone."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = RunFolder(folder)
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
        own.pop("DATABASE_URL", None)
        ports = {f"RAGSTONE_{name}_PORT": str(free_port()) for name in ("REDIS", "CHROMA", "RETRIEVER", "GENERATOR")}
        self.environment = {
            **own,
            **ports,
            **SHORT_LEASES,
            "RAGSTONE_STATE_DIR": str(folder),
            "RAGSTONE_PORT": str(self.port),
            "COLUMNS": "200",
            "RAGSTONE_EMBEDDER_BACKEND": "onnx",  # loads in a sixth of the time that torch takes
            **(settings or {}),
        }
        self._more = More(folder) if SCALE else None
        self.process: subprocess.Popen[str] | None = None

    def start(self, *words: str) -> Self:
        """Begin `ragstone up` with these words and return at once; its output goes to up.log in the folder."""
        self.folder.folder.mkdir(parents=True, exist_ok=True)
        if self._more is not None:
            self._more.open_front(int(self.environment["RAGSTONE_RETRIEVER_PORT"]))
            self.environment |= self._more.settings
        with (self.folder.folder / "up.log").open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "services.local", "up", *words],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
            )
        return self

    def wait_ready(self) -> Self:
        """Until every part is ready."""
        process = self.process
        assert process is not None
        until(lambda: process.poll() is not None or self._is_ready(), START_S)
        assert process.poll() is None, f"the stack did not start:\n{self.said()}"
        if (more := self._more) is not None:
            redis_port = self.environment["RAGSTONE_REDIS_PORT"]
            more.start(self.environment)
            until(lambda: more.missing(redis_port) is None, START_S, told=lambda: str(more.missing(redis_port)))
        return self

    def _is_ready(self) -> bool:
        run = self.folder.live()
        return run is not None and run.state == "ready"

    def said(self) -> str:
        """Everything that `ragstone up` wrote so far."""
        return (self.folder.folder / "up.log").read_text(encoding="utf-8")

    def ragstone(self, *words: str, timeout_s: float = 120.0) -> subprocess.CompletedProcess[str]:
        """Run another `ragstone` command against this stack."""
        return subprocess.run(
            [sys.executable, "-m", "services.local", *words],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )

    @property
    def run(self) -> Run:
        """Who runs now."""
        run = self.folder.live()
        assert run is not None, f"the stack does not run:\n{self.said()}"
        return run

    def pid(self, name: str) -> int:
        """Process id of a part by its name in the table of processes."""
        pid = next(part.pid for part in self.run.parts if part.name == name)
        assert pid is not None, f"{name} does not run now"
        return pid

    @property
    def catalog_url(self) -> str:
        return self.environment.get("DATABASE_URL") or f"sqlite:///{self.folder.folder / 'catalog.db'}"

    def log(self, name: str) -> str:
        """What a part wrote."""
        return (self.folder.logs / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def family(self) -> list[psutil.Process]:
        """Every process under `ragstone up`, children of children included."""
        assert self.process is not None
        return psutil.Process(self.process.pid).children(recursive=True)

    def api(self, space: str | None = None) -> Api:
        """A typed client; close it or use it as a context."""
        return Api(self.base_url, space)

    def ask(self, question: str, space: str | None = None) -> Answer:
        """One answer."""
        with self.api(space) as api:
            return api.ask(AskRequest(question=question))

    def add(self, text: str, document_id: str, space: str | None = None, patience_s: float = 60.0) -> Job:
        """Send a text and wait until its job has ended."""
        with self.api(space) as api:
            job_id = api.submit_text(DocumentIn(id=document_id, text=text)).id
            until(lambda: api.job(job_id).state.final, patience_s)
            return api.job(job_id)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Signal the run and wait for its end; its exit code."""
        assert self.process is not None
        if self._more is not None:
            self._more.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=STOP_S)


@contextmanager
def running_stack(folder: Path, settings: Mapping[str, str] | None = None, *words: str) -> Iterator[Stack]:
    """A ready stack that is stopped at the end, whatever happens."""
    stack = Stack(folder, settings).start(*words)
    try:
        yield stack.wait_ready()
    finally:
        stack.stop()
