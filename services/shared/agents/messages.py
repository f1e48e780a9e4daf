"""What the tools take and give. Their descriptions are read by models, so they say all that is needed to use them."""

from typing import Any

from pydantic import Field

from services.shared.contracts.answers import AnswerReason, AnswerStatus, Citation, Turn
from services.shared.contracts.base import Request, Response
from services.shared.contracts.documents import DocumentList
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.search import FINAL_PASSAGES, Filters, Passage, Verdict

SPAN_MAX = 20_000
"""Longest stretch of a document that one call returns, code points."""
FOUND_MAX = 50
"""Most passages that one call returns: what a model can still read."""
PAGE = 50


class Search(Request):
    question: str = Field(description="A question or key words, in the language of the documents where that is known")
    filters: Filters | None = Field(default=None, description="Search only documents of a type, with tags, or by id")
    top_k: int | None = Field(
        default=None, ge=1, le=FOUND_MAX, description=f"How many passages; null: {FINAL_PASSAGES}"
    )


class Found(Response):
    passages: list[Passage] = Field(description="Best first")
    verdict: Verdict = Field(description="Whether these passages answer the question at all")
    degraded: list[str] = Field(description="What had to be left out of the search; empty when all was well")


class Ask(Request):
    question: str = Field(description="One question, whole: with the names that it is about")
    filters: Filters | None = Field(default=None, description="Answer only from documents of a type, with tags, by id")
    history: list[Turn] | None = Field(
        default=None, max_length=20, description="Earlier questions with their answers, oldest first, for a follow-up"
    )


class Answered(Response):
    id: str
    status: AnswerStatus = Field(
        description="answered; abstained: the documents do not say it; declined: not a question for the documents"
    )
    text: str = Field(description="Each sentence is supported by the citation of its [n] marker")
    reason: AnswerReason | None = Field(description="Why there is no answer; null where there is one")
    confidence: float = Field(description="Probability that the documents answer the question, 0 to 1")
    citations: list[Citation]
    degraded: list[str] = Field(description="What had to be left out; empty when all was well")


class GetSource(Request):
    document_id: DocumentId = Field(min_length=1, description="As search, ask and list_documents give it")
    version: VersionId | None = Field(
        default=None, description="As a passage or citation gives it, so that its start and end fit; null: the newest"
    )
    start: int | None = Field(default=None, ge=0, description="First code point; null: 0")
    end: int | None = Field(
        default=None,
        ge=0,
        description=f"After the last code point; null, or further than {SPAN_MAX}: as far as allowed",
    )


class SourceSpan(Response):
    document_id: DocumentId
    version: VersionId
    start: int
    end: int = Field(description="After the last code point of text; the next part begins here")
    length: int = Field(description="Code points of the whole text")
    text: str


class ListDocuments(Request):
    type: str | None = Field(default=None, description="Only documents of this type, such as faq")
    cursor: str | None = Field(default=None, max_length=2000, description="next_cursor of the page before")


class ListedDocument(Response):
    id: DocumentId
    version: VersionId
    title: str
    type: str | None
    tags: list[str]
    source: str | None = Field(description="Where it comes from: URL or path")
    updated_at: str = Field(description="ISO 8601")


class Listed(Response):
    items: list[ListedDocument]
    next_cursor: str | None = Field(description="For the next page; null on the last")


def listed(page: DocumentList) -> Listed:
    """A page of documents without what only their owner needs."""
    items = [
        ListedDocument(
            id=one.id,
            version=one.version,
            title=one.title,
            type=one.type,
            tags=one.tags,
            source=one.source,
            updated_at=one.updated_at.isoformat(),
        )
        for one in page.items
    ]
    return Listed(items=items, next_cursor=page.next_cursor)


def schema(message: type[Request] | type[Response]) -> dict[str, Any]:
    """JSON Schema of a message, as the one who sends or reads it needs it."""
    return message.model_json_schema(mode="validation" if issubclass(message, Request) else "serialization")
