"""How the whole system stands, looked at no more often than is good for it."""

import asyncio

from services.gateway.ports.answering import Clock
from services.gateway.ports.figures import FigureBook, Figures, Overview
from services.gateway.ports.parts import Parts
from services.shared.contracts.errors import RagstoneError

KEEP_S = 5.0
WAIT_S = 3.0
"""Longest wait for the catalog's numbers; without them there are none."""


class OverviewFlow:
    """Looks at most every ``KEEP_S`` seconds, however many ask; those who come meanwhile get the same look."""

    def __init__(self, *, parts: Parts, book: FigureBook, clock: Clock) -> None:
        self._parts = parts
        self._book = book
        self._clock = clock
        self._looking: asyncio.Task[Overview] | None = None
        self._at = 0.0

    async def now(self) -> Overview:
        """The last look, or a new one."""
        looking = self._looking
        if looking is None or (looking.done() and self._clock() - self._at >= KEEP_S):
            looking = self._looking = asyncio.create_task(self._look())
        return await asyncio.shield(looking)

    async def _look(self) -> Overview:
        parts, figures = await asyncio.gather(self._parts.look(), self._figures())
        self._at = self._clock()
        return Overview(parts, figures)

    async def _figures(self) -> Figures | None:
        try:
            async with asyncio.timeout(WAIT_S):
                return await self._book.figures()
        except (RagstoneError, TimeoutError):
            return None
