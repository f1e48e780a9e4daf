"""Asking and answering: the public Answer and its events."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from services.shared.contracts.base import Request, Response
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId
from services.shared.contracts.search import Filters, IndexState, Passage, Stages


class Turn(Request):
    """One earlier exchange of the conversation."""

    question: str
    answer: str


class AskRequest(Request):
    question: str
    filters: Filters | None = None
    stream: bool = False
    explain: bool = False
    history: list[Turn] | None = Field(
        default=None,
        max_length=20,
        description="Earlier exchanges, oldest first; they make a follow-up whole and are no source of facts",
    )
    stages: Stages | None = Field(default=None, description="Parts of retrieval on or off, for evaluation")


class AnswerStatus(StrEnum):
    ANSWERED = "answered"
    ABSTAINED = "abstained"
    DECLINED = "declined"


class AnswerReason(StrEnum):
    """Why there is no answer."""

    NOTHING_RELEVANT = "nothing_relevant"
    NOT_SUPPORTED = "not_supported"
    GUARDRAIL = "guardrail"
    WRITER_UNAVAILABLE = "writer_unavailable"


class Citation(Response):
    """Where a sentence comes from: ``quote`` equals ``extracted_text[start:end]`` of that version exactly."""

    n: int = Field(description="The [n] in the answer's text, from 1")
    document_id: DocumentId
    version: VersionId
    title: str
    source: str | None
    section: str
    place: str | None = Field(
        default=None, description="Where in the original it stands: page 3; sheet Prices, row 12; null where unknown"
    )
    type: str | None
    chunk_id: ChunkId
    start: int = Field(description="Unicode code points in the extracted text")
    end: int
    quote: str
    url: str = Field(description="Opens the source at the marked place, relative to the gateway")


class Claim(Response):
    """One sentence of the answer and whether its passages support it."""

    text: str
    supported: bool
    score: float = Field(description="Support by the cited passages, 0 to 1")
    citations: list[int]


class WriterModel(Response):
    writer: str = Field(description="extractive, ollama or openai")
    name: str | None = Field(description="The model's name; null for extractive")


class Usage(Response):
    """Tokens that the model counted; 0 where no model wrote or its server does not count."""

    prompt: int = 0
    answer: int = 0


class Answer(Response):
    """The whole answer, as returned, streamed last and stored as a job's result."""

    id: str
    status: AnswerStatus
    text: str = Field(description="Carries [1] markers")
    reason: AnswerReason | None
    confidence: float = Field(description="Probability that the content answers the question, 0 to 1")
    citations: list[Citation]
    claims: list[Claim]
    rewritten: str | None = Field(
        default=None, description="The whole question that a follow-up was taken for; null where it stood for itself"
    )
    sub_questions: list[str]
    passages_used: list[ChunkId]
    degraded: list[str] = Field(description="What had to be left out, e.g. decomposition_skipped")
    model: WriterModel
    index: IndexState
    timings_ms: dict[str, float]
    cached: bool = Field(default=False, description="Given before, and nothing that it rests on changed since")
    usage: Usage | None = Field(
        default=None,
        description="Tokens that the model counted for this answer; null where none were, and where it was made for "
        "another who asked the same",
    )
    trace_id: str
    trace: dict[str, Any] | None


class StageEvent(Response):
    """SSE ``stage``: what is happening now."""

    stage: str = Field(description="clean, decompose, retrieve, write, check")
    elapsed_ms: float


class SourcesEvent(Response):
    """SSE ``sources``: the passages that the answer may use."""

    passages: list[Passage]


class SentenceEvent(Response):
    """SSE ``sentence``: a checked sentence with its citations."""

    n: int = Field(description="From 1")
    text: str = Field(description="Carries [1] markers")
    citations: list[Citation]
