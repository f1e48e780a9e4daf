"""What one writing has come to so far."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.generator.domain.layout import Layout
from services.generator.domain.model_text import Written
from services.shared.contracts.answers import AnswerReason, Claim, Usage, WriterModel
from services.shared.contracts.search import Passage
from services.shared.contracts.writing import SentenceWritten, WriteRequest, WritingDone


@dataclass
class Writing:
    """The state of one request; ``passages`` are those that the writer has seen."""

    request: WriteRequest
    passages: Sequence[Passage]
    rules: str = ""
    """The model's instructions, which must not come out again."""
    degraded: list[str] = field(default_factory=list)
    sent: list[SentenceWritten] = field(default_factory=list)
    dropped: list[Claim] = field(default_factory=list)
    unsupported: int = 0
    """Sentences of the model that did not hold, the repaired ones included."""
    over: AnswerReason | None = None
    """Why there is no answer, should nothing be sent."""
    finished: bool = False
    """Whatever else the model says is not wanted."""
    layout: Layout = field(default_factory=Layout)
    denial: int | None = None
    """The passage whose denial was said first; what the model makes of it would only say it again."""
    lead_in: Written | None = None
    """A sentence that only introduces the list after it: it waits for the first item that holds."""
    gap: bool = False
    """The model's last sentence was left out."""
    usage: Usage = field(default_factory=Usage)

    @property
    def known(self) -> str:
        """Names that need no source: who speaks, and whom the content is about."""
        return "\n".join([self.request.persona, *self.request.subject])

    def degrade(self, what: str) -> None:
        """Note once what had to be left out."""
        if what not in self.degraded:
            self.degraded.append(what)

    def drop(self, written: Written, why: str, *, score: float = 0.0, true: bool = False) -> None:
        """Leave a sentence out; the trace tells it with the reason. A true one takes nothing from the others."""
        self.layout.skip(written)
        self.gap = True
        self.unsupported += not true
        self.note(written, f"dropped: {why}", score)

    def note(self, written: Written, what: str, score: float) -> None:
        """Keep for the trace what became of a sentence that is not shown as it was written."""
        citations = [number + 1 for number in written.cited]
        self.dropped.append(Claim(text=f"{written.text} ({what})", supported=False, score=score, citations=citations))

    def done(self, model: WriterModel, confidence: float) -> WritingDone:
        """The last event; why the writing is over counts only when nothing was sent."""
        return WritingDone(
            event="done",
            reason=None if self.sent else self.over or AnswerReason.NOT_SUPPORTED,
            confidence=round(confidence, 4),
            dropped=self.dropped,
            degraded=self.degraded,
            model=model,
            usage=self.usage,
        )

    def held(self) -> float:
        """Mean support of what was sent, times the share of the model's sentences that held."""
        if not self.sent:
            return 0.0
        mean = sum(sentence.score for sentence in self.sent) / len(self.sent)
        return mean * len(self.sent) / (len(self.sent) + self.unsupported)
