"""Schemathesis, which tries everything that an OpenAPI document names, and a gateway for it to try."""

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx

from services.gateway.settings import GatewaySettings
from services.shared.catalog import keys
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.keys import NewKey, Role
from tests.contract.gateway.conftest import Serving, serving
from tests.contract.gateway.working import ingest
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import SHED, done, sentence

CHECKS = (
    *("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance"),
    *("response_schema_conformance", "unsupported_method", "use_after_free"),
    *("ensure_resource_availability", "object_level_authorization"),
)
"""Not those that want a schema to say every rule (a question of no words is refused), take 0 for no false, or forbid
that the id of a document ends like the name of a door."""
RUNS_S = 3600

UNLIMITED = dict.fromkeys(("limit_key", "limit_requests", "limit_wrong_keys"), "1000000/minute")
"""What is refused for want of patience is not tried."""


@contextmanager
def serving_beside(folder: Path, redis_url: str) -> Iterator[Serving]:
    """Serves until the block ends; retriever and generator are stand-ins that always find and say the same."""
    catalog = Catalog(f"sqlite:///{folder}/catalog.db")
    catalog.migrate()
    world = World(settings=GatewaySettings.model_validate(UNLIMITED))
    began, over = threading.Event(), asyncio.Event()
    started: list[tuple[Serving, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        async with serving(catalog, Blobs(folder / "blobs"), redis_url, world) as running:
            await _fill(running)
            started.append((running, asyncio.get_running_loop()))
            for warmed in world.warmed.values():
                warmed.loaded.set()
            began.set()
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert began.wait(20), "the gateway did not start"
        yield started[0][0]
    finally:
        if started:
            started[0][1].call_soon_threadsafe(over.set)
        thread.join(20)
        catalog.close()


async def _fill(running: Serving) -> None:
    """A document, an answer that rests on it, and one question without an answer."""
    async with httpx.AsyncClient(base_url=running.url, trust_env=False) as client:
        sent = await client.post("/v1/documents", json={"id": "shed.md", "text": SHED})
        found = ingest(running.catalog, running.blobs, "main", sent.json()["jobs"][0]["id"])
        line = sentence("The shed opens at nine.", (found, "The shed opens at nine."), of=[found], before="")
        running.world.answers(found, script=[line, done()])
        asked = await client.post("/v1/ask", json={"question": "When does the shed open?"})
        assert asked.json()["status"] == "answered", asked.text
        judged = {"answer_id": asked.json()["id"], "verdict": "bad"}
        (await client.post("/v1/feedback", json=judged)).raise_for_status()


def tried(folder: Path, url: str, key: str | None, *words: str) -> int:
    """Have everything at the address tried; how many requests that were. Fails with what was found."""
    checks: tuple[str, ...] = CHECKS
    mine: tuple[str, ...] = ()
    if key is not None:
        checks, mine = (
            (*CHECKS, "ignored_auth", "missing_required_header"),
            ("--header", f"Authorization: Bearer {key}"),
        )
    command = [str(Path(sys.executable).parent / "st"), "run", f"{url}/openapi.json", "--checks", ",".join(checks)]
    run = subprocess.run(
        [*command, *mine, "--no-shrink", "--warnings", "off", *words],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=RUNS_S,
    )
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr[-2_000:]
    # It says so at the end: "2682 generated, 2682 passed".
    generated = re.search(r"([0-9]+) generated", run.stdout)
    assert generated, run.stdout[-2_000:]
    return int(generated[1])


def owner_key(catalog: Catalog) -> str:
    """The secret of a new key that may do everything."""
    with catalog.write() as tx:
        return keys.create(tx, NewKey(name="owner", role=Role.ADMIN), datetime.now(UTC)).secret
