"""A document that is replaced while a question about it is answered."""

import pytest

from services.gateway.flow.ask import ATTEMPTS, AskEvent
from services.gateway.wiring.flows import gateway_of
from services.shared.contracts.answers import Answer, AnswerReason, AnswerStatus, AskRequest, SentenceEvent, StageEvent
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DEFAULT_SPACE, DocumentId, VersionId
from services.shared.contracts.search import Passage
from services.shared.contracts.writing import WriteEvent
from tests.unit.gateway.fake_services import Step
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import SHED, done, found, passage, sentence

NEW_TEXT = "The shed opens at ten."
OLD, NEW = passage(), passage(NEW_TEXT, version="v2", source_text=NEW_TEXT)


def quoting(one: Passage, text: str) -> WriteEvent:
    return sentence(f"It {text}.", (one, text), of=[one])


def world(*script: Step, old_lives: bool = True) -> World:
    """The first retrieval finds the old version, and the next the new one."""
    world = World()
    world.answers(OLD, script=script)
    world.retriever.later = [found(NEW)]
    if not old_lives:
        replace(world)
    return world


def replace(world: World) -> None:
    world.live.texts = {(DocumentId("shed.md"), VersionId("v2")): NEW_TEXT}


async def events(world: World) -> tuple[list[AskEvent], Answer]:
    flow = gateway_of(world.outside(), world.settings, world.profile).ask
    told = [event async for event in flow.events(DEFAULT_SPACE, AskRequest(question="When?"), "t")]
    answer = told.pop()
    assert isinstance(answer, Answer)
    return told, answer


def stages(told: list[AskEvent]) -> list[str]:
    return [event.stage for event in told if isinstance(event, StageEvent)]


def sentences(told: list[AskEvent]) -> list[str]:
    return [event.text for event in told if isinstance(event, SentenceEvent)]


async def test_passages_that_died_before_the_check_are_searched_again() -> None:
    told, answer = await events(world(quoting(NEW, "opens at ten"), quoting(NEW, "The shed"), done(), old_lives=False))
    assert (answer.status, answer.text) == (AnswerStatus.ANSWERED, "It opens at ten [1]. It The shed [2].")
    assert [citation.version for citation in answer.citations] == ["v2", "v2"]
    assert stages(told) == ["clean", "retrieve", "retrieve", "write", "check"]
    assert sentences(told) == ["It opens at ten [1].", " It The shed [2]."]


async def test_a_sentence_that_died_before_it_was_sent_is_written_anew() -> None:
    one = world()
    one.generator.script = [lambda: replace(one), quoting(OLD, "opens at nine"), done()]

    def then_the_new() -> None:
        one.generator.script = [quoting(NEW, "opens at ten"), done()]

    one.generator.script.insert(0, then_the_new)
    # The list of the first writing goes on although the next one is set.
    told, answer = await events(one)
    assert answer.text == "It opens at ten [1]."
    assert answer.degraded == []
    assert stages(told) == ["clean", "retrieve", "write", "check", "retrieve", "write", "check"]


async def test_a_sentence_that_was_heard_is_replaced_by_the_answer_alone() -> None:
    one = world()

    def over() -> None:
        replace(one)
        one.generator.script = [quoting(NEW, "opens at ten"), done()]

    one.generator.script = [quoting(OLD, "opens at nine"), over, done()]
    told, answer = await events(one)
    assert sentences(told) == ["It opens at nine [1]."]
    assert answer.text == "It opens at ten [1]."


async def test_it_is_not_searched_again_for_ever() -> None:
    one = world(done())
    one.live.texts.clear()
    _, answer = await events(one)
    assert len(one.retriever.calls) == ATTEMPTS
    assert answer.reason is AnswerReason.NOTHING_RELEVANT


async def test_what_was_kept_is_not_thrown_away_for_what_died() -> None:
    rest = passage("Oars hang left.", document="oars.md", version="o1", source_text="Oars hang left.")
    one = World()
    one.live.texts[(rest.document_id, rest.version)] = "Oars hang left."
    one.answers(
        OLD, rest, script=[sentence("Left.", (rest, "Oars hang left"), of=[OLD, rest]), lambda: drop(one), done()]
    )
    _, answer = await events(one)
    assert answer.text == "Left [1]."
    assert len(one.retriever.calls) == 1


def drop(world: World) -> None:
    del world.live.texts[(DocumentId("shed.md"), VersionId("v1"))]


@pytest.mark.parametrize("end", [done(AnswerReason.GUARDRAIL), RagstoneError(ErrorCode.WRITER_UNAVAILABLE, "away")])
async def test_ends_that_another_search_would_not_change_are_ends(end: Step) -> None:
    one = world()
    one.generator.script = [lambda: replace(one), end]
    await events(one)
    assert len(one.retriever.calls) == 1


async def test_an_abstention_over_living_passages_is_no_reason_to_search_again() -> None:
    one = world(done())
    assert one.live.texts == {(DocumentId("shed.md"), VersionId("v1")): SHED}
    _, answer = await events(one)
    assert answer.status is AnswerStatus.ABSTAINED
    assert len(one.retriever.calls) == 1
