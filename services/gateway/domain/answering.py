"""Puts an Answer together from what was found, written and still holds."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.domain.citations import Numbering, Quoted
from services.gateway.domain.layout import placed, with_markers
from services.gateway.domain.topics import closest_topics
from services.shared.contracts.answers import Answer, AnswerReason, AnswerStatus, Claim, WriterModel
from services.shared.contracts.profile import FixedTexts
from services.shared.contracts.search import IndexState, Passage, SearchResponse, Verdict
from services.shared.contracts.writing import WritingDone

NO_WRITER = WriterModel(writer="none", name=None)
"""Who wrote an answer that nobody was asked to write."""


@dataclass(frozen=True)
class Written:
    """What came of the writing: the sentences that hold, and the writer's own last word."""

    kept: Sequence[Quoted]
    dropped: int
    done: WritingDone


def early_end(reason: AnswerReason | None, degraded: Sequence[str] = ()) -> WritingDone:
    """The last word of a writing that never began or broke off."""
    return WritingDone(
        event="done", reason=reason, confidence=1.0, dropped=[], degraded=list(degraded), model=NO_WRITER
    )


def must_abstain(verdict: Verdict, passages: Sequence[Passage]) -> bool:
    """Nothing usable was found, so no writer is asked: it would answer from its own memory."""
    return verdict.gate == "poor" or not passages


@dataclass(frozen=True)
class Asked:
    """What an answer says of its question and of its own making."""

    id: str
    trace_id: str
    texts: FixedTexts
    rewritten: str | None
    """The whole question that a follow-up was taken for."""
    explain: bool


def put_together(
    asked: Asked,
    found: SearchResponse,
    passages: Sequence[Passage],
    written: Written,
    *,
    timings_ms: dict[str, float],
    trace: dict[str, object],
) -> Answer:
    """The Answer; ``passages`` are those whose versions are live still, ``trace`` what the flow has to tell."""
    texts = asked.texts
    numbering = Numbering()
    claims: list[Claim] = []
    pieces: list[str] = []
    declined = written.done.reason is AnswerReason.GUARDRAIL
    away = written.done.reason is AnswerReason.WRITER_UNAVAILABLE
    for sentence in () if declined or away else written.kept:
        numbers = [citation.n for citation in numbering.cite(sentence)]
        marked = with_markers(sentence.text, numbers)
        pieces.append(placed(sentence.before, marked, first=not pieces))
        claims.append(Claim(text=marked, supported=True, score=sentence.score, citations=numbers))
    status, reason = _outcome(bool(claims), written.done.reason)
    if claims:
        text = "".join(pieces)
    elif declined:
        text = texts.declined
    else:
        text = abstention(texts.writer_away if away else texts.not_found, texts.topics_intro, passages)
    dropped = ["sentences_dropped"] if written.dropped else []
    return Answer(
        id=asked.id,
        status=status,
        text=text,
        reason=reason,
        confidence=max(0.0, min(found.verdict.answerable, written.done.confidence)),
        citations=numbering.citations,
        claims=claims,
        rewritten=asked.rewritten,
        sub_questions=found.sub_questions,
        passages_used=[passage.chunk_id for passage in passages] if claims else [],
        degraded=list(dict.fromkeys([*found.degraded, *written.done.degraded, *dropped])),
        model=written.done.model,
        index=found.index,
        timings_ms=timings_ms,
        usage=written.done.usage if any(written.done.usage.model_dump().values()) else None,
        trace_id=asked.trace_id,
        trace={**_trace(found, written.done), **trace} if asked.explain else None,
    )


def declined_unasked(asked: Asked, text: str, why: str, *, timings_ms: dict[str, float]) -> Answer:
    """The Answer to what is no question for the documents; nothing was searched and nobody wrote."""
    return Answer(
        id=asked.id,
        status=AnswerStatus.DECLINED,
        text=text,
        reason=AnswerReason.GUARDRAIL,
        confidence=0.0,
        citations=[],
        claims=[],
        rewritten=asked.rewritten,
        sub_questions=[],
        passages_used=[],
        degraded=[],
        model=NO_WRITER,
        index=IndexState(id=None, embedder=None, seq=0),
        timings_ms=timings_ms,
        trace_id=asked.trace_id,
        trace={"declined": why} if asked.explain else None,
    )


def _outcome(answered: bool, reason: AnswerReason | None) -> tuple[AnswerStatus, AnswerReason | None]:
    if answered:
        return AnswerStatus.ANSWERED, None
    if reason is AnswerReason.GUARDRAIL:
        return AnswerStatus.DECLINED, reason
    return AnswerStatus.ABSTAINED, reason or AnswerReason.NOT_SUPPORTED


def abstention(text: str, topics_intro: str, passages: Sequence[Passage]) -> str:
    """The fixed text, and below it the titles of the nearest passages, one a line."""
    topics = closest_topics(passages)
    if not topics:
        return text
    return "\n".join([text, "", topics_intro, *(f"- {topic}" for topic in topics)])


def _trace(found: SearchResponse, done: WritingDone) -> dict[str, object]:
    return {
        "retrieval": found.trace,
        "verdict": found.verdict.model_dump(mode="json"),
        "dropped": [claim.model_dump(mode="json") for claim in done.dropped],
        "usage": done.usage.model_dump(mode="json"),
    }
