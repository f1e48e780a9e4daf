"""A real catalog file, a real blob folder, a real Valkey, and a gateway over them on a real socket."""

import asyncio
import contextlib
import shutil
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
import uvicorn

from services.gateway.adapters.answers import RedisAnswers
from services.gateway.adapters.bodies import BlobBodies
from services.gateway.adapters.catalog.asked import CatalogLaterBook
from services.gateway.adapters.catalog.calibrations import CatalogCalibrations
from services.gateway.adapters.catalog.documents import CatalogDocuments
from services.gateway.adapters.catalog.evaluations import CatalogEvaluations
from services.gateway.adapters.catalog.feedback import CatalogFeedback
from services.gateway.adapters.catalog.gaps import CatalogGaps
from services.gateway.adapters.catalog.golden import CatalogGolden
from services.gateway.adapters.catalog.indexes import CatalogIndexes
from services.gateway.adapters.catalog.jobs import CatalogJobs
from services.gateway.adapters.catalog.keys import CatalogKeys
from services.gateway.adapters.catalog.live import CatalogLiveTexts
from services.gateway.adapters.originals import BlobOriginals
from services.gateway.adapters.queue import WorkerBell
from services.gateway.app.application import gateway_app
from services.gateway.app.heads import how_served
from services.gateway.wiring.flows import gateway_of
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.kit.events import JobEventListener
from services.shared.kit.queue import impatient_bell
from services.shared.kit.settings import JobSettings, RedisSettings
from tests.unit.gateway.fakes import World


@pytest.fixture
def catalog(tmp_path: Path, migrated_file: Path) -> Iterator[Catalog]:
    shutil.copy(migrated_file, tmp_path / "catalog.db")
    opened = Catalog(f"sqlite:///{tmp_path}/catalog.db")
    yield opened
    opened.close()


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


@pytest.fixture
def nowhere() -> str:
    """The address of a Redis that is not there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"redis://127.0.0.1:{probe.getsockname()[1]}/0"


@dataclass
class Serving:
    """A gateway that listens, with real catalog, blobs and queue; retriever and generator are fakes."""

    url: str
    world: World
    catalog: Catalog
    blobs: Blobs


@contextlib.asynccontextmanager
async def serving(catalog: Catalog, blobs: Blobs, redis_url: str, world: World | None = None) -> AsyncIterator[Serving]:
    """Serve until the block ends."""
    world = world or World()
    redis = RedisSettings(redis_url=redis_url, redis_timeout_s=1.0)
    news = JobEventListener(redis)
    documents = CatalogDocuments(catalog)
    answers = RedisAnswers(redis, keep_s=60, all_live=documents.all_live)
    outside = replace(
        world.outside(),
        live_texts=CatalogLiveTexts(catalog),
        documents=documents,
        jobs=CatalogJobs(catalog),
        later=CatalogLaterBook(catalog),
        evaluations=CatalogEvaluations(catalog),
        golden=CatalogGolden(catalog),
        feedback=CatalogFeedback(catalog),
        gaps=CatalogGaps(catalog),
        calibrations=CatalogCalibrations(catalog, again_share=0.2),
        index_book=CatalogIndexes(catalog, "mini"),
        keys=CatalogKeys(catalog),
        answers=answers,
        memory=answers,
        originals=BlobOriginals(blobs, catalog),
        bodies=BlobBodies(blobs, catalog),
        bell=WorkerBell(impatient_bell(redis, JobSettings()), catalog),
        news=news,
    )

    async def close() -> None:
        await news.close()
        await answers.close()

    app = gateway_app(gateway_of(outside, world.settings, world.profile), close=close)
    config = uvicorn.Config(app, port=0, timeout_graceful_shutdown=1, **how_served(world.settings.body_timeout_s))
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Serving(f"http://127.0.0.1:{port}", world, catalog, blobs)
    finally:
        server.should_exit = True
        await asyncio.wait_for(running, 10)


@pytest.fixture
async def gateway(catalog: Catalog, blobs: Blobs, redis_url: str) -> AsyncIterator[Serving]:
    async with serving(catalog, blobs, redis_url) as one:
        yield one


@pytest.fixture
async def client(gateway: Serving) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=20) as one:
        yield one
