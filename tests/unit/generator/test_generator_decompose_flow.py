"""Who takes a question apart, and what happens when nobody can."""

import asyncio
from typing import Any

import pytest

from services.generator.domain.decomposition import SCHEMA
from services.generator.domain.prompt import Prompt
from services.generator.flow.decompose import DecomposeFlow
from services.generator.ports import Piece
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.writing import Decomposed, DecomposeRequest
from tests.unit.generator.fakes import FakeBudget, FakeWriter

QUESTION = "When does the pier open and how much is a berth?"
BY_RULE = ["When does the pier open?", "How much is a berth?"]
BY_MODEL = '{"sub_questions": ["When does the pier open?"]}'
GONE = RagstoneError(ErrorCode.WRITER_UNAVAILABLE, "gone")
BUSY = RagstoneError(ErrorCode.BUSY, "full", retry_after_s=1)


class Notes(list[tuple[str, str]]):
    """What the operator is told."""

    def __call__(self, what: str, why: str) -> None:
        self.append((what, why))


async def run(
    writer: FakeWriter | None, *, question: str = QUESTION, budget: FakeBudget | None = None, notes: Notes | None = None
) -> Decomposed:
    """One question through the flow."""
    note = Notes() if notes is None else notes
    flow = DecomposeFlow(writer=writer, budget=budget or FakeBudget(), timeout_s=0.2, note=note)
    return await flow.decompose(DecomposeRequest(question=question, language="en", client="ann"))


async def test_the_model_does_it_while_one_is_ready() -> None:
    writer = FakeWriter(replies=[BY_MODEL])
    assert await run(writer) == Decomposed(sub_questions=BY_RULE[:1], by="model", degraded=[])
    ((_, schema, _),) = writer.completed
    assert schema == SCHEMA


@pytest.mark.parametrize(("obeys", "sent"), [(True, SCHEMA), (None, SCHEMA), (False, None)])
async def test_a_server_that_ignores_schemas_is_sent_none(obeys: bool | None, sent: dict[str, Any] | None) -> None:
    writer = FakeWriter(replies=[BY_MODEL], obeys_schema=obeys)
    await run(writer)
    assert writer.completed[0][1] == sent


@pytest.mark.parametrize("writer", [None, FakeWriter(ready=False)], ids=["none", "not ready"])
async def test_a_rule_does_it_without_a_model_and_that_is_no_loss(writer: FakeWriter | None) -> None:
    assert await run(writer) == Decomposed(sub_questions=BY_RULE, by="rule", degraded=[])


@pytest.mark.parametrize("reply", [GONE, BUSY, "prose", "", "<think>never done", '{"sub_questions": ["Far away?"]}'])
async def test_a_rule_steps_in_where_the_model_fails_and_it_is_counted(reply: str | RagstoneError) -> None:
    notes = Notes()
    told = await run(FakeWriter(replies=[reply]), notes=notes)
    assert told == Decomposed(sub_questions=BY_RULE, by="rule", degraded=["decomposition_skipped"])
    ((what, why),) = notes
    assert what == "decomposition_fallback"
    assert why.endswith("(1 since the start)")


async def test_a_mended_reply_is_counted_and_used() -> None:
    notes = Notes()
    told = await run(FakeWriter(replies=['{"questions": ["When does the pier open?"]}']), notes=notes)
    assert (told.sub_questions, told.by, told.degraded, len(notes)) == (BY_RULE[:1], "model", [], 1)


async def test_an_empty_list_is_an_answer() -> None:
    notes = Notes()
    told = await run(FakeWriter(replies=['{"sub_questions": []}']), notes=notes)
    assert (told, notes) == (Decomposed(sub_questions=[], by="none", degraded=[]), [])


async def test_a_simple_question_without_model_has_no_parts() -> None:
    assert await run(None, question="When does the pier open?") == Decomposed(sub_questions=[], by="none", degraded=[])


async def test_the_model_has_a_limit_and_is_left_alone_after_it() -> None:
    class Slow(FakeWriter):
        async def complete(self, prompt: Prompt, schema: dict[str, Any] | None, max_tokens: int) -> Piece:
            self.completed.append((prompt, schema, max_tokens))
            await asyncio.sleep(20)
            raise AssertionError

    writer, notes = Slow(), Notes()
    flow = DecomposeFlow(writer=writer, budget=FakeBudget(), timeout_s=0.1, note=notes)
    asked = DecomposeRequest(question=QUESTION, language="en", client="ann")
    async with asyncio.timeout(2):
        told = [await flow.decompose(asked) for _ in range(3)]
    assert told == [Decomposed(sub_questions=BY_RULE, by="rule", degraded=["decomposition_skipped"])] * 3
    assert (len(writer.completed), len(notes)) == (1, 1)


async def test_it_is_paid_for_by_the_models_own_count_or_an_estimate() -> None:
    counted, guessed = FakeBudget(), FakeBudget()
    await run(FakeWriter(replies=[BY_MODEL], used=(120, 20)), budget=counted)
    await run(FakeWriter(replies=[BY_MODEL]), budget=guessed)
    assert counted.spent == {"ann": 140}
    assert guessed.spent["ann"] > 100


async def test_who_has_spent_the_budget_gets_the_rule() -> None:
    writer = FakeWriter(replies=[BY_MODEL])
    told = await run(writer, budget=FakeBudget(tokens=0))
    assert told == Decomposed(sub_questions=BY_RULE, by="rule", degraded=["budget_spent"])
    assert writer.completed == []


async def test_a_clients_own_budget_goes_before_the_settings() -> None:
    budget = FakeBudget(tokens=0)
    flow = DecomposeFlow(writer=FakeWriter(replies=[BY_MODEL]), budget=budget, timeout_s=0.2, note=Notes())
    asked = DecomposeRequest(question=QUESTION, language="en", client="key-1", daily_tokens=50)
    assert (await flow.decompose(asked)).by == "model"
    assert budget.spent["key-1"] > 50
    assert (await flow.decompose(asked)).degraded == ["budget_spent"]


@pytest.mark.parametrize("question", ["pier", "When and", "pier " * 4000])
async def test_a_word_or_a_whole_text_is_not_worth_a_model(question: str) -> None:
    writer = FakeWriter(replies=[BY_MODEL])
    assert (await run(writer, question=question)).sub_questions == []
    assert writer.completed == []
