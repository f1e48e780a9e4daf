"""Readiness names what is missing or hangs, in time, whatever it is."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from services.gateway.adapters.parts import LiveParts
from services.gateway.settings import GatewaySettings
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode
from services.shared.contracts.health import PartHealth
from services.shared.kit.events import JobEventListener
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.settings import RedisSettings

LIMIT_S = 3.0
"""After so long a person or an orchestrator has to know."""

ROLES = {"worker", "reconciler", "asker"}


@pytest.fixture
def hung() -> Iterator[int]:
    """A port that takes every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def closed() -> int:
    """A port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


@contextlib.asynccontextmanager
async def parts(catalog: Catalog, *, retriever: int, generator: int, redis_url: str) -> AsyncIterator[LiveParts]:
    redis = RedisSettings(redis_url=redis_url)
    services = {
        name: ServiceClient(
            name=name,
            base_url=f"http://127.0.0.1:{port}",
            unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
            timeout_s=30,
        )
        for name, port in (("retriever", retriever), ("generator", generator))
    }
    events = JobEventListener(redis)
    yield LiveParts(
        catalog=catalog,
        retriever=services["retriever"],
        generator=services["generator"],
        events=events,
        redis=redis,
        timeout_s=GatewaySettings().ready_timeout_s,
    )
    await events.close()
    for client in services.values():
        await client.close()


async def seen(looking: LiveParts) -> dict[str, PartHealth]:
    """One look, in time."""
    began = time.monotonic()
    found = await looking.look()
    assert time.monotonic() - began < LIMIT_S
    return found


async def test_everything_that_hangs_is_named_with_what_to_do(catalog: Catalog, hung: int) -> None:
    async with parts(catalog, retriever=hung, generator=hung, redis_url=f"redis://127.0.0.1:{hung}/0") as looking:
        found = await seen(looking)
        again = await seen(looking)
    assert found == again
    assert found["catalog"].ready
    assert {name for name, part in found.items() if not part.ready} == {"redis", "retriever", "generator", *ROLES}
    for name in ("redis", "retriever", "generator"):
        assert "did not answer within" in found[name].detail or "does not answer" in found[name].detail
        assert "start" in found[name].detail
    assert all("unknown while Redis" in found[role].detail for role in ROLES)


async def test_everything_that_is_away_is_named_with_what_to_do(catalog: Catalog, closed: int) -> None:
    async with parts(catalog, retriever=closed, generator=closed, redis_url=f"redis://127.0.0.1:{closed}/0") as looking:
        found = await seen(looking)
    assert "start it or correct RAGSTONE_REDIS_URL" in found["redis"].detail
    assert "cannot be reached" in found["retriever"].detail
    assert "is it running?" in found["generator"].detail


async def test_a_process_that_nobody_started_is_named(catalog: Catalog, closed: int, redis_url: str) -> None:
    async with parts(catalog, retriever=closed, generator=closed, redis_url=redis_url) as looking:
        found = await seen(looking)
    assert found["redis"].ready
    for role in ROLES:
        assert not found[role].ready
        assert f"no {role} is running; start one with python -m services." in found[role].detail


async def test_a_catalog_that_is_locked_for_long_is_named_and_holds_up_nothing(
    tmp_path: Path, closed: int, redis_url: str
) -> None:
    slow = Catalog(f"sqlite:///{tmp_path}/slow.db")
    slow.migrate()

    class Hanging(Catalog):
        def check(self) -> None:
            time.sleep(4)

    hanging = Hanging(f"sqlite:///{tmp_path}/slow.db")
    async with parts(hanging, retriever=closed, generator=closed, redis_url=redis_url) as looking:
        found = await seen(looking)
    assert not found["catalog"].ready
    assert "a writer may hold it" in found["catalog"].detail
    # Its thread is still in there.
    await asyncio.sleep(2)
    slow.close()
    hanging.close()
