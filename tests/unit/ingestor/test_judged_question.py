"""One question of an evaluation: what cannot be counted or found is told of this question, and costs no other one."""

import math
from typing import Any

import pytest

from services.ingestor.flow import judged as flow
from services.ingestor.flow.judged import Judged, finite
from services.shared.contracts.evaluation import EvaluationRequest
from services.shared.contracts.golden import GRADE_MAX, GoldSpan, Question
from services.shared.contracts.ids import DocumentId
from services.shared.evaluation.report.sentences import missing_gold, notes
from services.shared.evaluation.variants import FULL
from tests.unit.evaluation.making import evaluation
from tests.unit.ingestor.fake_evaluation import FakeRecords, FakeSystem, evaluation_tools
from tests.unit.ingestor.fakes import TimeUp

QUOTE = "The pool opens at seven."


def asked(*gold: tuple[str, str | None], id: str = "q1", grade: int = 1) -> Question:
    spans = [GoldSpan(document_id=DocumentId(document), quote=quote, grade=grade) for document, quote in gold]
    return Question(id=id, text="When does the pool open?", facts=[["at seven"]], gold=spans)


def judge(system: FakeSystem | None = None) -> Judged:
    system = system or FakeSystem()
    tools = evaluation_tools(FakeRecords(), system)
    return Judged(EvaluationRequest(), system, tools.likeness, None, lambda: 0.0)


@pytest.mark.parametrize("error", [OverflowError("too large"), SystemError("of a C library"), KeyError("lost")])
def test_what_cannot_be_counted_is_this_questions_error(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(flow, "retrieval_values", fail)
    outcome = judge().outcome(asked(("pool.md", QUOTE)), FULL)
    assert (outcome.question_id, outcome.values) == ("q1", {})
    assert type(error).__name__ in (outcome.error or "")


def test_when_the_workers_time_is_over_it_is_no_fault_of_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise TimeUp

    monkeypatch.setattr(flow, "answer_values", stop)
    with pytest.raises(TimeUp):
        judge().outcome(asked(("pool.md", QUOTE)), FULL)


def test_the_largest_grade_can_be_counted() -> None:
    outcome = judge().outcome(asked(("pool.md", QUOTE), ("pool.md", "Towels are lent"), grade=GRADE_MAX), FULL)
    assert (outcome.error, outcome.values["ndcg@10"]) == (None, 1.0)


def test_numbers_that_are_none_are_left_out() -> None:
    assert finite({"a": 1.0, "b": math.nan, "c": -math.inf}) == {"a": 1.0}


def test_gold_that_stands_nowhere_is_told() -> None:
    here, gone = asked(("pool.md", QUOTE), ("pool.md", None)), asked(("pool.md", "It shuts."), ("b.md", None), id="q2")
    outcomes = [judge().outcome(question, FULL) for question in (here, gone)]
    assert [one.missing_gold for one in outcomes] == [[], ["pool.md: It shuts.", "b.md"]]
    assert (missing_gold(evaluation(outcomes)) or "").startswith("The gold passages of 1 question do not stand in")
    assert missing_gold(evaluation(outcomes[:1])) is None


def test_documents_that_change_in_the_middle_are_told() -> None:
    outcomes = [judge().outcome(asked(("pool.md", QUOTE), id=id), FULL) for id in ("q1", "q2")]
    assert [one.seq for one in outcomes] == [1, 1]
    assert notes(evaluation(outcomes)) == []
    later = [outcomes[0], outcomes[1].model_copy(update={"seq": 2})]
    (note,) = notes(evaluation(later))
    assert note.startswith("Documents changed during the run")
