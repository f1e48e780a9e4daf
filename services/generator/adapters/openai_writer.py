"""Any server of OpenAI's chat API as writer, by httpx: llama.cpp, vLLM, Ollama's /v1 and their like."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import httpx

from services.generator.adapters.model_server import CONNECT_TIMEOUT_S, PROBE_TIMEOUT_S, REFUSALS, ModelServer
from services.generator.adapters.openai_errors import FAILURES, Refused, why
from services.generator.adapters.openai_wire import EventLines, ServedModel, count_of, models_of, piece_of
from services.generator.adapters.queueing import joined, paced
from services.generator.adapters.server_state import ServerState
from services.generator.domain import trial
from services.generator.domain.prompt import Prompt
from services.generator.ports import Piece

COUNT_TIMEOUT_S = 2.0
COUNTS_BEHIND_S = 0.5
"""Longest wait, after the last word, for a server that tells its counts in an event of their own."""

_OPTIONAL: dict[str, Any] = {
    "chat_template_kwargs": {"enable_thinking": False},
    "stream_options": {"include_usage": True},
}
"""No thinking (llama.cpp and vLLM take it, Ollama passes over it), and counts; a server that refuses one of them is
asked without it from then on."""


class OpenAIWriter(ModelServer):
    """OpenAI's chat API.

    ``model`` None is the first model that the server names. The window is ``num_ctx``, or the server's own where that
    is smaller and the server tells it.
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
        super().__init__(
            failures=FAILURES,
            state=ServerState(detail=f"The model server at {self._url} was not looked at yet.", wanted=True),
            cold_timeout_s=cold_timeout_s,
            idle_timeout_s=idle_timeout_s,
            parallel=parallel,
            waiting=waiting,
        )
        self._wanted_model = model
        self._served: ServedModel | None = None
        self._num_ctx = num_ctx
        self._num_predict = num_predict
        self._temperature = temperature
        self._optional = dict(_OPTIONAL)
        self._counts_texts = True
        # Silence is timed by paced(): the first words may wait for a model load or a long prompt.
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            trust_env=False,
        )

    @property
    def name(self) -> str:
        """The model's id."""
        return self._served.id if self._served else self._wanted_model or "unknown"

    @property
    def window(self) -> tuple[int, int]:
        """The smaller of num_ctx and the server's window, and num_predict."""
        told = self._served.window if self._served else None
        return (min(self._num_ctx, told) if told else self._num_ctx, self._num_predict)

    async def probe(self) -> None:
        """Look whether the server answers and which model it holds."""
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                response = await self._client.get(f"{self._url}/v1/models")
            if response.status_code != 200:
                raise Refused(response.status_code, response.text)
            models = models_of(response.content)
        except FAILURES as error:
            self._state.lost(self._why(error))
            return
        wanted = self._wanted_model
        self._served = next((one for one in models if wanted is None or one.is_called(wanted)), None)
        if self._served:
            self._state.found(f"{self._served.id} at {self._url}")
        else:
            named = ", ".join(one.id for one in models[:10]) or "none"
            which = wanted or "that could be used"
            self._state.lost(
                f"The server at {self._url} has no model {which}; it names {named}. See RAGSTONE_OPENAI_MODEL."
            )

    async def count_tokens(self, text: str) -> int | None:
        """By ``/tokenize``, which llama.cpp and vLLM have; a server that does not answer there is left alone."""
        if not (self._counts_texts and self._state.health().ready):
            return None
        body = {"content": text, "add_special": False, "model": self.name, "prompt": text, "add_special_tokens": False}
        try:
            async with asyncio.timeout(COUNT_TIMEOUT_S):
                response = await self._client.post(f"{self._url}/tokenize", json=body)
        except FAILURES:
            return None
        count = count_of(response.content) if response.status_code == 200 else None
        self._counts_texts = count is not None
        return count

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _load(self) -> None:
        """Have one word written, which loads a model that is not yet."""
        self._counts_texts = True
        await joined(self._pieces(trial.PROMPT, None, 1))

    async def _pieces(
        self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int | None
    ) -> AsyncGenerator[Piece, None]:
        """The pieces up to the one that ends the text, with its counts."""
        body = self._body(prompt, schema, max_tokens)
        stream = paced(self._received(body), first_s=self._cold_timeout_s, next_s=self._idle_timeout_s)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                if piece.end:
                    yield piece if piece.answer_tokens else await _counted(piece, pieces)
                    return
                yield piece
        raise ConnectionError("the stream ended before the model was done")

    async def _received(self, body: dict[str, Any]) -> AsyncGenerator[Piece, None]:
        """What one request brings; when the server does not know one of the optional fields, what a second does."""
        url = f"{self._url}/v1/chat/completions"
        while True:
            async with self._client.stream("POST", url, json={**body, **self._optional}) as response:
                if response.status_code == 200:
                    lines = EventLines()
                    async for received in response.aiter_bytes():
                        for data in lines.feed(received):
                            if piece := piece_of(data):
                                yield piece
                    return
                told = (await response.aread()).decode(errors="replace")
            unknown = [name for name in self._optional if name in told]
            if not (unknown and response.status_code in REFUSALS):
                raise Refused(response.status_code, told)
            for name in unknown:
                self._optional.pop(name, None)

    def _body(self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int | None) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": prompt.messages(),
            "stream": True,
            "temperature": self._temperature,
            "max_tokens": max_tokens or self._num_predict,
        }
        if schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
        return body

    def _is_refusal(self, error: Exception) -> bool:
        return isinstance(error, Refused) and error.status in REFUSALS

    def _why(self, error: BaseException) -> str:
        return why(error, url=self._url, model=self.name)


async def _counted(last: Piece, behind: AsyncGenerator[Piece, None]) -> Piece:
    """The last piece with the counts that follow it, if they do so at once."""
    try:
        async with asyncio.timeout(COUNTS_BEHIND_S):
            async for piece in behind:
                if piece.answer_tokens:
                    return replace(last, prompt_tokens=piece.prompt_tokens, answer_tokens=piece.answer_tokens)
    except FAILURES:
        pass  # the text is whole; only its counts are missing
    return last
