"""How an answer is written: by the model with every sentence checked, or verbatim from the passages."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from services.generator.domain import extractive, guardrail, support, terms
from services.generator.domain.candidates import candidates
from services.generator.domain.model_text import SentenceCutter, Written
from services.generator.domain.prompt import build
from services.generator.ports import Scorer, Writer
from services.shared.contracts.answers import (
    AnswerReason,
    Claim,
    SentenceWritten,
    WriteRequest,
    WriterModel,
    WritingDone,
)
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.search import Passage, TextScore

Events = AsyncIterator[SentenceWritten | WritingDone]
REPEATED = 0.5
"""After a failed model, a verbatim sentence this close to one already sent adds nothing."""


@dataclass
class _Writing:
    """What one request has come to so far."""

    request: WriteRequest
    passages: Sequence[Passage]
    degraded: list[str] = field(default_factory=list)
    sent: list[SentenceWritten] = field(default_factory=list)
    dropped: list[Claim] = field(default_factory=list)
    broken_rule: str | None = None

    def degrade(self, what: str) -> None:
        """Note once what had to be left out."""
        if what not in self.degraded:
            self.degraded.append(what)


class WriteFlow:
    """One writing for each request; ``writer`` is None where only the extractive writer is wanted."""

    def __init__(
        self,
        *,
        scorer: Scorer,
        writer: Writer | None,
        threshold: float,
        support_threshold: float,
        note: Callable[[str, str], None],
    ) -> None:
        self._scorer = scorer
        self._writer = writer
        self._threshold = threshold
        self._support_threshold = support_threshold
        self._note = note

    def begin(self, request: WriteRequest) -> Events:
        """The events of a writing; raises RagstoneError(BUSY) before anything was sent."""
        if self._writer and self._writer.state().ready and request.passages:
            self._writer.check_room()
        return self._write(request)

    async def _write(self, request: WriteRequest) -> Events:
        writing = _Writing(request, request.passages)
        if not request.passages:
            yield self._done(writing, extractive_model(), 0.0, AnswerReason.NOTHING_RELEVANT)
            return
        if self._writer and self._writer.state().ready:
            async with aclosing(self._by_model(writing, self._writer)) as events:
                async for event in events:
                    yield event
            if "writer_failed" not in writing.degraded:
                return
        elif self._writer:
            writing.degrade("writer_fallback")
        async with aclosing(self._verbatim(writing)) as events:
            async for event in events:
                yield event

    async def _verbatim(self, writing: _Writing) -> "AsyncGenerator[SentenceWritten | WritingDone, None]":
        """Sentences of the passages, word for word."""
        request, passages = writing.request, writing.request.passages
        found = candidates(request.question, passages)
        scores = await self._scores(writing, request.question, [one.scored for one in found])
        choice = extractive.choose(request.question, passages, found, scores, threshold=self._threshold)
        for sentence in choice.sentences:
            if all(terms.likeness(sentence.text, other.text) < REPEATED for other in writing.sent):
                writing.sent.append(sentence)
                yield sentence
        reason = None if writing.sent else AnswerReason.NOT_SUPPORTED
        yield self._done(writing, extractive_model(), choice.confidence, reason)
