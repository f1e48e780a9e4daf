"""Ollama as writer, by its official client."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import httpx
import ollama

from services.generator.adapters.model_server import CONNECT_TIMEOUT_S, PROBE_TIMEOUT_S, REFUSALS, ModelServer
from services.generator.adapters.queueing import paced
from services.generator.adapters.server_state import ServerState
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece

_FAILURES = (
    ollama.ResponseError,
    ConnectionError,
    httpx.HTTPError,
    httpx.InvalidURL,
    ValueError,  # JSON that is none, or of another shape; pydantic's errors are ValueErrors
    TimeoutError,
    AttributeError,  # the client's own, on JSON that is no object
    TypeError,
)


class OllamaWriter(ModelServer):
    """Ollama's chat. ``wanted`` False: the server is only looked for, and that it is not there is no fault."""

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
        wanted: bool = True,
    ) -> None:
        super().__init__(
            failures=_FAILURES,
            state=ServerState(detail=f"Ollama at {host} was not looked at yet.", wanted=wanted),
            cold_timeout_s=cold_timeout_s,
            idle_timeout_s=idle_timeout_s,
            parallel=parallel,
            waiting=waiting,
        )
        self._host = host
        self._model = model
        self._keep_alive = keep_alive
        # The same in every call: another window would have Ollama load the model anew.
        self._options = {"num_ctx": num_ctx, "num_predict": num_predict, "temperature": temperature}
        self._window = (num_ctx, num_predict)
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

    async def probe(self) -> None:
        """Look whether the server answers and holds the model."""
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                await self._client.show(self._model)
        except _FAILURES as error:
            self._state.lost(self._why(error))
        else:
            self._state.found(f"{self._model} of Ollama at {self._host}")

    async def count_tokens(self, text: str) -> int | None:
        """None: Ollama has no door for it; the last piece of a stream tells its counts."""
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()  # type: ignore[no-untyped-call]

    async def _load(self) -> None:
        await self._client.chat(self._model, [], options=self._options, keep_alive=self._keep_alive)

    async def _pieces(
        self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int | None
    ) -> AsyncGenerator[Piece, None]:
        answered = await self._open(prompt, schema, max_tokens)
        parts = paced(answered, first_s=self._cold_timeout_s, next_s=self._idle_timeout_s)
        async with aclosing(parts):
            async for part in parts:
                if part.done:
                    yield _last(part)
                    return
                yield Piece(part.message.content or "")
        raise ConnectionError("the stream ended before the model was done")

    async def _open(
        self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int | None
    ) -> AsyncGenerator[ollama.ChatResponse, None]:
        parts = await self._client.chat(
            model=self._model,
            messages=prompt.messages(),
            stream=True,
            think=False,
            format=schema,
            options=self._options if max_tokens is None else {**self._options, "num_predict": max_tokens},
            keep_alive=self._keep_alive,
        )
        # The client declares an iterator and gives a generator, which can be closed.
        return cast("AsyncGenerator[ollama.ChatResponse, None]", parts)

    def _is_refusal(self, error: Exception) -> bool:
        return isinstance(error, ollama.ResponseError) and error.status_code in REFUSALS

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


def _last(part: ollama.ChatResponse) -> Piece:
    return Piece(
        part.message.content or "",
        "length" if part.done_reason == "length" else "stop",
        part.prompt_eval_count or 0,
        part.eval_count or 0,
    )
