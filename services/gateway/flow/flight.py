"""One answering that several listen to, each from its beginning."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from services.gateway.flow.ask import AskEvent
from services.shared.contracts.answers import Answer
from services.shared.contracts.errors import RagstoneError


class Flight:
    """Runs the events in a task of its own, for as long as anybody listens or until the answer is there.

    What comes after the Answer is nobody's to hear, and runs to its end.
    """

    def __init__(self, events: AsyncGenerator[AskEvent, None]) -> None:
        self._heard: list[AskEvent] = []
        self._failure: Exception | None = None
        self._over = False
        self._news = asyncio.Event()
        self._listeners = 0
        self.abandoned = False
        """The last listener left before the answer was there: nobody can join any more."""
        self.task = asyncio.create_task(self._run(events))

    async def listen(self) -> AsyncGenerator[AskEvent, None]:
        """All events up to the Answer. Raises what the run raised; the last one to close this stops the run."""
        self._listeners += 1
        told = 0
        try:
            while True:
                while told < len(self._heard):
                    event = self._heard[told]
                    told += 1
                    yield event
                    if isinstance(event, Answer):
                        return
                if self._over:
                    raise _again(self._failure)
                await self._news.wait()
        finally:
            self._listeners -= 1
            if not self._listeners and not self._over and not self._answered:
                self.abandoned = True
                self.task.cancel()

    @property
    def _answered(self) -> bool:
        return bool(self._heard) and isinstance(self._heard[-1], Answer)

    async def _run(self, events: AsyncGenerator[AskEvent, None]) -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    self._heard.append(event)
                    self._tell()
        except Exception as error:  # for whoever listens; the flight itself has nobody to raise it to
            self._failure = error
        finally:
            self._over = True
            self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def _again(failure: Exception | None) -> Exception:
    """The failure for one more listener: an exception raised twice would carry both their tracebacks."""
    if isinstance(failure, RagstoneError):
        return RagstoneError(failure.code, failure.detail, retry_after_s=failure.retry_after_s)
    return failure or RuntimeError("the answering was stopped before its end")
