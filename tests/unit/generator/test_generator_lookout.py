"""Keeping an eye on the model's server."""

import asyncio

import pytest

from services.generator.flow import lookout as lookout_module
from services.generator.flow.lookout import Lookout
from services.shared.contracts.health import PartHealth
from tests.unit.generator.fakes import FakeWriter


class Server(FakeWriter):
    """A writer whose server comes and goes; ``log`` holds what was done to it."""

    def __init__(self) -> None:
        super().__init__()
        self.there = False
        self.warm = False
        self.load_s = 0.0
        self.log: list[str] = []
        self._seen = False

    @property
    def cold(self) -> bool:  # type: ignore[override]
        """There, and not loaded."""
        return self._seen and not self.warm

    def state(self) -> PartHealth:
        """As last seen."""
        return PartHealth(ready=self._seen and self.warm, detail=f"{self._seen}, {self.warm}")

    async def probe(self) -> None:
        """Look."""
        self.log.append("probe")
        self._seen = self.there
        self.warm = self.warm and self.there

    async def warm_up(self) -> None:
        """Load."""
        self.log.append("warm up")
        await asyncio.sleep(self.load_s)
        self.warm = True


async def test_a_server_is_warmed_up_once_each_time_it_comes() -> None:
    server, told = Server(), list[PartHealth]()
    lookout = Lookout(server, every_s=0.01, told=told.append)
    await lookout.begin()
    assert server.log == ["probe"]
    for there in (True, False, True):
        server.there = there
        await asyncio.sleep(0.1)
    await lookout.end()
    assert server.log.count("warm up") == 2
    assert [state.ready for state in told] == [True, False, True]
    looks = len(server.log)
    await asyncio.sleep(0.05)
    assert len(server.log) == looks


async def test_the_start_waits_for_a_warm_model_but_not_for_a_cold_one(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    server.there, server.load_s = True, 0.05
    lookout = Lookout(server, every_s=60, told=lambda _: None)
    await lookout.begin()
    assert server.state().ready
    await lookout.end()
    monkeypatch.setattr(lookout_module, "START_WAIT_S", 0.1)
    cold = Server()
    cold.there, cold.load_s = True, 60
    began = asyncio.get_running_loop().time()
    lookout = Lookout(cold, every_s=60, told=lambda _: None)
    await lookout.begin()
    assert asyncio.get_running_loop().time() - began < 1
    assert not cold.state().ready
    await lookout.end()


async def test_a_warm_up_on_demand_loads_again_and_leaves_an_absent_server_alone() -> None:
    server = Server()
    lookout = Lookout(server, every_s=60, told=lambda _: None)
    assert not (await lookout.warm_up()).ready
    assert "warm up" not in server.log
    server.there = True
    assert (await lookout.warm_up()).ready
    assert (await lookout.warm_up()).ready
    assert server.log.count("warm up") == 2
