"""The doors that measure: what is sent, and what comes back."""

import pytest

from services.local.api import Api
from services.local.evaluation_api import EvaluationApi
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import EvaluationRequest
from services.shared.contracts.golden import GoldenIn, GoldenMakeRequest, GoldenState, Question
from tests.unit.local.fakes import FakeMeasuring, a_golden_question


@pytest.fixture
def gateway() -> FakeMeasuring:
    return FakeMeasuring(golden=[a_golden_question(f"g{n}", "approved" if n % 2 else "proposed") for n in range(5)])


@pytest.fixture
def doors(gateway: FakeMeasuring) -> EvaluationApi:
    return EvaluationApi(Api("http://gateway", "handbook", transport=gateway.transport()))


def test_an_evaluation_is_started_with_what_was_chosen_and_nothing_that_is_null(
    doors: EvaluationApi, gateway: FakeMeasuring
) -> None:
    started = doors.start_evaluation(EvaluationRequest(questions=[Question(id="q", text="Why?")], seed=3))
    assert (started.id, started.questions) == ("e1", 1)
    method, path, space, body = gateway.asked[-1]
    assert (method, path, space) == ("POST", "/v1/evaluations", "handbook")
    assert body["questions"][0]["id"] == "q"
    assert "against" not in body
    assert "expected" not in body["questions"][0]


def test_a_refusal_keeps_its_code(doors: EvaluationApi, gateway: FakeMeasuring) -> None:
    gateway.golden.clear()
    with pytest.raises(RagstoneError) as caught:
        doors.start_evaluation(EvaluationRequest())
    assert caught.value.code is ErrorCode.GOLDEN_SET_EMPTY


def test_a_whole_evaluation_is_a_message(doors: EvaluationApi) -> None:
    assert doors.evaluation("e1").summary.values["right"].mean == 0.8


def test_all_pages_of_the_golden_set_are_walked(doors: EvaluationApi, gateway: FakeMeasuring) -> None:
    assert [item.question.id for item in doors.golden()] == ["g0", "g1", "g2", "g3", "g4"]
    assert [item.question.id for item in doors.golden(GoldenState.PROPOSED, flagged=False)] == ["g0", "g2", "g4"]
    assert "flagged=false" in gateway.asked[-1][1]


def test_golden_questions_go_in_at_once_and_proposals_are_a_job(doors: EvaluationApi, gateway: FakeMeasuring) -> None:
    done = doors.put_golden([GoldenIn(question=Question(id="q", text="Why?"), state=GoldenState.REJECTED)])
    assert (done.added, done.flagged) == (1, 1)
    assert gateway.asked[-1][3]["items"][0]["state"] == "rejected"
    assert doors.make_golden(GoldenMakeRequest(limit=7)).job_id == "j0"
    assert gateway.asked[-1][3] == {"limit": 7, "seed": 0, "by_model": False}


def test_an_id_with_a_slash_is_one_step_of_the_address(doors: EvaluationApi, gateway: FakeMeasuring) -> None:
    doors.remove_golden("faq/1?x")
    assert gateway.asked[-1][:2] == ("DELETE", "/v1/golden/faq%2F1%3Fx")
