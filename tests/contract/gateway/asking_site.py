"""What an asker meets: a retriever and a generator on a real socket that play one answer, and its own process."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from services.shared.contracts.search import Passage
from services.shared.contracts.writing import SentenceWritten
from tests.unit.gateway.messages import done, found

ROOT = Path(__file__).parents[3]


@dataclass
class PlayedServices:
    """Finds ``passage`` for everything and writes ``sentence`` from it; ``hangs``: the writing comes to no end."""

    passage: Passage | None = None
    sentence: SentenceWritten | None = None
    hangs: bool = False
    asked: list[str] = field(default_factory=list)
    """Request ids, as the writer heard them."""
    left: int = 0
    url: str = ""

    async def retrieve(self, request: Request) -> Response:
        return _json(found(*([] if self.passage is None else [self.passage])).model_dump_json())

    async def write(self, request: Request) -> Response:
        self.asked.append(request.headers["X-Request-ID"])
        return StreamingResponse(self._lines(), media_type="application/x-ndjson")

    async def _lines(self) -> AsyncIterator[str]:
        assert self.sentence is not None
        try:
            yield self.sentence.model_dump_json() + "\n"
            if self.hangs:
                await asyncio.sleep(600)
            yield done().model_dump_json() + "\n"
        except (asyncio.CancelledError, GeneratorExit):
            self.left += 1
            raise


@contextlib.asynccontextmanager
async def played_services() -> AsyncIterator[PlayedServices]:
    """Listens on a free port until the block ends."""
    played = PlayedServices()
    routes = [Route(path, getattr(played, path[1:]), methods=["POST"]) for path in ("/retrieve", "/write")]
    config = uvicorn.Config(Starlette(routes=routes), port=0, log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    played.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield played
    finally:
        server.should_exit = True
        await asyncio.wait_for(running, 10)


@dataclass
class Processes:
    """Starts real processes over one state folder."""

    folder: Path
    redis_url: str
    services_url: str
    more: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def run(self, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
        """``python -m`` these words, in a group of its own that ends with the block."""
        settings = {
            "RAGSTONE_STATE_DIR": str(self.folder),
            "RAGSTONE_REDIS_URL": self.redis_url,
            "RAGSTONE_RETRIEVER_URL": self.services_url,
            "RAGSTONE_GENERATOR_URL": self.services_url,
            "RAGSTONE_LEASE_S": "4",
            "RAGSTONE_RING_AFTER_S": "1",
            "RAGSTONE_RECONCILE_EVERY_S": "0.5",
            "RAGSTONE_MAX_ATTEMPTS": "2",
            "RAGSTONE_ASKER_CONCURRENCY": "1",
            "OMP_NUM_THREADS": "1",
        }
        with (self.folder / f"{words[-1]}.log").open("ab") as log:
            started = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=ROOT,
                env={**os.environ, **settings, **self.more},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            try:
                yield started
            finally:
                started.send_signal(signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    started.wait(20)
                with suppress(ProcessLookupError):
                    os.killpg(started.pid, signal.SIGKILL)
                started.wait(10)

    def asker(self) -> "contextlib.AbstractContextManager[subprocess.Popen[bytes]]":
        """The process that answers questions later."""
        return self.run("services.gateway", "asker")

    def reconciler(self) -> "contextlib.AbstractContextManager[subprocess.Popen[bytes]]":
        """The process that looks after lost jobs."""
        return self.run("services.ingestor", "reconciler")

    def logs(self) -> str:
        """What they all wrote."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))


def _json(body: str) -> Response:
    return Response(body, media_type="application/json")
