"""Messages that tests of the gateway play."""

from collections.abc import Sequence
from datetime import UTC, datetime

from services.shared.contracts.answers import AnswerReason, WriterModel
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, JobId, VersionId
from services.shared.contracts.jobs import Job, JobKind, JobState
from services.shared.contracts.search import IndexState, Passage, SearchResponse, Verdict
from services.shared.contracts.writing import SentenceWritten, Span, WritingDone

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHED = "Häuser 😀 at the shed.\nThe shed opens at nine. Rule 7 forbids lamps.\n"
"""An extracted text whose offsets differ in bytes, UTF-16 and code points."""


def passage(
    text: str = "The shed opens at nine. Rule 7 forbids lamps.",
    *,
    document: str = "shed.md",
    version: str = "v1",
    source_text: str = SHED,
    lead: int = 0,
    title: str = "Shed rules",
) -> Passage:
    start = source_text.index(text[lead:])
    return Passage(
        chunk_id=ChunkId(f"{version}-00000"),
        document_id=DocumentId(document),
        version=VersionId(version),
        title=title,
        section="Hours",
        type=None,
        text=text,
        lead=lead,
        start=start,
        end=start + len(text) - lead,
        source=None,
        tags=[],
        kind="fact",
        score=0.03,
        distance=0.2,
        bm25=4.0,
        critic=None,
        ranks={"vector:0": 1},
    )


def found(*passages: Passage, gate: str = "good", answerable: float = 0.9) -> SearchResponse:
    return SearchResponse(
        passages=list(passages),
        verdict=Verdict(answerable=answerable, gate=gate, reason="test"),
        sub_questions=[],
        degraded=[],
        index=IndexState(id=IndexId("i1"), embedder="fake", seq=7),
        timings_ms={"vector": 1.0},
        trace={"lists": {}},
    )


def sentence(
    text: str, *quotes: tuple[Passage, str], of: Sequence[Passage], score: float = 0.8, before: str = " "
) -> SentenceWritten:
    spans = [
        Span(passage=of.index(one), start=one.text.index(quote), end=one.text.index(quote) + len(quote), quote=quote)
        for one, quote in quotes
    ]
    return SentenceWritten(event="sentence", text=text, before=before, spans=spans, score=score)


def done(reason: AnswerReason | None = None, confidence: float = 0.7) -> WritingDone:
    model = WriterModel(writer="extractive", name=None)
    return WritingDone(event="done", reason=reason, confidence=confidence, dropped=[], degraded=[], model=model)


def job(id: str, state: JobState = JobState.QUEUED, done: int = 0) -> Job:
    return Job(
        id=JobId(id),
        kind=JobKind.DOCUMENT,
        state=state,
        stage=None,
        done=done,
        total=None,
        attempts=0,
        reason=None,
        warning=None,
        document_id=DocumentId("shed.md"),
        result=None,
        created_at=NOON,
        updated_at=NOON,
    )
