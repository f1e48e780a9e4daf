"""What a writer behind a model's server is, whatever the server speaks: a queue, its state, its trial, its failures."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import httpx

from services.generator.adapters.queueing import BUSY_RETRY_S, ModelQueue, joined
from services.generator.adapters.server_state import ServerState
from services.generator.domain import trial
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import PartHealth
from services.shared.kit.tracing import span_apart

CONNECT_TIMEOUT_S = 3.0
PROBE_TIMEOUT_S = 5.0
REFUSALS = (400, 422, 501)
"""Statuses of a server that does not know what it was asked to do."""


class ModelServer(ABC):
    """Streams from one model; a question beyond ``parallel`` waits, one beyond ``waiting`` is busy.

    ``failures`` are whatever a call to the server may raise.
    """

    def __init__(
        self,
        *,
        failures: tuple[type[Exception], ...],
        state: ServerState,
        cold_timeout_s: float,
        idle_timeout_s: float,
        parallel: int,
        waiting: int,
    ) -> None:
        self._failures = failures
        self._state = state
        self._cold_timeout_s = cold_timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._queue = ModelQueue(parallel=parallel, waiting=waiting)

    @property
    def wanted(self) -> bool:
        """Whether the server was asked for or has been there before."""
        return self._state.wanted

    @property
    def cold(self) -> bool:
        """Whether the model is there but was not seen to work since."""
        return self._state.cold

    @property
    def obeys_schema(self) -> bool | None:
        """What the trial at the last warm-up saw."""
        return self._state.obeys_schema

    @property
    def questions(self) -> int:
        """Questions that are with the model or wait for it."""
        return self._queue.inside

    def state(self) -> PartHealth:
        """What the last look found."""
        return self._state.health()

    def check_room(self) -> None:
        """Raises RagstoneError(BUSY) when the queue is full."""
        self._queue.check_room()

    async def warm_up(self) -> None:
        """Load the model, and see whether replies keep to a schema."""
        self._state.loading()
        try:
            async with asyncio.timeout(self._cold_timeout_s):
                await self._load()
        except self._failures as error:
            self._state.not_loaded(self._why(error))
        else:
            self._state.loaded(obeys_schema=await self._tried())

    async def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """The model's words as they come; see the port."""
        async with self._queue.place(), aclosing(self._stream(prompt, None, None)) as pieces:
            async for piece in pieces:
                yield piece

    async def complete(self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int) -> Piece:
        """The whole reply; see the port. Read as a stream, so that a silence is noticed and leaving stops the model."""
        async with self._queue.place():
            return await joined(self._stream(prompt, schema, max_tokens))

    async def _stream(
        self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int | None
    ) -> AsyncGenerator[Piece, None]:
        """The pieces, every failure as a RagstoneError."""
        with span_apart("model", kind="client"):
            try:
                async with aclosing(self._pieces(prompt, schema, max_tokens)) as pieces:
                    async for piece in pieces:
                        yield piece
            except self._failures as error:
                if isinstance(error, ConnectionError | httpx.TransportError):
                    self._state.broke_off()
                why = self._why(error)
                raise RagstoneError(ErrorCode.WRITER_UNAVAILABLE, why, retry_after_s=BUSY_RETRY_S) from error

    async def _tried(self) -> bool | None:
        """Whether a reply keeps to its schema; None when there was no reply. Past the queue: nobody asks yet."""
        try:
            async with asyncio.timeout(self._idle_timeout_s):
                return trial.obeyed((await joined(self._pieces(trial.PROMPT, trial.SCHEMA, trial.MAX_TOKENS))).text)
        except self._failures as error:
            return False if self._is_refusal(error) else None

    @abstractmethod
    async def _load(self) -> None:
        """Have the server load the model."""

    @abstractmethod
    def _pieces(
        self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int | None
    ) -> AsyncGenerator[Piece, None]:
        """The pieces up to the one that ends the text, with its counts; raises ConnectionError when there is none."""

    @abstractmethod
    def _why(self, error: BaseException) -> str:
        """What failed and what to do, for one of the failures."""

    @abstractmethod
    def _is_refusal(self, error: Exception) -> bool:
        """Whether the server said that it does not do what it was asked."""
