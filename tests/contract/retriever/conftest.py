"""The real MiniLM, a catalog in a folder of the test's own, and the service over them."""

import asyncio
import shutil
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


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder(EmbedderSettings())


@pytest.fixture
def settings(tmp_path: Path, chroma_url: str) -> Settings:
    return Settings(state=StateSettings(state_dir=tmp_path), chroma=ChromaSettings(chroma_url=chroma_url))


@pytest.fixture
def catalog(settings: Settings, migrated_file: Path) -> Iterator[Catalog]:
    shutil.copy(migrated_file, settings.state.state_dir / "catalog.db")
    catalog = Catalog(settings.state.catalog_url)
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
def serve(settings: Settings, catalog: Catalog) -> Serve:
    return lambda: serving(settings)


@pytest.fixture
async def client(settings: Settings, catalog: Catalog) -> AsyncIterator[httpx.AsyncClient]:
    """Its catalog is there before the service, which else would not look for it again for two seconds."""
    async with serving(settings) as client:
        yield client
