"""Keeping an eye on the model's server: found, loaded, tried out, lost, and found again."""

import asyncio
from collections.abc import Callable

from services.generator.ports import Writer
from services.shared.contracts.health import PartHealth

START_WAIT_S = 1.5
"""Longest wait at the start for a model that may be loaded already; a cold one goes on loading in the background."""


class Lookout:
    """Looks every ``every_s`` seconds; whenever the server has come (back), the model is warmed up.

    Until that is done the writer is not ready, and answers come from the extractive one. ``told`` takes each new
    state.
    """

    def __init__(self, writer: Writer, *, every_s: float, told: Callable[[PartHealth], None]) -> None:
        self._writer = writer
        self._every_s = every_s
        self._told = told
        self._looking: asyncio.Task[None] | None = None
        self._first_look = asyncio.Event()

    async def begin(self) -> None:
        """Look, and go on looking in the background."""
        self._looking = asyncio.create_task(self._look_out())
        try:
            async with asyncio.timeout(START_WAIT_S):
                await self._first_look.wait()
        except TimeoutError:
            return

    async def end(self) -> None:
        """No more looks."""
        if self._looking:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def warm_up(self) -> PartHealth:
        """Have the model loaded now, as before a busy hour; what came of it."""
        await self._look(warm=True)
        return self._writer.state()

    async def _look_out(self) -> None:
        while True:
            await self._look(warm=False)
            self._first_look.set()
            await asyncio.sleep(self._every_s)

    async def _look(self, *, warm: bool) -> None:
        before = self._writer.state()
        await self._writer.probe()
        if self._writer.cold or (warm and self._writer.state().ready):
            await self._writer.warm_up()
        if (after := self._writer.state()) != before:
            self._told(after)
