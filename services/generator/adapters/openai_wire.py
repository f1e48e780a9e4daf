"""OpenAI's chat stream as compatible servers speak it: lines of bytes in, pieces of text out. No connection here."""

import json
from typing import Any, Literal

from pydantic import BaseModel, Field

from services.generator.ports import Piece

_MOST_TOLD = 300


class StreamError(Exception):
    """The server says inside the stream that it failed; the text is its own."""


class EventLines:
    """Cuts a server-sent stream into the data of its events.

    At line feeds only: JSON may hold U+2028 and its like as they are, where ``str.splitlines`` would cut.
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[str]:
        """Data of the lines that ``piece`` completed; comments, which keep a connection alive, are none.

        Raises StreamError at the field ``error``, llama.cpp's former way to break off.
        """
        *whole, self._rest = (self._rest + piece).split(b"\n")
        found = []
        for line in whole:
            field, _, value = line.decode(errors="replace").rstrip("\r").partition(":")
            if field == "error":
                raise StreamError(error_text(value))
            if field == "data" and value.strip():
                found.append(value.strip())
        return found


class _Delta(BaseModel):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(BaseModel):
    delta: _Delta = Field(default_factory=_Delta)
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Timings(BaseModel):
    """llama.cpp's own counts, on the event that ends the text."""

    cache_n: int = 0
    prompt_n: int = 0
    predicted_n: int = 0


class _Chunk(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None
    timings: _Timings | None = None

    @property
    def counts(self) -> tuple[int, int]:
        """Tokens read and written so far, 0 where the event does not say."""
        if self.usage:
            return self.usage.prompt_tokens, self.usage.completion_tokens
        if self.timings:
            return self.timings.cache_n + self.timings.prompt_n, self.timings.predicted_n
        return 0, 0


def piece_of(data: str) -> Piece | None:
    """What one event adds, or None for nothing (roles). Thoughts that come apart are an empty piece.

    Most servers send their counts in an event of their own behind the end: an empty piece with counts and no end.

    Raises StreamError when the event is an error, ValueError (pydantic's is one) when it is nothing known.
    """
    if data == "[DONE]":
        return None
    event = json.loads(data)
    if isinstance(event, dict) and (event.get("error") or event.get("object") == "error"):
        raise StreamError(error_text(data))
    chunk = _Chunk.model_validate(event)
    if not chunk.choices:
        return Piece("", None, *chunk.counts) if any(chunk.counts) else None
    choice = chunk.choices[0]
    if choice.finish_reason:
        ending: Literal["stop", "length"] = "length" if choice.finish_reason == "length" else "stop"
        return Piece(choice.delta.content or "", ending, *chunk.counts)
    if choice.delta.content or choice.delta.reasoning_content or choice.delta.reasoning:
        return Piece(choice.delta.content or "")
    return None


def error_text(body: str) -> str:
    """What an error's body says, in whichever of the known shapes, cut to a readable length."""
    try:
        told: Any = json.loads(body)
    except ValueError:
        return " ".join(body.split())[:_MOST_TOLD]
    for key in ("error", "message", "detail"):
        if isinstance(told, dict) and told.get(key):
            told = told[key]
    return (told if isinstance(told, str) else json.dumps(told))[:_MOST_TOLD]


def error_type(body: str) -> str:
    """The error's type or code as the server names it, such as exceed_context_size_error, or nothing."""
    try:
        error = json.loads(body)["error"]
        return f"{error.get('type') or ''} {error.get('code') or ''}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


class _Meta(BaseModel):
    n_ctx: int | None = None


class ServedModel(BaseModel):
    """A model as ``/v1/models`` lists it; llama.cpp and vLLM tell its window, each in its own place."""

    id: str
    aliases: list[str] = []
    max_model_len: int | None = None
    meta: _Meta | None = None

    @property
    def window(self) -> int | None:
        """Tokens that prompt and answer share, where the server tells."""
        return self.max_model_len or (self.meta.n_ctx if self.meta else None)

    def is_called(self, name: str) -> bool:
        """Whether ``name`` means this model; Ollama leaves out the tag "latest"."""
        return name in (self.id, *self.aliases) or f"{name}:latest" == self.id


class _Models(BaseModel):
    data: list[ServedModel]


def models_of(body: bytes) -> list[ServedModel]:
    """The models that a server lists. Raises ValueError when the body is no such list."""
    return _Models.model_validate_json(body).data


class _Counted(BaseModel):
    """llama.cpp lists the tokens, vLLM also counts them."""

    count: int | None = None
    tokens: list[Any] | None = None


def count_of(body: bytes) -> int | None:
    """How many tokens a reply of ``/tokenize`` holds; None when it says nothing of the kind."""
    try:
        told = _Counted.model_validate_json(body)
    except ValueError:
        return None
    return len(told.tokens) if told.count is None and told.tokens is not None else told.count
