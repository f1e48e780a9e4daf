"""How an answer is written: by the model with every sentence checked, or verbatim from the passages."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from services.generator.domain import extractive, guardrail, support, terms
from services.generator.domain.candidates import candidates
from services.generator.domain.model_text import SentenceCutter, Written
from services.generator.domain.prompt import build
from services.generator.ports import Scorer, Writer
from services.shared.contracts.answers import AnswerReason, Claim, WriterModel
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.search import Passage, TextScore
from services.shared.contracts.writing import SentenceWritten, WriteRequest, WritingDone

Event = SentenceWritten | WritingDone
EXTRACTIVE = WriterModel(writer="extractive", name=None)
REPEATED = 0.9
"""A model's sentence this close to one already sent goes in circles."""
SAID_ALREADY = 0.5
"""After a failed model, a verbatim sentence this close to one already sent adds nothing."""


@dataclass
class _Writing:
    """What one request has come to so far."""

    request: WriteRequest
    passages: Sequence[Passage]
    degraded: list[str] = field(default_factory=list)
    sent: list[SentenceWritten] = field(default_factory=list)
    dropped: list[Claim] = field(default_factory=list)
    over: AnswerReason | None = None

    def degrade(self, what: str) -> None:
        """Note once what had to be left out."""
        if what not in self.degraded:
            self.degraded.append(what)

    def done(self, model: WriterModel, confidence: float, reason: AnswerReason | None = None) -> WritingDone:
        """The last event; ``reason`` counts only when nothing was sent."""
        return WritingDone(
            event="done",
            reason=None if self.sent else reason or AnswerReason.NOT_SUPPORTED,
            confidence=round(confidence, 4),
            dropped=self.dropped,
            degraded=self.degraded,
            model=model,
        )


class WriteFlow:
    """One writing for each request; ``writer`` is None where only the extractive writer is wanted.

    ``note`` takes (what happened, why) for the operator's log.
    """

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

    def begin(self, request: WriteRequest) -> AsyncGenerator[Event, None]:
        """The events of a writing; raises RagstoneError(BUSY) here, before anything was sent."""
        if self._writer and self._writer.state().ready and request.passages:
            self._writer.check_room()
        return self._write(request)

    async def _write(self, request: WriteRequest) -> AsyncGenerator[Event, None]:
        writing = _Writing(request, request.passages)
        if self._writer and self._writer.state().ready and request.passages:
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

    async def _verbatim(self, writing: _Writing) -> AsyncGenerator[Event, None]:
        """Sentences of the passages, word for word; after a failed model, what it had not said yet."""
        question, passages = writing.request.question, writing.request.passages
        found = candidates(question, passages)
        scores = await self._scores(writing, question, [one.scored for one in found])
        choice = extractive.choose(question, passages, found, scores, threshold=self._threshold)
        before = list(writing.sent)
        for sentence in choice.sentences:
            if all(terms.likeness(sentence.text, other.text) < SAID_ALREADY for other in before):
                writing.sent.append(sentence)
                yield sentence
        yield writing.done(EXTRACTIVE, choice.confidence)

    async def _by_model(self, writing: _Writing, writer: Writer) -> AsyncGenerator[Event, None]:
        """The model's sentences that hold; leaves "writer_failed" in degraded when it could not finish."""
        request = writing.request
        window, kept_for_answer = writer.window
        prompt = build(
            question=request.question,
            passages=request.passages,
            persona=request.persona,
            language=request.language,
            num_ctx=window,
            num_predict=kept_for_answer,
        )
        if prompt.used < len(request.passages):
            writing.degrade("passages_dropped")
        if not prompt.used:
            why = "The first passage does not fit the model's window; raise RAGSTONE_NUM_CTX and the server's own."
            self._note("writer_failed", why)
            writing.degrade("writer_failed")
            return
        writing.passages = request.passages[: prompt.used]
        cutter = SentenceCutter(prompt.used)
        try:
            async with aclosing(writer.write(prompt)) as pieces:
                async for piece in pieces:
                    ready = cutter.feed(piece.text)
                    if piece.end:
                        ready += cutter.finish(cut_off=piece.end == "length")
                    if piece.end == "length":
                        writing.degrade("answer_cut")
                    for written in ready:
                        if sentence := await self._checked(writing, written):
                            writing.sent.append(sentence)
                            yield sentence
                        if writing.over:
                            break
                    if writing.over:
                        break
        except RagstoneError as error:
            if error.code is ErrorCode.BUSY:
                raise
            self._note("writer_failed", error.detail)
            writing.degrade("writer_failed")
            return
        yield writing.done(WriterModel(writer=writer.kind, name=writer.name), _confidence(writing), writing.over)

    async def _checked(self, writing: _Writing, written: Written) -> SentenceWritten | None:
        """The sentence as it may leave, or None: noted as dropped, or the end of the writing."""
        if rule := guardrail.broken_rule(written.text):
            self._note("guardrail", rule)
            writing.over = AnswerReason.GUARDRAIL
            writing.dropped.append(_dropped(written, 0.0))
            return None
        if guardrail.says_unknown(written.text):
            writing.over = None if writing.sent else AnswerReason.NOT_SUPPORTED
            return None
        if any(terms.likeness(written.text, other.text) >= REPEATED for other in writing.sent):
            return None
        verdict = await self._supported(writing, written)
        if not verdict.spans and written.cited:
            # Small models often miss the number of the right passage by one; the sentence may be true all the same.
            verdict = await self._supported(writing, replace(written, cited=()))
        if not verdict.spans:
            writing.dropped.append(_dropped(written, verdict.score))
            return None
        return SentenceWritten(event="sentence", text=written.text, spans=list(verdict.spans), score=verdict.score)

    async def _supported(self, writing: _Writing, written: Written) -> support.Support:
        found = support.sources(written, writing.passages)
        scores = await self._scores(writing, written.text, [one.text for one in found])
        return support.judge(
            written,
            writing.passages,
            found,
            scores,
            persona=writing.request.persona,
            threshold=self._support_threshold,
        )

    async def _scores(self, writing: _Writing, question: str, texts: Sequence[str]) -> list[TextScore] | None:
        """The retriever's scores, or None: words alone have to do."""
        if not texts:
            return []
        try:
            return await self._scorer.score(writing.request.space, question, texts)
        except RagstoneError as error:
            self._note("scores_unavailable", error.detail)
            writing.degrade("scores_unavailable")
            return None


def _dropped(written: Written, score: float) -> Claim:
    return Claim(text=written.text, supported=False, score=score, citations=[number + 1 for number in written.cited])


def _confidence(writing: _Writing) -> float:
    """Mean support of what was sent, times the share of the model's sentences that held."""
    if not writing.sent:
        return 0.0
    mean = sum(sentence.score for sentence in writing.sent) / len(writing.sent)
    return mean * len(writing.sent) / (len(writing.sent) + len(writing.dropped))
