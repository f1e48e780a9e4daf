"""The story of a writing, told through its events."""

import pytest

from services.generator.flow.write import WriteFlow
from services.shared.contracts.answers import AnswerReason
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.writing import SentenceWritten, WriteRequest, WritingDone
from tests.unit.generator.fakes import FakeScorer, FakeWriter, passage, request

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


async def write(asked: WriteRequest, writer: FakeWriter | None = None, scorer: FakeScorer | None = None) -> Told:
    """Runs one writing to its end."""
    told = Told()
    flow = WriteFlow(
        scorer=scorer or FakeScorer(), writer=writer, threshold=0.22, support_threshold=0.5,
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


async def test_verbatim_where_no_model_is_wanted() -> None:
    told = await write(QUESTION)
    assert told.texts == ["The dock opens at 05:45 on weekdays."]
    assert (told.end.reason, told.end.model.writer, told.end.degraded) == (None, "extractive", [])
    assert told.end.confidence > 0.22


async def test_nothing_fits_and_nothing_is_said() -> None:
    told = await write(request("How do I bake carrot cake?", DOCK, KEYS))
    assert told.texts == []
    assert told.end.reason is AnswerReason.NOT_SUPPORTED


async def test_without_passages_the_model_is_not_even_asked() -> None:
    writer, scorer = FakeWriter("The dock opens at 05:45 [1]."), FakeScorer()
    told = await write(request("When does the dock open?"), writer, scorer)
    assert (told.texts, told.end.reason) == ([], AnswerReason.NOT_SUPPORTED)
    assert (writer.prompts, scorer.asked) == ([], [])


async def test_scores_that_cannot_be_had_leave_words() -> None:
    told = await write(QUESTION, scorer=FakeScorer(broken=True))
    assert told.texts == ["The dock opens at 05:45 on weekdays."]
    assert told.end.degraded == ["scores_unavailable"]


async def test_the_models_sentences_leave_checked() -> None:
    writer = FakeWriter("The dock opens ", "at 05:45 [1]. Bo Ek holds ", "three keys [2][9]. It opens at 07:00 [1].")
    told = await write(QUESTION, writer)
    assert told.texts == ["The dock opens at 05:45.", "Bo Ek holds three keys."]
    assert [span.passage for one in told.sentences for span in one.spans] == [0, 1]
    assert [claim.text for claim in told.end.dropped] == ["It opens at 07:00."]
    assert (told.end.reason, told.end.model.writer, told.end.model.name) == (None, "fake", "fake:1b")
    assert writer.closed == 1


async def test_a_true_sentence_with_the_wrong_number_gets_the_right_one() -> None:
    told = await write(QUESTION, FakeWriter("The dock opens at 05:45 [2]. It opens at 07:00 [2]."))
    assert told.texts == ["The dock opens at 05:45."]
    assert [span.passage for span in told.sentences[0].spans] == [0]
    assert [(claim.text, claim.citations) for claim in told.end.dropped] == [("It opens at 07:00.", [2])]


async def test_what_the_model_copies_from_the_prompts_example_is_dropped() -> None:
    told = await write(QUESTION, FakeWriter("Breakfast is served from 7:30 in the old barn [2]."))
    assert (told.texts, told.end.reason) == ([], AnswerReason.NOT_SUPPORTED)


async def test_nothing_left_is_not_supported() -> None:
    told = await write(QUESTION, FakeWriter("It opens at 07:00 [1]."))
    assert told.texts == []
    assert told.end.reason is AnswerReason.NOT_SUPPORTED
    assert told.end.confidence == 0


@pytest.mark.parametrize(
    "reply", ["NOT IN THE PASSAGES", "The passages do not say. Anyway, the dock opens at 05:45 [1]."]
)
async def test_a_model_that_does_not_know_is_believed_and_stopped(reply: str) -> None:
    writer = FakeWriter(reply, " More. ", " And more.")
    told = await write(QUESTION, writer)
    assert (told.texts, told.end.reason) == ([], AnswerReason.NOT_SUPPORTED)
    assert told.end.dropped == []
    assert writer.closed == 1


async def test_a_persona_break_is_declined_and_noted_with_its_rule() -> None:
    told = await write(QUESTION, FakeWriter("As an AI language model, I cannot say. The dock opens at 05:45 [1]."))
    assert (told.texts, told.end.reason) == ([], AnswerReason.GUARDRAIL)
    assert told.notes == [("guardrail", "as_a_machine")]


async def test_a_model_that_goes_in_circles_says_it_once() -> None:
    told = await write(QUESTION, FakeWriter("The dock opens at 05:45 [1]. " * 5))
    assert told.texts == ["The dock opens at 05:45."]


async def test_a_cut_off_answer_is_said_to_be() -> None:
    told = await write(QUESTION, FakeWriter("The dock opens at 05:45 [1]. It closes at no", end="length"))
    assert told.texts == ["The dock opens at 05:45."]
    assert told.end.degraded == ["answer_cut"]


async def test_a_failing_model_is_replaced() -> None:
    told = await write(QUESTION, FakeWriter(end="error"))
    assert told.texts == ["The dock opens at 05:45 on weekdays."]
    assert (told.end.degraded, told.end.model.writer) == (["writer_failed"], "extractive")
    assert told.notes == [("writer_failed", "broke off")]


async def test_a_model_that_breaks_off_is_completed_without_repetition() -> None:
    told = await write(QUESTION, FakeWriter("The dock opens on weekdays at 05:45 [1]. And", end="error"))
    assert told.texts == ["The dock opens on weekdays at 05:45."]
    assert (told.end.degraded, told.end.reason) == (["writer_failed"], None)


async def test_a_model_that_is_not_there_is_replaced() -> None:
    writer = FakeWriter(ready=False)
    told = await write(QUESTION, writer)
    assert told.texts == ["The dock opens at 05:45 on weekdays."]
    assert told.end.degraded == ["writer_fallback"]
    assert writer.prompts == []


async def test_passages_that_do_not_fit_are_said_and_not_cited() -> None:
    long = passage("filler words " * 400)
    writer = FakeWriter("The dock opens at 05:45 [1]. Bo Ek holds three keys [3].", window=(1024, 300))
    told = await write(request("When does the dock open?", DOCK, long, KEYS), writer)
    assert told.texts == ["The dock opens at 05:45."]
    assert told.end.degraded == ["passages_dropped"]


async def test_a_busy_model_is_said_before_anything_is_sent() -> None:
    flow = WriteFlow(
        scorer=FakeScorer(), writer=FakeWriter(busy=True), threshold=0.2, support_threshold=0.5, note=lambda *_: None
    )
    with pytest.raises(RagstoneError) as caught:
        flow.begin(QUESTION)
    assert caught.value.code is ErrorCode.BUSY


async def test_a_reader_who_leaves_stops_the_model() -> None:
    writer = FakeWriter("The dock opens at 05:45 [1]. ", "Bo Ek holds three keys [2]. ", "More.")
    flow = WriteFlow(scorer=FakeScorer(), writer=writer, threshold=0.2, support_threshold=0.5, note=lambda *_: None)
    events = flow.begin(QUESTION)
    await anext(events)
    assert writer.closed == 0
    await events.aclose()
    assert writer.closed == 1
