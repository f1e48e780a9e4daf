"""How the other services answer at the moment: asked for now and then, while anybody asks."""

import asyncio
import math
import time
from collections.abc import Callable

from services.gateway.domain.given import Ways
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ways import TuningInUse, WriterInUse
from services.shared.kit.http_client import ServiceClient

KNOWN_S = 5.0
"""So long what they said is taken as it is; then they are asked again."""
BESIDE_S = 15.0
"""So long it is still taken while they are asked beside the question; later the question waits for their word."""
WAIT_S = 0.5
"""Longest wait of a question; then nothing is known."""


class HttpWays:
    """Remembers their last word, also that there was none."""

    def __init__(
        self, retriever: ServiceClient, generator: ServiceClient, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._retriever = retriever
        self._generator = generator
        self._clock = clock
        self._known: Ways | None = None
        self._at = -math.inf
        self._asking: asyncio.Task[None] | None = None

    async def now(self) -> Ways | None:
        """What they said last, or say now."""
        age = self._clock() - self._at
        if age >= KNOWN_S and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._ask())
        if age >= BESIDE_S and self._asking is not None:
            await asyncio.wait({self._asking}, timeout=WAIT_S)
            if not self._asking.done():
                return None
        return self._known

    async def _ask(self) -> None:
        try:
            async with asyncio.timeout(KNOWN_S):
                tuning, writer = await asyncio.gather(
                    self._retriever.get("/tuning", TuningInUse), self._generator.get("/writer", WriterInUse)
                )
            self._known = Ways(writer.model, writer.settings, tuning.settings)
        except (RagstoneError, TimeoutError):
            self._known = None
        self._at = self._clock()
