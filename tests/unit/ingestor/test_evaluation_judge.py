"""The judge of an evaluation: beside the rules, never the writer, and missed when it is away."""

import pytest

from services.ingestor.flow.judged import JUDGE_WROTE
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import Behaviour, Question
from services.shared.contracts.jobs import JobState
from tests.unit.ingestor.evaluation_scene import CAKE, POOL, Scene
from tests.unit.ingestor.fake_evaluation import FakeJudge


def test_a_judge_is_asked_about_the_system_as_it_stands_only() -> None:
    judge = FakeJudge()
    scene = Scene(judge)
    scene.records.order([POOL], subject="answers", ablate=True)
    scene.run()
    assert len(judge.asked) == 2, "once for accuracy, once for validity"


def test_where_no_answer_is_right_none_is_compared_with_what_is_expected() -> None:
    scene = Scene(FakeJudge())
    silent = Question(id="q3", text="Is the pool haunted?", behaviour=Behaviour.ABSTAIN, expected="Nothing says so.")
    scene.records.order([silent])
    scene.run()
    assert scene.outcome("q3").status == "answered"
    assert {review.reviewer for review in scene.outcome("q3").reviews} == {"checks", "validity"}
    assert scene.outcome("q3").values["score"] == -1.0


def test_a_judge_reviews_beside_the_rules_and_their_agreement_is_reported() -> None:
    scene = Scene(FakeJudge())
    scene.records.order([POOL, CAKE])
    scene.run()
    by = {(review.reviewer, review.by) for review in scene.outcome("q1").reviews}
    assert {("accuracy", "judge"), ("validity", "judge"), ("accuracy", "rule")} <= by
    assert not any(review.by == "judge" for review in scene.outcome("q2").reviews), "there is no answer to judge"
    assert any({one.first, one.second} == {"rule", "judge"} for one in scene.evaluation.agreement)
    assert scene.evaluation.system["judge"] == "a-judge"


def test_reviewers_do_not_see_what_is_not_theirs() -> None:
    judge = FakeJudge()
    scene = Scene(judge)
    scene.records.order([POOL])
    scene.run()
    about_validity = [prompt for prompt in judge.asked if POOL.text not in prompt.user]
    assert len(about_validity) == len(judge.asked) - 1 == 1
    assert str(POOL.expected) not in about_validity[0].system
    about_accuracy = next(prompt for prompt in judge.asked if POOL.text in prompt.user)
    assert "pool.md" not in about_accuracy.user, "neither sources nor passages"


@pytest.mark.parametrize("name", ["small-writer", "/models/Small-Writer.gguf"])
def test_the_model_that_wrote_never_judges(name: str) -> None:
    scene = Scene(FakeJudge(name=name))
    scene.records.order([POOL])
    job_id, _ = scene.run()
    assert not any(review.by == "judge" for review in scene.outcome("q1").reviews)
    assert JUDGE_WROTE in scene.outcome("q1").degraded
    assert "wrote 1 of 1 answers" in str(scene.world.catalog.warnings[job_id])


def test_a_judge_that_goes_away_in_the_middle_is_told() -> None:
    judge = FakeJudge()
    judge.lost = RagstoneError(ErrorCode.JUDGE_UNAVAILABLE, "The judge did not answer in time.")
    scene = Scene(judge)
    scene.records.order([POOL, CAKE])
    job_id, state = scene.run()
    assert state is JobState.SUCCEEDED
    assert "no verdict on 1 of 1 answers" in str(scene.world.catalog.warnings[job_id])


def test_a_judge_that_is_away_costs_a_warning_and_nothing_else() -> None:
    judge = FakeJudge()
    judge.away = RagstoneError(ErrorCode.JUDGE_UNAVAILABLE, "The judge at http://j cannot be reached.")
    scene = Scene(judge)
    scene.records.order([POOL])
    job_id, state = scene.run()
    assert state is JobState.SUCCEEDED
    assert "no verdict on 1 of 1 answers" in str(scene.world.catalog.warnings[job_id])
    assert scene.evaluation.system["judge"] is None


def test_a_judge_that_is_back_in_a_later_slice_is_told_for_what_it_missed() -> None:
    judge = FakeJudge()
    judge.away = RagstoneError(ErrorCode.JUDGE_UNAVAILABLE, "The judge at http://j cannot be reached.")
    scene = Scene(judge)
    scene.records.order([POOL, POOL.model_copy(update={"id": "q9"})], subject="answers")
    scene.system.after_call = lambda: setattr(scene.world.clock, "now", scene.world.clock.now + 30)
    job_id, _ = scene.run()
    judge.away = None
    scene.worker.answer(job_id)
    assert "no verdict on 1 of 2 answers" in str(scene.world.catalog.warnings[job_id])
    assert scene.evaluation.system["judge"] == "a-judge"
