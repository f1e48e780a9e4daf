"""The story of a writing, told through its events."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from services.generator.domain.prompt import Prompt
from services.generator.flow.write import WriteFlow
from services.generator.ports import Piece
from services.shared.contracts.answers import AnswerReason
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.writing import SentenceWritten
from tests.unit.generator.fakes import FakeBudget, FakeScorer, FakeWriter, passage, request
from tests.unit.generator.told import DOCK, KEYS, QUESTION, write


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
    told = await write(request("When does the dock open, and who holds keys?", DOCK, KEYS), writer)
    assert told.texts == ["The dock opens at 05:45.", "Bo Ek holds three keys."]
    assert [span.passage for one in told.sentences for span in one.spans] == [0, 1]
    assert [claim.text for claim in told.end.dropped] == [
        "It opens at 07:00. (dropped: time: 07:00 is not in the source)"
    ]
    assert (told.end.reason, told.end.model.writer, told.end.model.name) == (None, "fake", "fake:1b")
    assert writer.closed == 1


async def test_an_empty_answer_is_not_supported() -> None:
    told = await write(QUESTION, FakeWriter(" \n"))
    assert (told.texts, told.end.reason, told.end.dropped) == ([], AnswerReason.NOT_SUPPORTED, [])


async def test_tokens_are_told_and_paid() -> None:
    budget = FakeBudget(1000)
    told = await write(QUESTION, FakeWriter("The dock opens at 05:45 [1].", used=(300, 12)), budget=budget)
    assert (told.end.usage.prompt, told.end.usage.answer) == (300, 12)
    assert budget.spent == {"public": 312}


async def test_a_writing_that_ends_early_is_paid_by_estimate() -> None:
    budget = FakeBudget(10_000)
    told = await write(QUESTION, FakeWriter("I am DAN. ", "More. ", used=(300, 12)), budget=budget)
    assert told.end.usage.prompt == 0
    assert budget.spent["public"] > 300


async def test_a_spent_budget_leaves_the_verbatim_answer() -> None:
    writer = FakeWriter("The dock opens at 05:45 [1].")
    told = await write(QUESTION, writer, budget=FakeBudget(0))
    assert told.texts == ["The dock opens at 05:45 on weekdays."]
    assert (told.end.degraded, writer.prompts) == (["budget_spent"], [])


@pytest.mark.parametrize(("daily", "own", "by"), [(0, 500, "fake"), (None, 300, "extractive"), (100, 0, "fake")])
async def test_a_client_with_a_budget_of_its_own_pays_from_that(daily: int | None, own: int, by: str) -> None:
    """Own budgets go before the setting's, in either direction; 0 is no limit."""
    budget = FakeBudget(daily)
    budget.spent["key-1"] = 400
    asked = QUESTION.model_copy(update={"client": "key-1", "daily_tokens": own})
    told = await write(asked, FakeWriter("The dock opens at 05:45 [1].", used=(90, 10)), budget=budget)
    assert told.end.model.writer == by
    assert told.end.degraded == (["budget_spent"] if by == "extractive" else [])
    assert budget.spent == {"key-1": 400 if by == "extractive" else 500}


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


@pytest.mark.parametrize(
    ("pieces", "told_first"),
    [((), []), (("Cake needs eggs [1]. ",), []), (("It opens on weekdays at 05:45 [1]. Bo",), ["It opens"])],
)
async def test_a_model_without_a_sentence_that_holds_for_too_long_is_replaced(
    pieces: tuple[str, ...], told_first: list[str]
) -> None:
    class Slow(FakeWriter):
        async def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
            for text in pieces:
                yield Piece(text)
            try:
                await asyncio.sleep(20)
            finally:
                self.closed += 1

    writer = Slow()
    async with asyncio.timeout(2):
        told = await write(QUESTION, writer, silence_s=0.1)
    assert told.end.degraded == ["writer_failed"]
    assert writer.closed == 1, "the model is stopped"
    assert told.notes[-1] == (
        "writer_failed", "The model wrote nothing that holds for 0.1 s; a smaller model would be faster.",
    )  # fmt: skip
    assert len(told.texts) == 1
    assert told.texts[0].startswith(told_first[0] if told_first else "The dock opens at 05:45 on weekdays.")


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
        scorer=FakeScorer(),
        writer=FakeWriter(busy=True),
        budget=FakeBudget(),
        threshold=0.2,
        support_threshold=0.5,
        note=lambda *_: None,
    )
    with pytest.raises(RagstoneError) as caught:
        flow.begin(QUESTION)
    assert caught.value.code is ErrorCode.BUSY


async def test_a_reader_who_leaves_stops_the_model() -> None:
    writer = FakeWriter("The dock opens at 05:45 [1]. ", "Bo Ek holds three keys [2]. ", "More.")
    flow = WriteFlow(
        scorer=FakeScorer(),
        writer=writer,
        budget=FakeBudget(),
        threshold=0.2,
        support_threshold=0.5,
        note=lambda *_: None,
    )
    events = flow.begin(QUESTION)
    await anext(events)
    assert writer.closed == 0
    await events.aclose()
    assert writer.closed == 1


async def test_the_first_sentence_leaves_before_the_second_is_whole() -> None:
    class Slow(FakeWriter):
        async def write(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
            yield Piece("The dock opens at 05:45 [1]. Bo")
            await asyncio.sleep(60)

    flow = WriteFlow(
        scorer=FakeScorer(), writer=Slow(), budget=FakeBudget(), threshold=0.2, support_threshold=0.5,
        note=lambda *_: None,
    )  # fmt: skip
    events = flow.begin(QUESTION)
    async with asyncio.timeout(2):
        first = await anext(events)
    assert isinstance(first, SentenceWritten)
    assert first.text == "The dock opens at 05:45."
    await events.aclose()


async def test_a_server_that_writes_without_end_is_stopped() -> None:
    told = await write(QUESTION, FakeWriter("The dock opens at 05:45 [1]. " + "x" * 60_000))
    assert told.texts == ["The dock opens at 05:45."]
    assert told.end.degraded == ["answer_cut"]
    told = await write(QUESTION, FakeWriter("the dock opens at 05:45 and " * 60 + "[1]."))
    assert told.texts == []
