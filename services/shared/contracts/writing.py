"""The generator's own doors: writing an answer from passages, and taking a question apart."""

from typing import Annotated, Literal

from pydantic import Field

from services.shared.contracts.answers import AnswerReason, Claim, Usage, WriterModel
from services.shared.contracts.base import Request, Response
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.search import Passage

PUBLIC = "public"
"""Who asks where no keys are configured."""

SUB_QUESTIONS_MAX = 3


class DecomposeRequest(Request):
    """Gateway to generator, ``POST /decompose``."""

    question: str
    language: str = Field(description="BCP 47")
    client: str = Field(default=PUBLIC, description="Whose daily token budget pays")
    daily_tokens: int | None = Field(
        default=None, ge=0, description="That client's own budget; null: RAGSTONE_DAILY_TOKENS; 0: no limit"
    )


class Decomposed(Response):
    """The parts of a question, each a whole question; none where it has to be searched as it is."""

    sub_questions: list[str] = Field(max_length=SUB_QUESTIONS_MAX)
    by: Literal["model", "rule", "none"] = Field(description="What took it apart")
    degraded: list[str] = Field(description="decomposition_skipped where the model was to do it and could not")


class WriteRequest(Request):
    """Gateway to generator, ``POST /write``; answered as NDJSON lines of WriteEvent."""

    space: SpaceId
    question: str
    passages: list[Passage] = Field(max_length=20)
    sub_questions: list[str] = Field(
        default_factory=list, max_length=SUB_QUESTIONS_MAX, description="The parts of the question"
    )
    persona: str = Field(description="Who speaks, one sentence")
    tone: str = Field(default="", description="How the answer should sound; empty: plainly")
    language: str = Field(description="BCP 47")
    subject: list[str] = Field(default_factory=list, description="Names of whom or what the content is about")
    client: str = Field(default=PUBLIC, description="Whose daily token budget pays")
    daily_tokens: int | None = Field(
        default=None, ge=0, description="That client's own budget; null: RAGSTONE_DAILY_TOKENS; 0: no limit"
    )


class Span(Response):
    """A quotation: ``passages[passage].text[start:end] == quote``, offsets inside the passage's text."""

    passage: int = Field(description="Index into the request's passages, from 0")
    start: int
    end: int
    quote: str


class SentenceWritten(Response):
    """One checked sentence; only these reach a client."""

    event: Literal["sentence"]
    text: str = Field(description="Without markers")
    before: str = Field(
        default=" ", description="Markdown between the sentence before and this one: a blank, a new line, a list's mark"
    )
    spans: list[Span] = Field(description="What supports it; never empty")
    score: float


class WritingDone(Response):
    """The last line of a writing."""

    event: Literal["done"]
    reason: AnswerReason | None = Field(description="null when sentences were written")
    confidence: float
    dropped: list[Claim] = Field(description="Sentences that were written but not supported; never shown")
    degraded: list[str]
    model: WriterModel
    usage: Usage = Field(default_factory=Usage)


WriteEvent = Annotated[SentenceWritten | WritingDone, Field(discriminator="event")]
