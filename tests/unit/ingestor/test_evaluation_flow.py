"""An evaluation job: asked once each, reviewed, resumable, compared, and honest about what failed."""

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.jobs import JobState
from services.shared.evaluation.variants import LADDER
from tests.unit.ingestor.evaluation_scene import CAKE, POOL, Scene


def test_every_question_is_searched_and_asked_once_and_counted() -> None:
    scene = Scene()
    scene.records.order([POOL, CAKE])
    job_id, state = scene.run()
    assert state is JobState.SUCCEEDED
    assert [one.question for one in scene.system.searched] == [POOL.text, CAKE.text]
    assert [one.question for one in scene.system.asked] == [POOL.text, CAKE.text]
    values = scene.outcome("q1").values
    assert (values["score"], values["ndcg@10"], values["citation_recall"], values["checks"]) == (1.0, 1.0, 1.0, 1.0)
    assert scene.outcome("q2").values["score"] == 1.0
    assert scene.evaluation.summary.values["score"].mean == 1.0
    assert {row.name for row in scene.evaluation.by_kind} == {"factual_recall", "boundaries"}
    result = scene.world.catalog.results[job_id]
    assert (result["evaluation_id"], result["questions"], result["vetoed"]) == ("e1", 2, None)
    assert result["metrics"]["score"] == 1.0
    _, markdown, html = scene.records.finished or (None, "", "")
    assert "factual" in markdown
    assert html.startswith("<!DOCTYPE html>")


def test_a_quote_that_does_not_stand_at_its_place_is_a_wrong_answer() -> None:
    scene = Scene()
    scene.system.quote = "The pool opens at eight."
    scene.records.order([POOL])
    scene.run()
    assert scene.outcome("q1").values["checks"] == 0.0
    assert scene.outcome("q1").values["score"] == -1.0


def test_a_quote_has_to_stand_at_its_place_in_the_version_that_is_cited() -> None:
    scene = Scene()
    scene.records.order([POOL])
    scene.system.quote = "Towels are lent at the desk."
    scene.run()
    assert scene.outcome("q1").values["checks"] == 0.0, "it stands in the text, but not there"
    replaced = Scene()
    replaced.records.order([POOL])
    replaced.system.live_text = "Closed for good."
    replaced.run()
    assert replaced.outcome("q1").values["checks"] == 1.0, "the cited version is what counts, not the live one"


def test_an_answer_that_nobody_searched_for_saw_no_documents_change() -> None:
    scene = Scene()
    scene.records.order([POOL, CAKE])
    scene.system.unasked = {CAKE.text}
    scene.run()
    assert (scene.outcome("q1").seq, scene.outcome("q2").seq) == (1, 1)
    answers = Scene()
    answers.records.order([CAKE], subject="answers")
    answers.system.unasked = {CAKE.text}
    answers.run()
    assert answers.outcome("q2").seq is None


def test_half_of_the_system_is_evaluated_alone() -> None:
    scene = Scene()
    scene.records.order([POOL], subject="retrieval")
    scene.run()
    assert scene.system.asked == []
    assert scene.outcome("q1").status is None
    other = Scene()
    other.records.order([POOL], subject="answers")
    other.run()
    assert other.system.searched == []
    assert "score" in other.outcome("q1").values


def test_an_ablation_switches_stages_for_search_and_for_answers() -> None:
    scene = Scene()
    scene.records.order([POOL], ablate=True)
    scene.run()
    assert [one.stages for one in scene.system.asked] == [None, *(variant.stages for variant in LADDER)]
    assert [row.name for row in scene.evaluation.ablation] == [*(variant.name for variant in LADDER), "full"]


def test_it_makes_way_after_its_time_slice_and_asks_nothing_twice() -> None:
    scene = Scene()
    scene.records.order([POOL, CAKE], subject="answers")
    scene.system.after_call = lambda: setattr(scene.world.clock, "now", scene.world.clock.now + 30)
    job_id, state = scene.run()
    assert state is JobState.QUEUED
    assert scene.world.bell.rung == [job_id]
    scene.worker.answer(job_id)
    assert scene.world.state(job_id) is JobState.SUCCEEDED
    assert [one.question for one in scene.system.asked] == [POOL.text, CAKE.text]


@pytest.mark.parametrize(("waits", "state"), [(True, JobState.QUEUED), (False, JobState.SUCCEEDED)])
def test_a_document_that_waits_is_let_through_within_seconds(*, waits: bool, state: JobState) -> None:
    scene = Scene()
    scene.records.order([POOL, CAKE], subject="answers")
    scene.system.after_call = lambda: setattr(scene.world.clock, "now", scene.world.clock.now + 3)
    if waits:
        scene.world.send("pool.md", "The pool opens at seven.")
    assert scene.run()[1] is state


def test_a_question_that_is_refused_is_an_error_of_its_own() -> None:
    scene = Scene()
    scene.records.order([POOL, CAKE])
    scene.system.errors[CAKE.text] = RagstoneError(ErrorCode.QUESTION_TOO_LONG, "The question is too long.")
    _, state = scene.run()
    assert state is JobState.SUCCEEDED
    assert scene.outcome("q2").error == "The question is too long."
    assert scene.evaluation.summary.values["errors"].mean == 0.5


def test_when_no_question_can_be_asked_the_job_fails_and_says_why() -> None:
    scene = Scene()
    scene.records.order([POOL])
    scene.system.errors[POOL.text] = RagstoneError(ErrorCode.QUESTION_TOO_LONG, "The question is too long.")
    job_id, state = scene.run()
    assert state is JobState.FAILED
    assert "The question is too long." in (scene.world.catalog.reasons[job_id] or "")
    scene.system.errors.clear()
    assert scene.run()[1] is JobState.SUCCEEDED, "a retry asks again"


def test_a_question_that_always_hangs_keeps_no_other_from_being_asked() -> None:
    scene = Scene()
    scene.records.order([POOL, CAKE], subject="answers")
    scene.system.errors[POOL.text] = RagstoneError(ErrorCode.GATEWAY_UNAVAILABLE, "The gateway did not answer in time.")
    job_id, state = scene.run()
    assert state is JobState.QUEUED
    scene.worker.answer(job_id)
    assert scene.world.state(job_id) is JobState.SUCCEEDED
    assert scene.outcome("q1").error == "The gateway did not answer in time."
    assert scene.outcome("q2").error is None


def test_a_gateway_that_is_away_puts_the_job_off_and_keeps_what_was_asked() -> None:
    scene = Scene()
    scene.records.order([POOL, CAKE])
    away = RagstoneError(ErrorCode.GATEWAY_UNAVAILABLE, "The gateway cannot be reached.")
    scene.system.errors[CAKE.text] = away
    scene.system.describe_error = away
    job_id, state = scene.run()
    assert state is JobState.QUEUED
    assert set(scene.records.stored) == {("q1", "full")}
    scene.worker.answer(job_id)
    assert scene.world.state(job_id) is JobState.QUEUED, "nothing answers, so it is nobody's own error"
    scene.system.errors.clear()
    scene.system.describe_error = None
    scene.worker.answer(job_id)
    assert scene.world.state(job_id) is JobState.SUCCEEDED
    assert [one.question for one in scene.system.asked] == [POOL.text, CAKE.text]


def test_a_loss_beyond_chance_against_an_earlier_run_is_vetoed() -> None:
    questions = [POOL.model_copy(update={"id": f"q{n}"}) for n in range(20)]
    first = Scene()
    first.records.order(questions)
    first.run()
    for worse in (False, True):
        again = Scene()
        again.records.order(questions, against="last")
        again.records.before = first.evaluation
        if worse:
            again.system.quote = "The pool opens at eight."
        job_id, _ = again.run()
        assert again.world.catalog.results[job_id]["vetoed"] is worse
    assert again.evaluation.comparison is not None
    assert again.evaluation.comparison.before_id == "e1"


def test_cancelling_ends_it_between_two_questions() -> None:
    scene = Scene()
    scene.records.order([POOL, CAKE])
    job_id = scene.queue()
    scene.system.after_call = lambda: scene.world.lease.lost.add(job_id)
    scene.worker.answer(job_id)
    assert len(scene.records.stored) == 1
    assert scene.records.finished is None


@pytest.mark.parametrize("payload", ["", "unknown"])
def test_a_job_without_its_order_fails_at_once(payload: str) -> None:
    scene = Scene()
    scene.records.order([POOL])
    job_id = scene.queue(payload)
    scene.worker.answer(job_id)
    assert scene.world.state(job_id) is JobState.FAILED
