"""More of each beside one run of `ragstone up`, as `make test-scale` runs the other tests here: a second retriever on a
disk of its own, two more workers, PostgreSQL as catalog, and an nginx that hands each call to the retrievers in turn.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from services.local.health import Addresses, why_not_ready
from services.local.ports import free_port
from services.local.processes import CHILD_DEFAULTS, PARTS
from services.shared.kit.presence import present
from services.shared.kit.settings import RedisSettings
from tests.e2e.nginx_front import nginx_front
from tests.e2e.postgres import database_for

ROOT = Path(__file__).parents[2]
WORKERS = 3
ANY_SIZE = "client_max_body_size 0; proxy_read_timeout 300s;"


class More:
    """What stands beside one run; ``settings`` are for the run itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._second = free_port()
        self._opened = ExitStack()
        self._copies: list[subprocess.Popen[bytes]] = []
        server = os.environ["DATABASE_URL"]
        self.settings: dict[str, str] = {
            "DATABASE_URL": database_for(server, folder),
            "RAGSTONE_FOLLOW_EVERY_S": "0.3",
        }

    def open_front(self, first: int) -> None:
        """Begin the nginx before the run's own retriever, whose port this is, and the second one."""
        self.close()
        front = self._opened.enter_context(
            nginx_front(self._folder.with_name(f"{self._folder.name}-front"), [first, self._second], ANY_SIZE)
        )
        self.settings["RAGSTONE_RETRIEVER_URL"] = front.url

    def start(self, environment: Mapping[str, str]) -> None:
        """Begin the copies of a run that is ready; ``environment`` is the run's."""
        shared = {**CHILD_DEFAULTS, **environment, "RAGSTONE_HOST": "127.0.0.1"}
        for part in PARTS:
            if part.port is not None:
                shared[f"RAGSTONE_{part.name.upper()}_URL"] = f"http://127.0.0.1:{environment[part.port.setting]}"
        shared["RAGSTONE_REDIS_URL"] = f"redis://127.0.0.1:{environment['RAGSTONE_REDIS_PORT']}/0"
        shared["RAGSTONE_RETRIEVER_URL"] = self.settings["RAGSTONE_RETRIEVER_URL"]
        apart = {"RAGSTONE_STATE_DIR": str(self._folder / "second"), "RAGSTONE_RETRIEVER_PORT": str(self._second)}
        self._begin("retriever-2", ["-m", "services.retriever"], shared | apart)
        for number in range(2, WORKERS + 1):
            self._begin(f"worker-{number}", ["-m", "services.ingestor", "worker"], shared)

    def missing(self, redis_port: str) -> str | None:
        """Who is not ready yet."""
        for copy in self._copies:
            assert copy.poll() is None, f"{copy.args!r} ended by itself"
        redis_url = f"redis://127.0.0.1:{redis_port}/0"
        retriever = next(part for part in PARTS if part.name == "retriever")
        url = f"http://127.0.0.1:{self._second}"
        if (why := why_not_ready(retriever.health, Addresses(url=url, redis_url=redis_url))) is not None:
            return why
        there = present("worker", RedisSettings(redis_url=redis_url))
        return None if there >= WORKERS else f"{there} workers are at work"

    def close(self) -> None:
        """End the copies and the nginx."""
        for copy in self._copies:
            copy.terminate()
        for copy in self._copies:
            try:
                copy.wait(20)
            except subprocess.TimeoutExpired:
                copy.kill()
                copy.wait(20)
        self._copies.clear()
        self._opened.close()

    def _begin(self, name: str, words: list[str], environment: Mapping[str, str]) -> None:
        logs = self._folder / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        with (logs / f"{name}.log").open("ab") as out:
            self._copies.append(
                subprocess.Popen(
                    [sys.executable, *words],
                    cwd=ROOT,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                )
            )
