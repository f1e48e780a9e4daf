"""Every process of Ragstone, started without a supervisor, so that a test may kill any of them at any moment."""

import ctypes
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from services.local.health import Addresses, why_not_ready
from services.local.ports import free_port
from services.local.processes import PARTS, Part
from services.local.stack import Site, child_environment, fillings
from services.shared.catalog.engine import Catalog

ROOT = Path(__file__).parents[2]
START_S = 120.0
PR_SET_PDEATHSIG = 1
COPIES: Mapping[str, int] = {"worker": 2, "retriever": 2}
QUICK: Mapping[str, str] = {
    "RAGSTONE_EMBEDDER_BACKEND": "onnx",
    "RAGSTONE_EMBEDDER_PRECISION": "float32",
    "RAGSTONE_LEASE_S": "3",
    "RAGSTONE_MAX_ATTEMPTS": "30",
    "RAGSTONE_JOB_TIME_LIMIT_S": "60",
    "RAGSTONE_RECONCILE_EVERY_S": "0.5",
    "RAGSTONE_RING_AFTER_S": "1",
    "RAGSTONE_SWEEP_EVERY_S": "1",
    "RAGSTONE_SWEEP_GRACE_S": "2",
    "RAGSTONE_MEND_EVERY_S": "1",
    "RAGSTONE_MEND_GRACE_S": "0.5",
    "RAGSTONE_BLOB_GRACE_S": "20",
    "RAGSTONE_TIME_SLICE_S": "1",
    "RAGSTONE_GROUP_CHUNKS": "16",
}
"""Everything that waits waits less, so that a round is over in seconds."""


class Member:
    """One process, and the way to have it again."""

    def __init__(
        self, name: str, part: Part, port: int | None, command: list[str], environment: dict[str, str]
    ) -> None:
        self.name, self.part, self.port = name, part, port
        self._command, self._environment = command, environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = Path(self._environment["RAGSTONE_STATE_DIR"]) / "logs" / f"{self.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                preexec_fn=_die_with_the_tests if sys.platform == "linux" else None,
            )

    def kill(self, dice: random.Random) -> str:
        """SIGKILL: the whole family, or of a family only the parent or only a child. Which it was."""
        assert self._process is not None
        family = [psutil.Process(self._process.pid)]
        family += family[0].children(recursive=True)
        part = dice.choice(("all", "parent", "child")) if len(family) > 1 else "all"
        chosen = {"all": family, "parent": family[:1], "child": family[1:]}[part]
        for victim in chosen:
            _send(victim, signal.SIGKILL)
        if part != "child":
            self._process.wait(10)
        if part == "parent":
            # Children whose parent died end by themselves, and if not they must do no harm until then.
            time.sleep(dice.uniform(0, 0.5))
        return f"{self.name}:{part}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def end(self) -> None:
        if self._process is None:
            return
        for victim in _family(self._process.pid):
            _send(victim, signal.SIGKILL)
        self._process.wait(10)


class Cluster:
    """All of them in one state folder; two workers, and two retrievers of which the gateway knows the first.

    A second gateway knows the second retriever. ``own_disks``: the second of each is on a machine of its own, and so
    on: it shares no folder with the others, and ``settings`` name what they have in common.
    """

    def __init__(
        self,
        folder: Path,
        *,
        copies: Mapping[str, int] = COPIES,
        settings: Mapping[str, str] = QUICK,
        own_disks: bool = False,
    ) -> None:
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
        own.pop("DATABASE_URL", None)
        self.copies = copies
        ports = {part.name: free_port() for part in PARTS if part.port is not None}
        redis_url, chroma_url = f"redis://127.0.0.1:{ports['redis']}/0", f"http://127.0.0.1:{ports['chroma']}"
        self.site = Site(folder.absolute(), "127.0.0.1", ports, redis_url, chroma_url)
        environment = child_environment(self.site, PARTS, {**own, **settings})
        values = fillings(self.site, PARTS)
        self.environment = environment
        self.members: list[Member] = []
        for part in PARTS:
            for copy in range(copies.get(part.name, 1)):
                port = ports.get(part.name) if copy == 0 else free_port()
                its = {**environment, **part.environment}
                if part.port is not None and port is not None:
                    its[part.port.setting] = str(port)
                if own_disks and copy:
                    its["RAGSTONE_STATE_DIR"] = str(self.disk(copy + 1))
                if part.name == "gateway" and copy:
                    its["RAGSTONE_RETRIEVER_URL"] = self.retrievers[copy]
                name = part.name if copy == 0 else f"{part.name}-{copy + 1}"
                command = [word.format(**values) for word in part.command]
                self.members.append(Member(name, part, port, command, its))

    def start(self) -> None:
        """Everything, with an empty catalog."""
        for name in ("redis", "chroma"):
            (self.site.state_dir / name).mkdir(parents=True, exist_ok=True)
        catalog = Catalog(self.catalog_url)
        catalog.migrate()
        catalog.close()
        for member in self.members:
            member.start()
        self.wait_ready()

    def wait_ready(self) -> None:
        """Until every process is there and says that it can work; a child that died by itself counts as a fault."""
        end = time.monotonic() + START_S
        for member in self.members:
            while (why := self._not_ready(member)) is not None:
                assert time.monotonic() < end, f"{member.name} is not ready: {why}"
                if not member.alive:
                    member.start()
                time.sleep(0.05)

    @property
    def catalog_url(self) -> str:
        return self.environment.get("DATABASE_URL") or f"sqlite:///{self.site.state_dir / 'catalog.db'}"

    @property
    def retrievers(self) -> list[str]:
        return self.urls("retriever")

    def urls(self, name: str) -> list[str]:
        """Where the copies of a part listen."""
        return [f"http://127.0.0.1:{one.port}" for one in self.members if one.part.name == name]

    def member(self, name: str) -> Member:
        """One process, by its part's name; of the further copies with their number behind it."""
        return next(one for one in self.members if one.name == name)

    def disk(self, number: int) -> Path:
        """The state folder of a machine; the first has the run's own."""
        return self.site.state_dir if number == 1 else self.site.state_dir / f"machine-{number}"

    def stop(self) -> None:
        for member in reversed(self.members):
            member.end()

    def _not_ready(self, member: Member) -> str | None:
        if not member.alive:
            return "it does not run"
        url = f"http://127.0.0.1:{member.port}" if member.port else self.site.url
        return why_not_ready(member.part.health, Addresses(url=url, redis_url=self.site.redis_url))


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _send(process: psutil.Process, number: int) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def _die_with_the_tests() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
