"""Any server of OpenAI's chat API as writer, by httpx: llama.cpp, vLLM, Ollama's /v1 and their like."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import httpx

from services.generator.adapters.openai_wire import (
    EventLines,
    ServedModel,
    StreamError,
    error_text,
    error_type,
    models_of,
    piece_of,
)
from services.generator.adapters.queueing import BUSY_RETRY_S, ModelQueue, paced
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import PartHealth

CONNECT_TIMEOUT_S = 3.0
PROBE_TIMEOUT_S = 5.0

_NO_THINKING = "chat_template_kwargs"
"""llama.cpp and vLLM take it, Ollama passes over it; a server that refuses it is asked without."""


class _Refused(Exception):
    """The server answered with an error status."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}")
        self.status = status
        self.body = body


_FAILURES = (
    _Refused,
    StreamError,
    ConnectionError,
    httpx.HTTPError,
    httpx.InvalidURL,
    ValueError,  # JSON that is none, or of another shape; pydantic's errors are ValueErrors
    TimeoutError,
)


class OpenAIWriter:
    """Streams from one model; a question beyond ``parallel`` waits, one beyond ``waiting`` is busy.

    ``model`` None is the first model that the server names. The window is ``num_ctx``, or the server's own where
    that is smaller and the server tells it.
    """

    kind = "openai"

    def __init__(
        self,
        *,
        url: str,
        model: str | None,
        api_key: str | None,
        num_ctx: int,
        num_predict: int,
        temperature: float,
        cold_timeout_s: float,
        idle_timeout_s: float,
        parallel: int,
        waiting: int,
    ) -> None:
        self._url = url.rstrip("/").removesuffix("/v1")
        self._wanted = model
        self._served: ServedModel | None = None
        self._num_ctx = num_ctx
        self._num_predict = num_predict
        self._temperature = temperature
        self._cold_timeout_s = cold_timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._queue = ModelQueue(parallel=parallel, waiting=waiting)
        self._takes_no_thinking = True
        self._state = PartHealth(ready=False, detail=f"The model server at {self._url} was not looked at yet.")
        # Silence is timed by paced(): the first words may wait for a model load or a long prompt.
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            trust_env=False,
        )

    @property
    def name(self) -> str:
        """The model's id."""
        return self._served.id if self._served else self._wanted or "unknown"

    @property
    def window(self) -> tuple[int, int]:
        """The smaller of num_ctx and the server's window, and num_predict."""
        told = self._served.window if self._served else None
        return (min(self._num_ctx, told) if told else self._num_ctx, self._num_predict)

    def state(self) -> PartHealth:
        """What the last look found."""
        return self._state

    def check_room(self) -> None:
        """Raises RagstoneError(BUSY) when the queue is full."""
        self._queue.check_room()

    async def probe(self) -> None:
        """Look whether the server answers and which model it holds."""
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                response = await self._client.get(f"{self._url}/v1/models")
            if response.status_code != 200:
                raise _Refused(response.status_code, response.text)
            models = models_of(response.content)
        except _FAILURES as error:
            self._state = PartHealth(ready=False, detail=self._why(error))
            return
        self._served = next((one for one in models if self._wanted is None or one.is_called(self._wanted)), None)
        if self._served:
            self._state = PartHealth(ready=True, detail=f"{self._served.id} at {self._url}")
        else:
            named = ", ".join(one.id for one in models[:10]) or "none"
            wanted = self._wanted or "that could be used"
            detail = f"The server at {self._url} has no model {wanted}; it names {named}. See RAGSTONE_OPENAI_MODEL."
            self._state = PartHealth(ready=False, detail=detail)

    async def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """The model's words as they come; see the port."""
        async with self._queue.place():
            stream = paced(self._stream(prompt), first_s=self._cold_timeout_s, next_s=self._idle_timeout_s)
            try:
                async with aclosing(stream) as pieces:
                    async for piece in pieces:
                        yield piece
                        if piece.end:
                            return
                raise ConnectionError("the stream ended before the model was done")
            except _FAILURES as error:
                why = self._why(error)
                raise RagstoneError(ErrorCode.WRITER_UNAVAILABLE, why, retry_after_s=BUSY_RETRY_S) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """The pieces of one request; when the server does not know how to switch thinking off, of a second."""
        url = f"{self._url}/v1/chat/completions"
        while True:
            async with self._client.stream("POST", url, json=self._body(prompt)) as response:
                if response.status_code == 200:
                    lines = EventLines()
                    async for received in response.aiter_bytes():
                        for data in lines.feed(received):
                            if piece := piece_of(data):
                                yield piece
                    return
                body = (await response.aread()).decode(errors="replace")
            if not (self._takes_no_thinking and response.status_code in (400, 422) and _NO_THINKING in body):
                raise _Refused(response.status_code, body)
            self._takes_no_thinking = False

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": prompt.messages(),
            "stream": True,
            "temperature": self._temperature,
            "max_tokens": self._num_predict,
        }
        if self._takes_no_thinking:
            body[_NO_THINKING] = {"enable_thinking": False}
        return body

    def _why(self, error: BaseException) -> str:
        where = f"The model server at {self._url}"
        if isinstance(error, _Refused):
            return f"{where} {self._refusal(error)}"
        if isinstance(error, StreamError):
            return f"{where} failed: {error}"
        if isinstance(error, TimeoutError | httpx.TimeoutException):
            return f"{where} did not answer in time."
        if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
            return f"{where} has no valid address; RAGSTONE_OPENAI_URL is such as http://127.0.0.1:8080."
        if isinstance(error, ConnectionError | httpx.TransportError):
            return f"{where} cannot be reached or broke off ({type(error).__name__}); is it running?"
        return f"{where} answered in a form that is not OpenAI's ({type(error).__name__})."

    def _refusal(self, error: _Refused) -> str:
        if error.status in (401, 403):
            return f"wants another key ({error.status}); set RAGSTONE_OPENAI_API_KEY."
        if "exceed_context" in error_type(error.body) or "context_length" in error_type(error.body):
            told = error_text(error.body)
            return f"has a smaller window than the prompt: {told}. Lower RAGSTONE_NUM_CTX or raise the server's."
        if error.status == 404:
            return f"knows no model {self.name} or no chat API: {error_text(error.body)}"
        return f"failed ({error.status}): {error_text(error.body)}"
