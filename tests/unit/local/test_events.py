"""Reading server-sent events, and asking through them."""

import io
import json

import httpx
import pytest
from rich.console import Console

from services.local.api import Api, Unreachable, events
from services.local.asking import ask_aloud
from services.shared.contracts.errors import ErrorCode, RagstoneError

CITATION = {
    "n": 1, "document_id": "faq.md", "version": "v", "title": "FAQ", "source": "faq.md", "section": "Notice",
    "type": None, "chunk_id": "v-00000", "start": 0, "end": 5, "quote": "[one]\n month",
    "url": "/v1/documents/faq.md/source#0-5",
}  # fmt: skip
ANSWER = {
    "id": "a", "status": "answered", "text": "It is one month. [1]", "reason": None, "confidence": 0.9,
    "citations": [CITATION], "claims": [], "sub_questions": [], "passages_used": [], "degraded": [],
    "model": {"writer": "extractive", "name": None}, "index": {"id": None, "embedder": None, "seq": 1},
    "timings_ms": {}, "trace_id": "t", "trace": None,
}  # fmt: skip
SENTENCE = {"n": 1, "text": "It is one month. [1]", "citations": [CITATION]}


def stream(*lines: str) -> httpx.MockTransport:
    """A gateway that answers these lines."""
    body = "\n".join(lines) + "\n"
    return httpx.MockTransport(lambda _: httpx.Response(200, text=body, headers={"Content-Type": "text/event-stream"}))


def test_events_are_split_and_comments_skipped() -> None:
    lines = [": still here", "", "event: stage", 'data: {"a":', "data: 1}", "", "data:2", ""]
    assert [(event.name, event.data) for event in events(iter(lines))] == [("stage", {"a": 1}), ("message", 2)]


def test_each_sentence_is_printed_once_then_quote_title_and_link() -> None:
    said = io.StringIO()
    lines = ["event: sentence", f"data: {json.dumps(SENTENCE)}", "", "event: answer", f"data: {json.dumps(ANSWER)}", ""]
    with Api("http://gateway:1", transport=stream(*lines)) as api:
        answer = ask_aloud(api, Console(file=said, width=200), "How long?")
    assert answer.id == "a"
    assert said.getvalue().count("It is one month. [1]") == 1
    assert "FAQ > Notice" in said.getvalue()
    assert '"[one] month"' in said.getvalue()
    assert "http://gateway:1/v1/documents/faq.md/source#0-5" in said.getvalue()


def test_an_error_event_is_raised_as_what_it_is() -> None:
    problem = {
        "type": "urn:x",
        "title": "x",
        "status": 503,
        "detail": "No.",
        "code": "retriever_unavailable",
        "request_id": "r",
    }
    transport = stream("event: error", f"data: {json.dumps(problem)}", "")
    with Api("http://gateway", transport=transport) as api, pytest.raises(RagstoneError) as caught:
        ask_aloud(api, Console(file=io.StringIO()), "How long?")
    assert caught.value.code is ErrorCode.RETRIEVER_UNAVAILABLE


def test_a_stream_that_breaks_off_is_no_answer() -> None:
    with Api("http://gateway", transport=stream(": hello", "")) as api, pytest.raises(Unreachable):
        ask_aloud(api, Console(file=io.StringIO()), "How long?")


def test_something_else_at_the_address_is_told_from_a_refusal() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(404, text="<html>nginx</html>"))
    with Api("http://gateway", transport=transport) as api, pytest.raises(Unreachable, match="not Ragstone's"):
        api.readiness()
