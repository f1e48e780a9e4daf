"""Gaps: questions that the content does not answer, or not well, and what an owner makes of them."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from services.shared.contracts.base import Request, Response
from services.shared.contracts.ids import DocumentId, JobId

GAP_ID_MAX = 64
FACT_MAX = 4000


class GapState(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    """An owner added a fact; it opens again when the question still is not answered."""
    DISMISSED = "dismissed"


class Gap(Response):
    """Questions of the same meaning that were not answered, or whose answers people called bad."""

    id: str
    question: str = Field(description="The one asked most often")
    others: list[str] = Field(description="Other wordings, most frequent first; at most ten")
    asked: int = Field(description="Times that they were asked without an answer")
    judged_bad: int = Field(description="Times that people called an answer to them bad")
    state: GapState
    nearest: list[str] = Field(description="Titles of what was found nearest the last time")
    document_id: DocumentId | None = Field(description="The fact that an owner added")
    first_at: datetime
    last_at: datetime


class GapList(Response):
    """Ranked: asked + 3 * judged_bad, the most first, then the latest."""

    items: list[Gap]
    next_cursor: str | None
    counts: dict[GapState, int]


class NewFact(Request):
    """``POST /v1/gaps/{id}/fact``: what is true, in the owner's words; it becomes a document of type fact."""

    text: str = Field(min_length=1, max_length=FACT_MAX, description="One or a few whole sentences")
    negative: bool = Field(default=False, description="It says that something is not so: it is kept as a negative fact")
    source: str | None = Field(default=None, max_length=2000, description="Where the owner knows it from")


class AddedFact(Response):
    gap: Gap
    document_id: DocumentId
    job_id: JobId = Field(description="Ingests the fact; when it succeeded, the question is answered")
