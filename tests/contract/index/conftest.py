"""A real Chroma server on a free port, and a real catalog in SQLite."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.index.chroma import ping

CHROMA = Path(sys.executable).parent / "chroma"
START_S = 120


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("chroma")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [CHROMA, "run", "--path", folder / "data", "--host", "127.0.0.1", "--port", str(port)],
            stdout=log,
            stderr=log,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "false"},
        )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(START_S * 5):
            try:
                ping(url)
                break
            except RagstoneError:
                assert server.poll() is None, (folder / "log").read_text()
                time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(f"sqlite:///{tmp_path}/catalog.db")
    opened.migrate()
    yield opened
    opened.close()
