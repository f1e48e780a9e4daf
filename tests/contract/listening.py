"""A gateway over fakes that listens on a real socket, for clients that other people wrote."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator

import uvicorn

from services.gateway.app.application import gateway_app
from services.gateway.wiring.flows import gateway_of
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, passage, sentence


def server_of(world: World) -> uvicorn.Server:
    """Not running yet."""
    app = gateway_app(gateway_of(world.outside(), world.settings, world.profile))
    return uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, timeout_graceful_shutdown=1))


def address_of(server: uvicorn.Server) -> str:
    """Of one that runs."""
    return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


@contextlib.asynccontextmanager
async def listening(world: World) -> AsyncIterator[str]:
    """The gateway's address while the block lasts."""
    server = server_of(world)
    running = asyncio.create_task(server.serve())
    while not server.started:
        assert not running.done(), "the server did not start"
        await asyncio.sleep(0.01)
    try:
        yield address_of(server)
    finally:
        server.should_exit = True
        await asyncio.wait_for(running, 10)


@contextlib.contextmanager
def listening_beside(world: World) -> Iterator[str]:
    """The same in a thread of its own, for clients that block."""
    server = server_of(world)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.01)
    try:
        yield address_of(server)
    finally:
        server.should_exit = True
        thread.join(10)


def shed_world() -> World:
    """It answers in two sentences when the shed opens, and holds one document."""
    world = World()
    world.documents.hold("shed.md")
    found = passage()
    opens = sentence("The shed opens at nine.", (found, "The shed opens at nine."), of=[found], before="")
    lamps = sentence("Rule 7 forbids lamps.", (found, "Rule 7 forbids lamps."), of=[found])
    world.answers(found, script=[opens, lamps, done()])
    return world
