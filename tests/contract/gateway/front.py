"""A gateway as it is served, on a real socket, that counts in a real Redis; what it asks and keeps are fakes."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

import httpx
import uvicorn

from services.gateway.adapters.rates import RedisRates
from services.gateway.app.application import gateway_app
from services.gateway.app.heads import how_served
from services.gateway.wiring.flows import Gateway, gateway_of
from services.shared.kit.logs import configure_logs
from services.shared.kit.settings import LogSettings, RedisSettings
from tests.unit.gateway.fakes import World


@dataclass
class Front:
    """One gateway process, as far as its clients can tell."""

    world: World
    gateway: Gateway
    client: httpx.AsyncClient
    port: int

    async def ask(self, key: str | None = None, **headers: str) -> httpx.Response:
        """One plain question."""
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return await self.client.post("/v1/ask", json={"question": "When?"}, headers=headers)

    async def raw(self, *pieces: bytes, every_s: float = 0.0, patience_s: float = 5.0) -> bytes:
        """What comes back for these bytes until the line is closed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        sending = asyncio.create_task(_send(writer, pieces, every_s))
        came = b""
        try:
            async with asyncio.timeout(patience_s):
                while piece := await reader.read(65536):
                    came += piece
                return came
        except ConnectionError:
            return came
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            writer.close()


async def _send(writer: asyncio.StreamWriter, pieces: tuple[bytes, ...], every_s: float) -> None:
    with contextlib.suppress(ConnectionError):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(every_s)


@contextlib.asynccontextmanager
async def front(world: World, redis_url: str) -> AsyncIterator[Front]:
    """Serves until the block ends."""
    configure_logs("gateway", LogSettings(log_format="json"))
    redis = RedisSettings(redis_url=redis_url, redis_timeout_s=1.0)
    rates = RedisRates(redis, when_away=world.settings.limits_when_away)
    gateway = gateway_of(replace(world.outside(), rates=rates), world.settings, world.profile)
    config = uvicorn.Config(
        gateway_app(gateway, close=rates.close),
        port=0,
        **how_served(world.settings.body_timeout_s),
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=20) as client:
            yield Front(world, gateway, client, port)
    finally:
        server.should_exit = True
        await asyncio.wait_for(serving, 10)


async def until(true: Callable[[], object], patience_s: float = 5.0) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < deadline, f"it did not happen within {patience_s} s"
        await asyncio.sleep(0.01)
