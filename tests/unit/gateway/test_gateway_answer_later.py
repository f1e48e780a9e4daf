"""The asker's story over fakes: whatever happens, a question ends or waits again."""

import asyncio
import time

import pytest

from services.gateway.domain.callers import Payer
from services.gateway.flow import answer_later
from services.gateway.flow.answer_later import AnswerLaterFlow
from services.gateway.ports.asked_later import LaterQuestion, Sender
from services.gateway.wiring.flows import gateway_of
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import JobId
from tests.unit.gateway.fake_later import ANYBODY, SPACE, FakeAskLedger
from tests.unit.gateway.fakes import World
from tests.unit.gateway.messages import done, passage, sentence

Q0 = JobId("q0")


class Scene:
    """A world that answers "Nine.", and an asker over it."""

    def __init__(self, *, limit_s: float = 5.0) -> None:
        self.world, self.ledger = World(), FakeAskLedger()
        self.stopping = False
        self.one = passage()
        self.world.answers(self.one, script=[sentence("Nine.", (self.one, "nine"), of=[self.one]), done()])
        self.flow = AnswerLaterFlow(
            ask=gateway_of(self.world.outside(), self.world.settings, self.world.profile).ask,
            ledger=self.ledger,
            clock=time.monotonic,
            limit_s=limit_s,
            stopping=lambda: self.stopping,
        )

    def hangs(self) -> None:
        """The writer never comes to its end."""
        self.world.answers(self.one, script=[sentence("Nine.", (self.one, "nine"), of=[self.one]), 60.0])

    def states(self, id: JobId = Q0) -> list[str]:
        return [what for job, what in self.ledger.happened if job == id]


async def test_the_answer_is_that_of_the_question_asked_at_once() -> None:
    scene = Scene()
    (id,) = scene.ledger.wait_in_row("When?", sender=Sender("k1", Payer("k1", 70), fresh=False))
    await scene.flow.answer(id)
    answer, documents, since = scene.ledger.kept[id]
    assert (answer.text, answer.status, answer.trace_id) == ("Nine [1].", "answered", "request-of-q0")
    assert since == 1, "how far the content was before anything was searched"
    assert documents == {"shed.md"}
    assert scene.states() == ["clean", "retrieve", "write", "check", "succeeded"]
    written = scene.world.generator.calls[0]
    assert (written.client, written.daily_tokens) == ("k1", 70)


async def test_one_ring_goes_on_with_those_that_wait() -> None:
    scene = Scene()
    ids = scene.ledger.wait_in_row("When?", "And why?", "Who?")
    await scene.flow.answer(ids[1])
    assert list(scene.ledger.kept) == [ids[1], ids[0], ids[2]]
    await scene.flow.answer(ids[0])
    assert len(scene.ledger.kept) == 3, "a ring for one that is done is no work"


async def test_one_ring_does_not_go_on_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_later, "SLICE_S", -1.0)
    scene = Scene()
    ids = scene.ledger.wait_in_row("When?", "And why?")
    await scene.flow.answer(ids[0])
    assert list(scene.ledger.kept) == ids[:1]


async def test_a_cancelled_question_stops_the_writer_at_once() -> None:
    scene = Scene()
    scene.hangs()
    (id,) = scene.ledger.wait_in_row("When?")
    answering = asyncio.create_task(scene.flow.answer(id))
    await asyncio.wait_for(scene.ledger.staged.wait(), 5)
    scene.ledger.lease.lost = True
    await asyncio.wait_for(answering, 2)
    assert scene.world.generator.closed == 1
    assert scene.states()[-1] == "dropped"


async def test_a_process_that_is_told_to_end_gives_its_question_back() -> None:
    scene = Scene()
    scene.hangs()
    ids = scene.ledger.wait_in_row("When?", "Who?")
    answering = asyncio.create_task(scene.flow.answer(ids[0]))
    await asyncio.wait_for(scene.ledger.staged.wait(), 5)
    scene.stopping = True
    await asyncio.wait_for(answering, 2)
    assert scene.states()[-1] == "released"
    assert scene.states(ids[1]) == [], "and takes no other"


async def test_a_question_that_takes_too_long_fails_with_the_limit() -> None:
    scene = Scene(limit_s=0.3)
    scene.hangs()
    (id,) = scene.ledger.wait_in_row("When?")
    await asyncio.wait_for(scene.flow.answer(id), 5)
    assert scene.states()[-1] == "failed"
    assert "0.3 seconds" in scene.ledger.reasons[id]
    assert scene.world.generator.closed == 1


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "It is down; start it."), "put off"),
        (RagstoneError(ErrorCode.INVALID_REQUEST, "It is at fault; mend it."), "failed"),
    ],
)
async def test_an_outage_puts_a_question_off_and_its_own_fault_ends_it(error: RagstoneError, what: str) -> None:
    scene = Scene()
    scene.world.retriever.error = error
    (id,) = scene.ledger.wait_in_row("When?")
    await scene.flow.answer(id)
    assert scene.states()[-1] == what
    assert scene.ledger.reasons[id] == error.detail


async def test_a_surprise_fails_the_question_and_is_told_to_the_log() -> None:
    scene = Scene()
    scene.world.retriever.error = ValueError("secret")  # type: ignore[assignment]
    (id,) = scene.ledger.wait_in_row("When?")
    with pytest.raises(ValueError, match="secret"):
        await scene.flow.answer(id)
    assert scene.states()[-1] == "failed"
    assert "secret" not in scene.ledger.reasons[id]


async def test_a_busy_writer_is_asked_again_and_counts_no_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_later, "BUSY_S", 0.01)
    scene = Scene()
    calls = 0
    script = list(scene.world.generator.script)

    def busy_twice() -> None:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise RagstoneError(ErrorCode.BUSY, "Too much to do; ask again in a moment.")

    scene.world.generator.script = [busy_twice, *script]
    (id,) = scene.ledger.wait_in_row("When?")
    await scene.flow.answer(id)
    assert calls == 3
    assert scene.states()[-1] == "succeeded"
    calls = -10_000
    patient = Scene(limit_s=0.2)
    patient.world.generator.script = [busy_twice, *script]
    patient.ledger.wait_in_row("When?")
    await patient.flow.answer(Q0)
    assert patient.states()[-1] == "put off"


async def test_an_answer_that_a_deletion_overtook_is_asked_for_anew() -> None:
    scene = Scene()
    scene.ledger.overtaken = 2
    (id,) = scene.ledger.wait_in_row("When?")
    await scene.flow.answer(id)
    assert scene.ledger.kept[id][2] == 3
    assert len(scene.world.retriever.calls) >= 1


async def test_a_question_that_was_taken_out_says_so() -> None:
    scene = Scene()
    scene.ledger.waiting.append(LaterQuestion(Q0, SPACE, None, ANYBODY, "r"))
    await scene.flow.answer(Q0)
    assert scene.states() == ["failed"]
    assert "ask again" in scene.ledger.reasons[Q0]
