"""Runs a writing with stand-ins and keeps what comes out of it."""

from services.generator.flow.write import WriteFlow
from services.shared.contracts.writing import SentenceWritten, WriteRequest, WritingDone
from tests.unit.generator.fakes import FakeBudget, FakeScorer, FakeWriter, passage, request

DOCK = passage("The dock opens at 05:45 on weekdays. It closes at noon.", title="Dock times")
KEYS = passage("Bo Ek holds three keys to the dock.", title="Keys")
QUESTION = request("When does the dock open?", DOCK, KEYS)


class Told:
    """All that came out of one writing."""

    def __init__(self) -> None:
        self.sentences: list[SentenceWritten] = []
        self.done: list[WritingDone] = []
        self.notes: list[tuple[str, str]] = []

    @property
    def end(self) -> WritingDone:
        """The one last event."""
        (end,) = self.done
        return end

    @property
    def texts(self) -> list[str]:
        """What a reader sees."""
        return [one.text for one in self.sentences]


async def write(
    asked: WriteRequest,
    writer: FakeWriter | None = None,
    scorer: FakeScorer | None = None,
    budget: FakeBudget | None = None,
    *,
    silence_s: float | None = None,
) -> Told:
    """Runs one writing to its end."""
    told = Told()
    flow = WriteFlow(
        scorer=scorer or FakeScorer(), writer=writer, budget=budget or FakeBudget(),
        threshold=0.22, support_threshold=0.5, silence_s=silence_s,
        note=lambda what, why: told.notes.append((what, why)),
    )  # fmt: skip
    async for event in flow.begin(asked):
        assert not told.done, "done is the last event"
        if isinstance(event, SentenceWritten):
            told.sentences.append(event)
        else:
            told.done.append(event)
    for sentence in told.sentences:
        assert sentence.spans
        for span in sentence.spans:
            assert asked.passages[span.passage].text[span.start : span.end] == span.quote
    return told
