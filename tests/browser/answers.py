"""Answers as events, for what no document of the sample corpus makes the gateway say."""

from typing import Any

from services.shared.contracts.answers import (
    Answer,
    AnswerStatus,
    Citation,
    Claim,
    SentenceEvent,
    StageEvent,
    WriterModel,
)
from services.shared.contracts.search import IndexState

CITATION = Citation(
    n=1,
    document_id="skills/postgresql.md",
    version="v",
    title="PostgreSQL and SQL",
    source=None,
    section="PostgreSQL and SQL > Query tuning",
    place="page 3",
    type=None,
    chunk_id="v-1",
    start=0,
    end=8,
    quote="Verbatim",
    url="/v1/documents/skills%2Fpostgresql.md/source?as=text#0-8",
)


def answer(text: str, **more: Any) -> Answer:
    """An answer with one source."""
    given: dict[str, Any] = {
        "id": "a1",
        "status": AnswerStatus.ANSWERED,
        "text": text,
        "reason": None,
        "confidence": 0.8,
        "citations": [CITATION],
        "claims": [Claim(text=text, supported=True, score=0.8, citations=[1])],
        "sub_questions": [],
        "passages_used": [],
        "degraded": [],
        "model": WriterModel(writer="ollama", name="qwen3:8b"),
        "index": IndexState(id=None, embedder=None, seq=1),
        "timings_ms": {"retrieve": 20.0, "write": 900.0, "check": 5.0, "total": 925.0},
        "trace_id": "t1",
        "trace": None,
    }
    return Answer(**{**given, **more})


def whole(given: Answer) -> tuple[str, dict[str, Any]]:
    """The last event."""
    return "answer", given.model_dump(mode="json")


def stage(name: str) -> tuple[str, dict[str, Any]]:
    """What is under way."""
    return "stage", StageEvent(stage=name, elapsed_ms=1.0).model_dump(mode="json")


def sentence(text: str) -> tuple[str, dict[str, Any]]:
    """One that was checked."""
    return "sentence", SentenceEvent(n=1, text=text, citations=[CITATION]).model_dump(mode="json")
