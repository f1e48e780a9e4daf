"""The OpenAI-compatible door's messages: what chat clients send, and what they expect back.

Named and shaped as OpenAI's API reference says (Chat Completions, Models), so that their clients work unchanged.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from services.shared.contracts.answers import AnswerReason, AnswerStatus, Citation
from services.shared.contracts.base import Response
from services.shared.contracts.search import Filters

MODEL = "ragstone"
"""The one model that there is."""


def _is_none(value: object) -> bool:
    return value is None


class _Tolerant(BaseModel):
    """Clients send many parameters that steer a language model; those that mean nothing here are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ContentPart(_Tolerant):
    """A piece of a message; only pieces of type ``text`` are read."""

    type: str
    text: str | None = None


class ChatMessage(_Tolerant):
    role: str = Field(description="user and assistant make the conversation; system and others are not followed")
    content: str | list[ContentPart] | None = None


class StreamOptions(_Tolerant):
    include_usage: bool | None = None


class ChatRequest(_Tolerant):
    """``POST /v1/chat/completions``; what OpenAI's API knows beside these fields is passed over."""

    messages: list[ChatMessage] = Field(
        min_length=1, description="The last user message is the question; what stands before it makes follow-ups whole"
    )
    model: str | None = Field(default=None, description="Any name; ragstone answers")
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, description="1: there is one answer")
    tool_choice: str | dict[str, Any] | None = Field(default=None, description="none or auto: tools are not called")
    filters: Filters | None = Field(default=None, description="Ragstone's own: which documents may answer")


class ChatUsage(Response):
    """Tokens that the model counted; 0 where none were: no model wrote, or the answer was given before."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class AnswerNote(Response):
    """What a chat message has no place for."""

    answer_id: str = Field(description="For POST /v1/feedback")
    status: AnswerStatus
    reason: AnswerReason | None
    confidence: float
    cached: bool
    degraded: list[str] = Field(
        description="What had to be left out, such as type_filter_dropped; empty when all was well"
    )


class SaidMessage(Response):
    role: Literal["assistant"]
    content: str = Field(description="Carries [1] markers, and below the text what each stands for")
    refusal: None


class Choice(Response):
    index: int
    message: SaidMessage
    logprobs: None
    finish_reason: Literal["stop"]


class ChatCompletion(Response):
    id: str
    object: Literal["chat.completion"]
    created: int = Field(description="Seconds since 1970")
    model: str
    choices: list[Choice]
    usage: ChatUsage
    citations: list[Citation] = Field(description="Ragstone's own: where each [n] comes from")
    ragstone: AnswerNote


class Delta(Response):
    """The next piece of the message; a field that is null is left out."""

    role: Literal["assistant"] | None = Field(exclude_if=_is_none)
    content: str | None = Field(exclude_if=_is_none)


class ChunkChoice(Response):
    index: int
    delta: Delta
    logprobs: None
    finish_reason: Literal["stop"] | None


class ChatChunk(Response):
    """One event of a stream; ``citations`` and ``ragstone`` come with the one that ends the message."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: ChatUsage | None = Field(exclude_if=_is_none)
    citations: list[Citation] | None = Field(exclude_if=_is_none)
    ragstone: AnswerNote | None = Field(exclude_if=_is_none)


class Model(Response):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ModelList(Response):
    object: Literal["list"]
    data: list[Model]


class OpenAIError(Response):
    """``error`` of a refusal, which their clients show."""

    message: str
    type: str
    param: str | None
    code: str | None
