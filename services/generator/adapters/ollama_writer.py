"""Ollama as writer, by its official client."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import httpx
import ollama
from pydantic import ValidationError

from services.generator.adapters.queueing import BUSY_RETRY_S, ModelQueue, paced
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import PartHealth

CONNECT_TIMEOUT_S = 3.0
PROBE_TIMEOUT_S = 5.0

_FAILURES = (
    ollama.ResponseError,
    ConnectionError,
    httpx.HTTPError,
    httpx.InvalidURL,
    json.JSONDecodeError,
    ValidationError,
    TimeoutError,
    AttributeError,  # the client's own, on a line that is JSON but no object
)


class OllamaWriter:
    """Streams from one model; a question beyond ``parallel`` waits, one beyond ``waiting`` is busy."""

    kind = "ollama"

    def __init__(
        self,
        *,
        host: str,
        model: str,
        num_ctx: int,
        num_predict: int,
        temperature: float,
        keep_alive: str,
        cold_timeout_s: float,
        idle_timeout_s: float,
        parallel: int,
        waiting: int,
    ) -> None:
        self._host = host
        self._model = model
        self._keep_alive = keep_alive
        self._options = {"num_ctx": num_ctx, "num_predict": num_predict, "temperature": temperature}
        self._window = (num_ctx, num_predict)
        self._cold_timeout_s = cold_timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._queue = ModelQueue(parallel=parallel, waiting=waiting)
        self._state = PartHealth(ready=False, detail=f"Ollama at {host} was not looked at yet.")
        # Silence is timed by paced(): the first words may wait for a model load.
        timeout = httpx.Timeout(None, connect=CONNECT_TIMEOUT_S)
        self._client = ollama.AsyncClient(host=host, timeout=timeout, trust_env=False)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def window(self) -> tuple[int, int]:
        """num_ctx and num_predict."""
        return self._window

    def state(self) -> PartHealth:
        """What the last look found."""
        return self._state

    def check_room(self) -> None:
        """Raises RagstoneError(BUSY) when the queue is full."""
        self._queue.check_room()

    async def probe(self) -> None:
        """Look whether the server answers and holds the model."""
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                await self._client.show(self._model)
            self._state = PartHealth(ready=True, detail=f"{self._model} of Ollama at {self._host}")
        except _FAILURES as error:
            self._state = PartHealth(ready=False, detail=self._why(error))

    async def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """The model's words as they come; see the port."""
        async with self._queue.place(), aclosing(self._stream(prompt)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()  # type: ignore[no-untyped-call]

    async def _stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        try:
            answered = await self._open(prompt)
            parts = paced(answered, first_s=self._cold_timeout_s, next_s=self._idle_timeout_s)
            async with aclosing(parts):
                async for part in parts:
                    if part.done:
                        yield Piece(part.message.content or "", "length" if part.done_reason == "length" else "stop")
                        return
                    yield Piece(part.message.content or "")
            raise ConnectionError("the stream ended before the model was done")
        except _FAILURES as error:
            raise RagstoneError(ErrorCode.WRITER_UNAVAILABLE, self._why(error), retry_after_s=BUSY_RETRY_S) from error

    async def _open(self, prompt: Prompt) -> AsyncGenerator[ollama.ChatResponse, None]:
        parts = await self._client.chat(
            model=self._model,
            messages=prompt.messages(),
            stream=True,
            think=False,
            options=self._options,
            keep_alive=self._keep_alive,
        )
        # The client declares an iterator and gives a generator, which can be closed.
        return cast("AsyncGenerator[ollama.ChatResponse, None]", parts)

    def _why(self, error: BaseException) -> str:
        if isinstance(error, ollama.ResponseError) and error.status_code == 404:
            return f"Ollama at {self._host} has no model {self._model}; run `ollama pull {self._model}`."
        if isinstance(error, ollama.ResponseError):
            return f"Ollama at {self._host} failed: {error.error[:300]}"
        if isinstance(error, TimeoutError | httpx.TimeoutException):
            return f"Ollama at {self._host} did not answer in time."
        if isinstance(error, ConnectionError | httpx.TransportError):
            return f"Ollama at {self._host} cannot be reached or broke off ({type(error).__name__}); is it running?"
        return f"Ollama at {self._host} answered in a form that its client does not know ({type(error).__name__})."
