"""The tools: what each is called, what it is for, and what it does with a library."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from services.shared.agents.library import Library
from services.shared.agents.messages import (
    PAGE,
    SPAN_MAX,
    Answered,
    Ask,
    Found,
    GetSource,
    ListDocuments,
    Listed,
    Search,
    SourceSpan,
    listed,
)
from services.shared.contracts.answers import AskRequest
from services.shared.contracts.base import Request, Response
from services.shared.contracts.documents import document_id_fault
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId
from services.shared.contracts.search import FINAL_PASSAGES, SearchRequest

INSTRUCTIONS = (
    "Ragstone answers from its owner's own documents and says only what it can source. Use `ask` for an answer with "
    "citations; when its status is abstained, the documents do not say it: do not answer from elsewhere as if they "
    "did. Use `search` to judge passages yourself, `get_source` to read around a passage or citation, and "
    "`list_documents` to see what there is. Offsets count Unicode code points of a version's extracted text, so "
    "text[start:end] can be quoted word for word."
)

Taken = TypeVar("Taken", bound=Request)
Run = Callable[[Library, Mapping[str, Any]], Awaitable[Response]]


@dataclass(frozen=True)
class Tool:
    """One tool; ``run`` raises RagstoneError, for arguments that do not fit too."""

    name: str
    title: str
    description: str
    takes: type[Request]
    gives: type[Response]
    run: Run


async def _search(library: Library, given: Mapping[str, Any]) -> Found:
    wanted = _taken(Search, given)
    top_k = FINAL_PASSAGES if wanted.top_k is None else wanted.top_k
    request = SearchRequest(question=wanted.question, filters=wanted.filters, top_k=top_k)
    found = await library.search(request)
    return Found(passages=found.passages, verdict=found.verdict, degraded=found.degraded)


async def _ask(library: Library, given: Mapping[str, Any]) -> Answered:
    wanted = _taken(Ask, given)
    request = AskRequest(question=wanted.question, filters=wanted.filters, history=wanted.history)
    return Answered.model_validate((await library.ask(request)).model_dump())


async def _get_source(library: Library, given: Mapping[str, Any]) -> SourceSpan:
    wanted = _taken(GetSource, given)
    refuse_unaddressable(wanted.document_id)
    stored = await library.text(wanted.document_id, wanted.version)
    length = len(stored.text)
    start = wanted.start or 0
    if start > length:
        detail = f"start: it is {start}, and the text has {length} code points; begin within them."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    if wanted.end is not None and wanted.end < start:
        detail = f"end: it is {wanted.end}, before start, which is {start}; end where start is or after it."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    end = min(length, start + SPAN_MAX, length if wanted.end is None else wanted.end)
    return SourceSpan(
        document_id=stored.document_id,
        version=stored.version,
        start=start,
        end=end,
        length=length,
        text=stored.text[start:end],
    )


async def _list_documents(library: Library, given: Mapping[str, Any]) -> Listed:
    wanted = _taken(ListDocuments, given)
    return listed(await library.documents(wanted.type, wanted.cursor, PAGE))


def refuse_unaddressable(id: DocumentId) -> None:
    """Raises RagstoneError (document_id_invalid) for what can be no document's id."""
    if wrong := document_id_fault(id):
        detail = f"Document id {id[:80]!r} {wrong}; use one that search, ask or list_documents gave."
        raise RagstoneError(ErrorCode.DOCUMENT_ID_INVALID, detail)


def _taken(takes: type[Taken], given: Mapping[str, Any]) -> Taken:
    try:
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        detail = "arguments: they hold half a character (a lone surrogate), which is no text; leave it out."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error
    try:
        return takes.model_validate(given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)[:8]
        where = ((".".join(str(step) for step in fault["loc"]) or "arguments", fault["msg"]) for fault in faults)
        detail = "; ".join(f"{field}: {why}" for field, why in where)
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            name="search",
            title="Search the documents",
            description=(
                "Find passages that may answer a question, without writing an answer, so that you can judge them "
                "yourself. Each has its text (text[lead:] stands word for word at start to end of that version; what "
                "is before repeats a table's header), title, section and scores: critic is the probability that it "
                "is relevant, distance and bm25 are raw. verdict.answerable is the probability that the passages "
                "answer the question at all; below verdict.threshold they do not."
            ),
            takes=Search,
            gives=Found,
            run=_search,
        ),
        Tool(
            name="ask",
            title="Ask the documents",
            description=(
                "Answer a question from the documents. Every sentence was checked against the passage that its [n] "
                "marker cites; each citation quotes that passage word for word with document_id, version, start and "
                "end. Where the documents do not answer, status is abstained and text says so. It can take a minute "
                "where a language model writes."
            ),
            takes=Ask,
            gives=Answered,
            run=_ask,
        ),
        Tool(
            name="get_source",
            title="Read a document",
            description=(
                "Read a document's extracted text, or a stretch of it: the surroundings of a passage or citation "
                f"(their document_id, version, start and end), or a document in parts of at most {SPAN_MAX} code "
                "points; call again with start set to the end of the part before, until end equals length."
            ),
            takes=GetSource,
            gives=SourceSpan,
            run=_get_source,
        ),
        Tool(
            name="list_documents",
            title="List the documents",
            description=(
                f"List the documents that answer now, by id, {PAGE} a page, with title, type, tags and source; "
                "their types, tags and ids are what the filters of search and ask take."
            ),
            takes=ListDocuments,
            gives=Listed,
            run=_list_documents,
        ),
    )
}
