"""A real Chroma server, the real MiniLM, a catalog in a folder of the test's own, and the service over them."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from services.retriever.app import create_app
from services.retriever.settings import Settings
from services.shared.catalog.engine import Catalog
from services.shared.kit.settings import ChromaSettings, EmbedderSettings, StateSettings
from services.shared.models.embedder import Embedder
from services.shared.models.loader import load_embedder

from .library import Library

Serve = Callable[[], AbstractAsyncContextManager[httpx.AsyncClient]]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("chroma"), free_port()
    command = [str(Path(sys.executable).parent / "chroma"), "run", "--path", str(folder), "--port", str(port)]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "ANONYMIZED_TELEMETRY": "False"})
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                if httpx.get(f"{url}/api/v2/heartbeat", trust_env=False).status_code == 200:
                    break
            except httpx.HTTPError:
                time.sleep(0.1)
        else:
            raise AssertionError((folder / "log").read_text())
        yield url
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder(EmbedderSettings())


@pytest.fixture
def settings(tmp_path: Path, chroma_url: str) -> Settings:
    return Settings(state=StateSettings(state_dir=tmp_path), chroma=ChromaSettings(chroma_url=chroma_url))


@pytest.fixture
def catalog(settings: Settings) -> Iterator[Catalog]:
    catalog = Catalog(settings.state.catalog_url)
    catalog.migrate()
    yield catalog
    catalog.close()


@pytest.fixture
def library(catalog: Catalog, chroma_url: str, embedder: Embedder) -> Library:
    return Library(catalog, chroma_url, embedder)


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """The service in this process, its model loaded; the client talks to it without a socket.

    Two models must not load at the same time in one process: the library switches a type for all threads
    while it loads. Real replicas are processes.
    """
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False), base_url="http://retriever", timeout=120
        ) as client,
    ):
        for _ in range(600):
            if (await client.get("/readyz")).json()["parts"]["model"]["detail"] != "loading; wait a few seconds":
                break
            await asyncio.sleep(0.1)
        yield client


@pytest.fixture
def serve(settings: Settings) -> Serve:
    return lambda: serving(settings)


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(settings) as client:
        yield client
