"""Calls are shared out among a service's replicas, and one that is gone costs no answer."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence

import httpx
import pytest

from services.shared.kit.replicas import FRESH_S, SHUN_S, Replicas

ONE, TWO = "10.0.0.4", "10.0.0.9"


class Wire(httpx.AsyncBaseTransport):
    """What the replicas do, by address; an error is raised, and what is no error is answered."""

    def __init__(self) -> None:
        self.trouble: dict[str, Callable[[], Exception]] = {}
        self.asked: list[str] = []
        self.bodies: list[bytes] = []
        self.hosts: set[str] = set()
        self.hold: asyncio.Event | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        address = request.url.host
        self.asked.append(address)
        self.hosts.add(request.headers["Host"])
        assert isinstance(request.stream, httpx.AsyncByteStream)
        self.bodies.append(b"".join([piece async for piece in request.stream]))
        if address in self.trouble:
            raise self.trouble[address]()
        if self.hold is not None and address == ONE:
            await self.hold.wait()
        return httpx.Response(200, stream=Said())


class Said(httpx.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"said"


class Names:
    """Who answers to a name, and how often that was looked up."""

    def __init__(self, *addresses: str) -> None:
        self.addresses: Sequence[str] = addresses
        self.looks = 0
        self.now = 100.0

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        assert (host, port) == ("retriever", 8002)
        self.looks += 1
        if not self.addresses:
            raise OSError("no such name")
        return self.addresses


def client(wire: Wire, names: Names) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=Replicas(wire, names.resolve, lambda: names.now), base_url="http://retriever:8002"
    )


async def test_calls_one_after_the_other_are_shared_out_evenly() -> None:
    wire, names = Wire(), Names(ONE, TWO)
    async with client(wire, names) as asking:
        for _ in range(10):
            assert (await asking.post("/retrieve", content=b"{}")).text == "said"
    assert Counter(wire.asked) == {ONE: 5, TWO: 5}
    assert wire.hosts == {"retriever:8002"}, "virtual hosts are found by the name"
    assert names.looks == 1


async def test_a_slow_replica_gets_no_more_while_the_other_is_free() -> None:
    wire, names = Wire(), Names(ONE, TWO)
    wire.hold = asyncio.Event()
    async with client(wire, names) as asking:
        slow = asyncio.create_task(asking.post("/retrieve"))
        await asyncio.sleep(0)
        for _ in range(6):
            await asking.post("/retrieve")
        assert Counter(wire.asked) == {ONE: 1, TWO: 6}
        wire.hold.set()
        await slow
        wire.asked.clear()
        for _ in range(6):
            await asking.post("/retrieve")
    assert set(wire.asked) == {ONE, TWO}, "it is asked again once it has answered"


@pytest.mark.parametrize(
    "error", [httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.RemoteProtocolError]
)
async def test_the_loss_of_one_costs_no_answer(error: type[httpx.TransportError]) -> None:
    wire, names = Wire(), Names(ONE, TWO)
    wire.trouble[ONE] = lambda: error("gone")
    async with client(wire, names) as asking:
        for _ in range(4):
            assert (await asking.post("/retrieve", content=b"whole")).status_code == 200
        assert Counter(wire.asked)[ONE] == 1, "it is left alone for a while"
        assert set(wire.bodies) == {b"whole"}
        names.now += SHUN_S
        del wire.trouble[ONE]
        for _ in range(4):
            await asking.post("/retrieve")
    assert Counter(wire.asked)[ONE] > 1


async def test_a_connection_that_breaks_is_tried_once_more_at_the_only_address() -> None:
    wire, names = Wire(), Names(ONE)
    first = iter([True])

    def breaks_once() -> Exception:
        if not next(first, False):
            wire.trouble.clear()
        return httpx.ReadError("reset")

    wire.trouble[ONE] = breaks_once
    async with client(wire, names) as asking:
        with pytest.raises(httpx.ReadError):
            await asking.post("/retrieve")
        assert wire.asked == [ONE, ONE]
        assert (await asking.post("/retrieve")).status_code == 200


async def test_nobody_waits_twice_for_one_that_does_not_answer() -> None:
    wire, names = Wire(), Names(ONE, TWO)
    wire.trouble = {ONE: lambda: httpx.ReadTimeout("slow"), TWO: lambda: httpx.ReadTimeout("slow")}
    async with client(wire, names) as asking:
        with pytest.raises(httpx.ReadTimeout):
            await asking.post("/retrieve")
    assert len(wire.asked) == 1


async def test_new_replicas_are_found_and_a_name_that_is_gone_is_no_connection() -> None:
    wire, names = Wire(), Names(ONE)
    async with client(wire, names) as asking:
        await asking.post("/retrieve")
        names.addresses = (ONE, TWO)
        names.now += FRESH_S
        for _ in range(4):
            await asking.post("/retrieve")
        assert TWO in wire.asked
        names.addresses = ()
        names.now += FRESH_S
        with pytest.raises(httpx.ConnectError, match="retriever was not found"):
            await asking.post("/retrieve")


async def test_an_address_is_asked_as_it_is() -> None:
    wire, names = Wire(), Names()
    async with client(wire, names) as asking:
        assert (await asking.post("http://127.0.0.1:8002/retrieve")).status_code == 200
    assert (wire.asked, names.looks) == (["127.0.0.1"], 0)
