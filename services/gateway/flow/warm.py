"""The story of a warm-up: every service that has models loads them, once for all who ask."""

import asyncio
from collections.abc import Mapping

from services.gateway.ports.answering import Clock
from services.gateway.ports.warming import Warmed
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.health import PartHealth, Warmth

EVERY_S = 30.0
"""Who asks again sooner is told how the last one ended: a model that is loaded stays so for longer."""

LOADING = PartHealth(ready=False, detail="loading; ask again, or look at /readyz")


class WarmFlow:
    """One warm-up at a time, and none within ``EVERY_S`` of the last one's beginning."""

    def __init__(self, parts: Mapping[str, Warmed], clock: Clock) -> None:
        self._parts = parts
        self._clock = clock
        self._began = 0.0
        self._warming: dict[str, asyncio.Task[PartHealth]] = {}

    async def warm_up(self, wait_s: float) -> tuple[Warmth, bool]:
        """Begin, or join; how each part stands when all have ended, or after ``wait_s``, and whether all have."""
        under_way = [one for one in self._warming.values() if not one.done()]
        if not under_way and (not self._warming or self._clock() - self._began >= EVERY_S):
            self._began = self._clock()
            self._warming = {name: asyncio.create_task(_warmed(part)) for name, part in self._parts.items()}
        if wait_s > 0:
            await asyncio.wait(self._warming.values(), timeout=wait_s)
        found = {name: one.result() if one.done() else LOADING for name, one in self._warming.items()}
        return Warmth(parts=found), all(one.done() for one in self._warming.values())


async def _warmed(part: Warmed) -> PartHealth:
    try:
        return await part.warm_up()
    except RagstoneError as error:
        return PartHealth(ready=False, detail=error.detail)
