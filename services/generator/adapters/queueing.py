"""What every model server needs from its adapter: a short queue in front of it, and an eye on its silence."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError

BUSY_RETRY_S = 10

Part = TypeVar("Part")


class ModelQueue:
    """``parallel`` questions are with the model at once, ``waiting`` more wait for it, the rest are busy."""

    def __init__(self, *, parallel: int, waiting: int) -> None:
        self._slots = asyncio.Semaphore(parallel)
        self._room = parallel + waiting
        self._inside = 0

    @property
    def inside(self) -> int:
        """Questions that are with the model or wait for it."""
        return self._inside

    def check_room(self) -> None:
        """Raises RagstoneError(BUSY) when the queue is full."""
        if self._inside >= self._room:
            detail = f"{self._inside} questions are already with the model; ask again in a moment."
            raise RagstoneError(ErrorCode.BUSY, detail, retry_after_s=BUSY_RETRY_S)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Entered when the model is free for this question; raises RagstoneError(BUSY) when the queue is full."""
        self.check_room()
        self._inside += 1
        try:
            async with self._slots:
                yield
        finally:
            self._inside -= 1


async def paced(parts: AsyncGenerator[Part, None], *, first_s: float, next_s: float) -> AsyncGenerator[Part, None]:
    """The parts; raises TimeoutError when the first takes longer than ``first_s`` or another than ``next_s``.

    Only waiting for a part counts: what the reader does in between takes no time of the model's.
    """
    limit = first_s
    async with aclosing(parts):
        while True:
            try:
                async with asyncio.timeout(limit):
                    part = await anext(parts)
            except StopAsyncIteration:
                return
            yield part
            limit = next_s


async def joined(pieces: AsyncGenerator[Piece, None]) -> Piece:
    """The whole stream as its last piece; an empty one without ``end`` when there was nothing."""
    text, last = "", Piece("")
    async with aclosing(pieces):
        async for last in pieces:
            text += last.text
    return replace(last, text=text)
