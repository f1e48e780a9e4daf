"""Fakes of the two services that answer questions: they play scripts."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field

from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.search import RetrieveRequest, SearchResponse
from services.shared.contracts.writing import (
    Decomposed,
    DecomposeRequest,
    SentenceWritten,
    WriteEvent,
    WriteRequest,
    WritingDone,
)
from tests.unit.gateway.messages import found


@dataclass
class FakeRetriever:
    response: SearchResponse = field(default_factory=lambda: found(gate="poor", answerable=0.0))
    error: RagstoneError | None = None
    later: list[SearchResponse] = field(default_factory=list)
    """What further calls find, one each; the last for ever."""
    calls: list[RetrieveRequest] = field(default_factory=list)
    hang: bool = False
    cancelled: bool = False

    async def retrieve(self, request: RetrieveRequest) -> SearchResponse:
        self.calls.append(request)
        if self.hang:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled = True
                raise
        if self.error is not None:
            raise self.error
        response = self.response
        if self.later:
            self.response = self.later.pop(0)
        return response


Step = WriteEvent | RagstoneError | Callable[[], None] | float


@dataclass
class FakeGenerator:
    """Plays its script: events are written, errors raised, functions called, numbers slept."""

    script: list[Step] = field(default_factory=list)
    calls: list[WriteRequest] = field(default_factory=list)
    closed: int = 0
    parts: Sequence[str] | RagstoneError | float = ()
    """The sub-questions that it finds, the error that it raises, or the seconds that it takes to find none."""
    taken_apart: list[DecomposeRequest] = field(default_factory=list)
    cancelled: int = 0

    async def decompose(self, request: DecomposeRequest) -> Decomposed:
        self.taken_apart.append(request)
        if isinstance(self.parts, RagstoneError):
            raise self.parts
        if isinstance(self.parts, float):
            try:
                await asyncio.sleep(self.parts)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return Decomposed(sub_questions=[], by="none", degraded=[])
        return Decomposed(sub_questions=list(self.parts), by="rule" if self.parts else "none", degraded=[])

    async def write(self, request: WriteRequest) -> AsyncGenerator[WriteEvent, None]:
        self.calls.append(request)
        try:
            for step in self.script:
                if isinstance(step, RagstoneError):
                    raise step
                if isinstance(step, float):
                    await asyncio.sleep(step)
                elif isinstance(step, SentenceWritten | WritingDone):
                    yield step
                else:
                    step()
        finally:
            self.closed += 1
