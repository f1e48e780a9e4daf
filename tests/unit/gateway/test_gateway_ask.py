"""The story of a question, over fakes."""

import pytest

from services.gateway.flow.ask import ATTEMPTS, AskEvent
from services.gateway.wiring.flows import Gateway, gateway_of
from services.shared.contracts.answers import (
    Answer,
    AnswerReason,
    AnswerStatus,
    AskRequest,
    SentenceEvent,
    SourcesEvent,
    StageEvent,
)
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DEFAULT_SPACE, DocumentId, VersionId
from services.shared.contracts.profile import FixedTexts, Profile
from services.shared.contracts.search import Filters
from services.shared.contracts.writing import Span
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import SHED, done, found, passage, sentence

TEXTS = FixedTexts(not_found="Not in here.", declined="Only documents.", topics_intro="Close:")
KEY = (DocumentId("shed.md"), VersionId("v1"))


def gateway(world: World) -> Gateway:
    return gateway_of(world.outside(), world.settings, world.profile)


async def asked(world: World, **fields: object) -> Answer:
    request = AskRequest.model_validate({"question": "When does it open?"} | fields)
    return await gateway(world).ask.answer(DEFAULT_SPACE, request, "trace-1")


async def events(world: World) -> list[AskEvent]:
    request = AskRequest(question="When?")
    return [event async for event in gateway(world).ask.events(DEFAULT_SPACE, request, "trace-1")]


@pytest.fixture
def world() -> World:
    return World(profile=Profile(texts=TEXTS))


async def test_an_answer_carries_numbered_checked_citations(world: World) -> None:
    one = passage()
    world.answers(
        one,
        script=[
            sentence("It opens at nine.", (one, "opens at nine"), of=[one]),
            sentence("No lamps, and it opens.", (one, "Rule 7 forbids lamps"), (one, "opens at nine"), of=[one]),
            done(confidence=0.7),
        ],
    )
    answer = await asked(world)
    assert answer.status is AnswerStatus.ANSWERED
    assert answer.reason is None
    assert answer.text == "It opens at nine [1]. No lamps, and it opens [2][1]."
    assert [SHED[c.start : c.end] == c.quote for c in answer.citations] == [True, True]
    assert [claim.citations for claim in answer.claims] == [[1], [2, 1]]
    assert answer.confidence == pytest.approx(0.7)
    assert answer.passages_used == [one.chunk_id]
    assert answer.trace_id == "trace-1"
    assert answer.trace is None
    assert {"retrieve", "retrieve.vector", "write", "check", "total"} <= set(answer.timings_ms)
    assert len(answer.id) == 32
    assert world.generator.closed == 1


async def test_the_confidence_is_the_lower_of_verdict_and_writer(world: World) -> None:
    one = passage()
    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one]), done(confidence=0.99)])
    assert (await asked(world)).confidence == pytest.approx(0.9)


async def test_a_poor_gate_abstains_and_no_writer_is_asked(world: World) -> None:
    titles = ["Shed", "Shed", "Oars", "Boats", "Ropes"]
    near = [passage(title=title) for title in titles]
    world.retriever.response = found(*near, gate="poor", answerable=0.1)
    answer = await asked(world)
    assert world.generator.calls == []
    assert answer.status is AnswerStatus.ABSTAINED
    assert answer.reason is AnswerReason.NOTHING_RELEVANT
    assert answer.text == "Not in here.\n\nClose:\n- Shed\n- Oars\n- Boats"
    assert answer.citations == []
    assert answer.claims == []
    assert answer.passages_used == []
    assert answer.confidence == pytest.approx(0.1)


@pytest.mark.parametrize("gate", ["good", "fallback", "poor"])
async def test_nothing_found_is_an_honest_abstention_whatever_the_gate_says(world: World, gate: str) -> None:
    world.retriever.response = found(gate=gate)
    answer = await asked(world)
    assert answer.text == "Not in here."
    assert answer.reason is AnswerReason.NOTHING_RELEVANT
    assert world.generator.calls == []


async def test_sentences_without_a_true_quote_are_dropped(world: World) -> None:
    one = passage()
    true = sentence("It opens at nine.", (one, "opens at nine"), of=[one])
    false = true.model_copy(update={"text": "At ten.", "spans": [Span(passage=0, start=0, end=3, quote="ten")]})
    bare = true.model_copy(update={"text": "Bare.", "spans": []})
    world.answers(one, script=[false, true, bare, done()])
    answer = await asked(world)
    assert answer.text == "It opens at nine [1]."
    assert answer.degraded == ["sentences_dropped"]
    world.answers(one, script=[false, done()])
    nothing = await asked(world)
    assert nothing.status is AnswerStatus.ABSTAINED
    assert nothing.reason is AnswerReason.NOT_SUPPORTED
    assert nothing.text.startswith("Not in here.")


async def test_what_is_deleted_before_the_writing_is_never_sent(world: World) -> None:
    one = passage()
    world.answers(one, script=[done()])
    world.live.texts.clear()
    told = await events(world)
    assert [event.passages for event in told if isinstance(event, SourcesEvent)] == [[]] * ATTEMPTS
    answer = told[-1]
    assert isinstance(answer, Answer)
    assert answer.text == "Not in here."
    assert world.generator.calls == []


async def test_what_is_deleted_during_the_writing_is_neither_streamed_nor_answered(world: World) -> None:
    one, two = passage(), passage("Oars hang left.", document="oars.md", version="o1", source_text="Oars hang left.")
    two = two.model_copy(update={"title": "Oars"})
    world.live.texts[(two.document_id, two.version)] = "Oars hang left."
    world.answers(
        one,
        two,
        script=[
            sentence("It opens at nine.", (one, "opens at nine"), of=[one, two]),
            sentence("Oars hang left.", (two, "Oars hang left"), of=[one, two]),
            lambda: world.live.texts.__delitem__(KEY),
            sentence("No lamps.", (one, "Rule 7 forbids lamps"), of=[one, two]),
            done(),
        ],
    )
    told = await events(world)
    assert [event.text for event in told if isinstance(event, SentenceEvent)] == [
        "It opens at nine [1].",
        " Oars hang left [2].",
    ]
    answer = told[-1]
    assert isinstance(answer, Answer)
    assert answer.text == "Oars hang left [1]."
    assert [citation.document_id for citation in answer.citations] == ["oars.md"]
    assert answer.passages_used == [two.chunk_id]
    assert "shed" not in answer.model_dump_json().lower()


async def test_a_replaced_version_is_as_gone_as_a_deleted_one(world: World) -> None:
    one = passage()

    def replace() -> None:
        world.live.texts.clear()
        world.live.texts[(one.document_id, VersionId("v2"))] = SHED

    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one]), replace, done()])
    assert (await asked(world)).citations == []


@pytest.mark.parametrize("code", [ErrorCode.GENERATOR_UNAVAILABLE, ErrorCode.WRITER_UNAVAILABLE, ErrorCode.INTERNAL])
@pytest.mark.parametrize("after_a_sentence", [False, True])
async def test_a_failing_writer_abstains(world: World, code: ErrorCode, after_a_sentence: bool) -> None:
    one = passage()
    begun = [sentence("Nine.", (one, "nine"), of=[one])] if after_a_sentence else []
    world.answers(one, script=[*begun, RagstoneError(code, "down")])
    answer = await asked(world)
    assert answer.status is AnswerStatus.ABSTAINED
    assert answer.reason is AnswerReason.WRITER_UNAVAILABLE
    assert answer.degraded == ["writer_unavailable"]
    assert answer.citations == []
    assert "not available" in answer.text
    assert "Not in here" not in answer.text


async def test_a_writing_without_its_end_counts_as_failed(world: World) -> None:
    one = passage()
    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one])])
    assert (await asked(world)).reason is AnswerReason.WRITER_UNAVAILABLE


async def test_the_guardrail_declines_in_the_owners_words(world: World) -> None:
    one = passage()
    world.answers(one, script=[done(AnswerReason.GUARDRAIL)])
    answer = await asked(world)
    assert (answer.status, answer.text) == (AnswerStatus.DECLINED, "Only documents.")
    assert answer.reason is AnswerReason.GUARDRAIL


async def test_a_retriever_that_is_down_is_an_error(world: World) -> None:
    world.retriever.error = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "down")
    with pytest.raises(RagstoneError) as caught:
        await asked(world)
    assert caught.value.status == 503


async def test_events_come_in_the_order_of_the_story(world: World) -> None:
    one = passage()
    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one]), done()])
    told = await events(world)
    stages = [event.stage for event in told if isinstance(event, StageEvent)]
    assert stages == ["clean", "retrieve", "write", "check"]
    assert [type(event) for event in told if not isinstance(event, StageEvent)] == [
        SourcesEvent,
        SentenceEvent,
        Answer,
    ]


async def test_leaving_the_events_closes_the_writer(world: World) -> None:
    one = passage()
    world.answers(one, script=[sentence("Nine.", (one, "nine"), of=[one]), 60.0, done()])
    told = gateway(world).ask.events(DEFAULT_SPACE, AskRequest(question="When?"), "t")
    async for event in told:
        if isinstance(event, SentenceEvent):
            break
    await told.aclose()
    assert world.generator.closed == 1


async def test_the_question_goes_on_clean_with_filters_space_and_persona(world: World) -> None:
    one = passage()
    world.answers(one, script=[done()])
    await asked(world, question="  when\n now? ", filters={"type": "faq"}, explain=True)
    sent = world.retriever.calls[0]
    assert (sent.question, sent.filters, sent.explain) == ("when now?", Filters(type="faq"), True)
    written = world.generator.calls[0]
    assert (written.question, written.persona) == ("when now?", world.profile.persona)
    assert written.passages == [one]


async def test_explain_adds_the_trace(world: World) -> None:
    world.answers(passage(), script=[done()])
    answer = await asked(world, explain=True)
    assert answer.trace is not None
    assert answer.trace["retrieval"] == {"lists": {}}
