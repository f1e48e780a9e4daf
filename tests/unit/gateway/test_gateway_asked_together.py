"""Equal questions of one moment, over fakes."""

import asyncio

from services.gateway.domain.callers import Payer
from services.shared.contracts.answers import AnswerStatus, SentenceEvent
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DEFAULT_SPACE
from tests.unit.gateway.shared_asking import ASKED, Asking, told


async def test_equal_questions_of_one_moment_run_once_and_the_first_pays() -> None:
    asking = Asking(0.05)
    answers = await asyncio.gather(
        *(asking.flow.answer(DEFAULT_SPACE, ASKED, f"t{n}", Payer("first")) for n in range(10))
    )
    assert asking.runs == 1
    assert [call.client for call in asking.world.generator.calls] == ["first"]
    assert len({one.id for one in answers}) == 10
    assert [one.trace_id for one in answers] == [f"t{n}" for n in range(10)]
    assert {one.text for one in answers} == {"It opens at nine [1]."}
    assert not any(one.cached for one in answers)
    assert asking.counts == (0, 1, 9)
    assert all((DEFAULT_SPACE, one.id) in asking.world.remembered.kept for one in answers)


async def test_those_with_another_budget_get_an_answer_of_their_own() -> None:
    asking = Asking(0.05)
    payers = [Payer("spent"), Payer("rich"), Payer("rich")]
    answers = await asyncio.gather(
        *(asking.flow.answer(DEFAULT_SPACE, ASKED, f"t{n}", payer) for n, payer in enumerate(payers))
    )
    assert sorted(call.client for call in asking.world.generator.calls) == ["rich", "spent"]
    assert {one.text for one in answers} == {"It opens at nine [1]."}
    assert asking.counts == (0, 2, 1)
    await asking.settled()
    assert not asking.flow._flights
    assert (await asking.flow.answer(DEFAULT_SPACE, ASKED, "t9", Payer("third"))).cached, "what is kept is for all"


async def test_unequal_questions_of_one_moment_do_not_meet() -> None:
    asking = Asking(0.02)
    await asyncio.gather(asking.ask(), asking.ask(space="other"), asking.ask("When does it shut?"))
    assert asking.runs == 3


async def test_who_comes_later_hears_it_from_the_beginning() -> None:
    asking = Asking(0.1)
    first = asyncio.create_task(told(asking.flow.events(DEFAULT_SPACE, ASKED, "t1")))
    while not asking.runs:
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.02)
    second = await told(asking.flow.events(DEFAULT_SPACE, ASKED, "t2"))
    shapes = [[type(event) for event in events] for events in (await first, second)]
    assert shapes[0] == shapes[1]
    assert asking.runs == 1


async def test_the_first_one_leaving_stops_nothing_and_the_last_one_stops_the_writer() -> None:
    asking = Asking(60.0)
    streams = [asking.flow.events(DEFAULT_SPACE, ASKED, f"t{n}") for n in range(2)]
    for stream in streams:
        async for event in stream:
            if isinstance(event, SentenceEvent):
                break
    await streams[0].aclose()
    await asyncio.sleep(0.01)
    assert asking.world.generator.closed == 0
    await streams[1].aclose()
    await asking.settled()
    assert asking.world.generator.closed == 1
    assert not asking.world.given.kept
    asking.world.generator.script = [step for step in asking.world.generator.script if step != 60.0]
    assert (await asking.ask()).status is AnswerStatus.ANSWERED, "nobody joins what was stopped"


async def test_whoever_comes_while_it_is_being_stopped_begins_anew() -> None:
    asking = Asking(60.0)
    stream = asking.flow.events(DEFAULT_SPACE, ASKED, "t1")
    async for event in stream:
        if isinstance(event, SentenceEvent):
            break
    await stream.aclose()
    asking.world.generator.script = [step for step in asking.world.generator.script if step != 60.0]
    assert asking.flow._flights, "not over yet"
    assert (await asking.ask()).status is AnswerStatus.ANSWERED
    assert not asking.flow._flights
    assert not asking.flow._running


async def test_an_error_reaches_all_and_is_not_remembered() -> None:
    asking = Asking()
    asking.world.retriever.error = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "away", retry_after_s=5)
    outcomes = await asyncio.gather(
        *(asking.flow.answer(DEFAULT_SPACE, ASKED, f"t{n}") for n in range(3)), return_exceptions=True
    )
    assert [one.code for one in outcomes if isinstance(one, RagstoneError)] == [ErrorCode.RETRIEVER_UNAVAILABLE] * 3
    assert [one.retry_after_s for one in outcomes if isinstance(one, RagstoneError)] == [5] * 3
    assert len({id(one) for one in outcomes}) == 3
    assert len(asking.world.retriever.calls) == 1
    asking.world.retriever.error = None
    assert (await asking.ask()).status is AnswerStatus.ANSWERED


async def test_without_a_cache_equal_questions_still_run_once() -> None:
    asking = Asking(0.02)
    asking.world.given.takes = False
    await asyncio.gather(asking.ask(), asking.ask())
    assert asking.runs == 1
    assert not (await asking.ask()).cached
