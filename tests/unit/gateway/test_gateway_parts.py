"""Questions with several parts: told by cheap signs, taken apart beside the first search, searched once more."""

import asyncio

import pytest

from services.gateway.domain.parts import has_parts, may_have_parts, sound_parts
from services.gateway.settings import GatewaySettings
from services.gateway.wiring.flows import gateway_of
from services.shared.contracts.answers import Answer, AskRequest, StageEvent
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DEFAULT_SPACE
from services.shared.contracts.search import SearchRequest, SearchResponse, Stages, Verdict
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, found, passage, sentence

TWO = "When does the shed open and how much is the entry?"
LONG = "Tell me everything about the history of the shed by the lake near the old mill"

SEVERAL = [
    TWO,
    "When does it open? How much is it?",
    "Where did she work, and why did she leave?",
    "Who runs the shed or is it closed?",
    "Compare the shed and the barn.",
    "What is the difference between Basic and Pro?",
    "How does Rust differ from Go?",
    "Shed versus barn: which one?",
    "Do both sheds open at nine?",
    "Does she know Rust as well as Go?",
    "What are the pros and cons of the shed?",
    "Wann öffnet der Schuppen und was kostet er?",
    "Wer leitet den Verein und wo trifft er sich?",
    "Was ist der Unterschied zwischen A und B?",
    "Qui dirige le club et combien coûte l'entrée ?",
]

ONE = [
    "When does the shed open?",
    "Where does she work?",
    "Is research and development a team of its own?",
    "Who are Mary and Tom?",
    "What do the rules say about lamps and oars?",
    "Wann öffnet der Schuppen?",
    "Was kosten Kaffee und Kuchen?",
    "parking",
    "Which indifferent person opened the shed?",
]


@pytest.mark.parametrize("question", SEVERAL)
def test_several_parts_are_told(question: str) -> None:
    assert has_parts(question)


@pytest.mark.parametrize("question", ONE)
def test_one_part_is_one(question: str) -> None:
    assert not has_parts(question)


@pytest.mark.parametrize(
    ("question", "gate", "answerable", "expected"),
    [
        (LONG, "good", 0.2, True),
        (LONG, "good", 0.8, False),
        (LONG, "poor", 0.2, False),
        (LONG, "fallback", 0.2, False),
        ("When does it open?", "good", 0.2, False),
    ],
)
def test_a_long_question_with_a_weak_verdict_may_have_parts(
    question: str, gate: str, answerable: float, expected: bool
) -> None:
    assert may_have_parts(question, Verdict(answerable=answerable, gate=gate, reason="")) is expected


def test_only_parts_that_add_something_are_kept() -> None:
    proposed = ["  ", "when does IT open", "When  does the shed open?", "\ud800", "Fee?", "fee", "x" * 99, "Who?"]
    assert sound_parts("When does it open?", proposed, 50) == ("When does the shed open?", "Fee?", "Who?")


async def asked(world: World, question: str, **fields: object) -> tuple[Answer, list[str]]:
    flow = gateway_of(world.outside(), world.settings, world.profile).ask
    request = AskRequest.model_validate({"question": question} | fields)
    told = [event async for event in flow.events(DEFAULT_SPACE, request, "t")]
    answer = told[-1]
    assert isinstance(answer, Answer)
    return answer, [event.stage for event in told if isinstance(event, StageEvent)]


def answering(verdict: float = 0.9) -> World:
    world = World()
    one = passage()
    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one]), done()])
    world.retriever.response = found(one, answerable=verdict)
    return world


async def test_a_question_with_parts_is_searched_for_once_more_with_them() -> None:
    world = answering()
    world.generator.parts = ["When does the shed open?", "How much is the entry?"]
    answer, stages = await asked(world, TWO, explain=True)
    assert stages == ["clean", "decompose", "retrieve", "retrieve", "write", "check"]
    assert [call.sub_questions for call in world.retriever.calls] == [[], list(world.generator.parts)]
    assert {call.question for call in world.retriever.calls} == {TWO}
    assert answer.sub_questions == world.generator.calls[0].sub_questions == list(world.generator.parts)
    assert answer.timings_ms["decompose"] >= 0
    assert answer.degraded == []
    assert answer.trace is not None
    assert answer.trace["decomposed_by"] == "rule"


async def test_no_parts_found_is_one_search() -> None:
    world = answering()
    answer, stages = await asked(world, TWO)
    assert len(world.generator.taken_apart) == len(world.retriever.calls) == 1
    assert stages == ["clean", "decompose", "retrieve", "write", "check"]
    assert answer.sub_questions == []


async def test_a_simple_question_is_not_taken_apart() -> None:
    world = answering()
    answer, _ = await asked(world, "When does it open?")
    assert world.generator.taken_apart == []
    assert "decompose" not in answer.timings_ms


async def test_a_long_question_with_a_weak_verdict_is_taken_apart_afterwards() -> None:
    world = answering(verdict=0.2)
    world.generator.parts = ["What is the history of the shed?"]
    _, stages = await asked(world, LONG)
    assert stages == ["clean", "retrieve", "decompose", "retrieve", "write", "check"]


async def test_a_client_may_say_no() -> None:
    world = answering()
    await asked(world, TWO, stages={"decompose": False})
    assert world.generator.taken_apart == []


@pytest.mark.parametrize("failing", [RagstoneError(ErrorCode.GENERATOR_UNAVAILABLE, "down"), 60.0])
async def test_a_generator_that_fails_or_dawdles_is_not_waited_for(failing: RagstoneError | float) -> None:
    world = answering()
    world.settings = GatewaySettings(decompose_wait_s=0.05)
    world.generator.parts = failing
    answer, _ = await asked(world, TWO)
    assert answer.text == "Nine [1]."
    assert answer.degraded == ["decomposition_skipped"]


async def test_a_second_search_that_fails_leaves_the_first() -> None:
    world = answering()
    world.generator.parts = ["A?", "B?"]
    first = world.retriever.retrieve

    async def retrieve(request: object) -> SearchResponse:
        response = await first(request)  # type: ignore[arg-type]
        world.retriever.error = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "down")
        return response

    world.retriever.retrieve = retrieve  # type: ignore[method-assign]
    answer, _ = await asked(world, TWO)
    assert answer.text == "Nine [1]."
    assert answer.degraded == ["decomposition_skipped"]
    assert answer.sub_questions == []


async def test_a_search_that_fails_ends_the_taking_apart() -> None:
    world = answering()
    world.generator.parts = 60.0
    world.retriever.error = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "down")
    with pytest.raises(RagstoneError):
        await asked(world, TWO)
    await asyncio.sleep(0)
    assert len(world.generator.taken_apart) == 0 or world.generator.cancelled == 1


@pytest.mark.parametrize(("stages", "taken"), [(None, 0), (Stages(), 0), (Stages(decompose=True), 1)])
async def test_a_bare_search_takes_apart_only_when_asked_to(stages: Stages | None, taken: int) -> None:
    world = answering()
    world.generator.parts = ["A?", "B?"]
    flow = gateway_of(world.outside(), world.settings, world.profile).find
    response = await flow.search(DEFAULT_SPACE, SearchRequest(question=TWO, stages=stages))
    assert len(world.generator.taken_apart) == taken
    assert response.sub_questions == (["A?", "B?"] if taken else [])
