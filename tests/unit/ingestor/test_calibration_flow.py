"""A calibration job: every question asked once, resumable, in force at its end, and clear about too little content."""

from typing import Any

from services.ingestor.flow import calibrate as flow
from services.ingestor.flow.calibrate import Calibrate
from services.shared.contracts.calibration import Calibration
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, IndexId, JobId
from services.shared.contracts.jobs import JobKind, JobState
from services.shared.evaluation.golden.drafts import question_id
from services.shared.evaluation.golden.likely import KIND
from tests.unit.ingestor.fake_calibration import NOON, FakeCalibration
from tests.unit.ingestor.fakes import World


class Scene:
    def __init__(self, documents: int = 80) -> None:
        self.world = World()
        self.fake = FakeCalibration(documents)
        object.__setattr__(self.world.tools, "calibration", self.fake.tools())
        self.finder = self.fake.finder
        self.flow = Calibrate(self.world.tools)

    def queue(self, **payload: Any) -> JobId:
        return self.world.catalog.queue(JobKind.CALIBRATION, {"risk": 0.05, "questions": 80, "seed": 0} | payload)

    def answer(self, job_id: JobId) -> JobState:
        for job in self.world.catalog.claim(job_id, 0):
            self.flow.run(job)
        return self.world.state(job_id)

    def run(self, **payload: Any) -> tuple[JobId, JobState]:
        job_id = self.queue(**payload)
        return job_id, self.answer(job_id)

    @property
    def stored(self) -> Calibration:
        (one,) = self.fake.stored
        return one


def test_what_was_fitted_is_in_force_and_said() -> None:
    scene = Scene()
    job_id, state = scene.run(risk=0.1)
    assert state is JobState.SUCCEEDED
    one = scene.stored
    assert (one.id, one.index_id, one.created_at, one.seq, one.chunks, one.risk) == (job_id, "i1", NOON, 7, 160, 0.1)
    assert (one.asked["answerable"], one.asked["left_out"]) == (80, 80)
    assert one.asked["off_topic"] == 80
    assert one.answerability.weights["distance"] < 0 < one.answerability.weights["coverage"]
    assert one.thresholds.answerable is not None
    assert one.expected_coverage > 0.9
    assert one.auroc["off_topic"] > 0.99
    assert one.thresholds.fusion == "relative", "the other brings every answer farther down"
    result = scene.world.catalog.results[job_id]
    assert result["calibrated"] is True
    assert result["expected_risk"] == one.expected_risk
    assert scene.fake.cases == {}, "what was asked has served its purpose"


def test_each_question_is_asked_with_and_without_its_passages() -> None:
    scene = Scene()
    scene.run()
    asked = dict[str, list[list[ChunkId]]]()
    for question, without in scene.finder.asked:
        asked.setdefault(question, []).append(without)
    one = next(question for question in asked if "word5 " in question)
    assert asked[one] == [[], ["d5-0"]]


def test_a_passage_that_tells_the_same_is_left_out_once_it_turns_up() -> None:
    scene = Scene()
    scene.finder.twins = {5: ChunkId("twin-0")}
    scene.run()
    asked = [without for question, without in scene.finder.asked if "word5 " in question]
    assert asked == [[], ["d5-0"], ["d5-0", "twin-0"]]
    assert scene.stored.asked["left_out"] == 80


def test_an_answer_that_turns_up_again_and_again_does_not_count() -> None:
    scene = Scene()
    scene.finder.twins = {5: ChunkId("twin-0")}
    look = scene.finder.look
    scene.finder.look = lambda space, question, without, fusion=None: look(  # type: ignore[method-assign]
        space, question, [one for one in without if one != "twin-0"], fusion
    )
    scene.run()
    assert scene.stored.asked["left_out"] == 79


def test_too_little_content_keeps_what_held_before_and_says_so() -> None:
    scene = Scene(documents=10)
    job_id, state = scene.run()
    assert state is JobState.SUCCEEDED
    assert scene.fake.stored == []
    assert scene.finder.asked == [], "nothing is asked in vain"
    assert scene.world.catalog.results[job_id]["calibrated"] is False
    assert "60 are the least" in str(scene.world.catalog.warnings[job_id])


def test_an_empty_space_is_no_failure() -> None:
    scene = Scene()
    scene.fake.serving = None
    job_id, state = scene.run()
    assert state is JobState.SUCCEEDED
    assert scene.world.catalog.warnings[job_id] == flow.NO_CONTENT


def test_a_document_goes_first_and_nothing_is_asked_twice() -> None:
    scene = Scene()
    document = scene.world.send("new", "text")

    def wait() -> None:
        scene.world.clock.now += 0.7

    scene.finder.after_look = wait
    job_id = scene.queue()
    assert scene.answer(job_id) is JobState.QUEUED
    first = len(scene.finder.asked)
    assert first == 3, "after more than two seconds"
    assert scene.world.bell.rung == [job_id]
    scene.world.catalog.states[document] = JobState.SUCCEEDED
    while scene.answer(job_id) is JobState.QUEUED:
        pass
    assert scene.world.state(job_id) is JobState.SUCCEEDED
    assert scene.fake.plans == 1
    assert len(scene.finder.asked) == len({(question, *without) for question, without in scene.finder.asked})
    assert len(scene.finder.asked) == sum(scene.stored.asked.values())


def test_other_jobs_get_their_turn_after_a_time_slice() -> None:
    scene = Scene()

    def wait() -> None:
        scene.world.clock.now += 15.0

    scene.finder.after_look = wait
    job_id = scene.queue()
    assert scene.answer(job_id) is JobState.QUEUED
    assert len(scene.finder.asked) == 2


def test_an_outage_puts_it_off_and_what_was_seen_stays() -> None:
    scene = Scene()
    away = RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, "The retriever cannot be reached; is it running?")

    def fail() -> None:
        if len(scene.finder.asked) == 10:
            scene.finder.error = away

    scene.finder.after_look = fail
    job_id = scene.queue()
    assert scene.answer(job_id) is JobState.QUEUED
    assert "cannot be reached" in str(scene.world.catalog.reasons[job_id])
    scene.finder.error, scene.finder.after_look = None, lambda: None
    assert scene.answer(job_id) is JobState.SUCCEEDED
    assert len(scene.finder.asked) == sum(scene.stored.asked.values())


def test_another_index_is_asked_everything_anew() -> None:
    scene = Scene()

    def switch() -> None:
        if len(scene.finder.asked) == 30:
            scene.finder.index_id = scene.fake.serving = IndexId("i2")

    scene.finder.after_look = switch
    job_id = scene.queue()
    assert scene.answer(job_id) is JobState.QUEUED
    assert scene.answer(job_id) is JobState.SUCCEEDED
    assert scene.stored.index_id == "i2"
    assert len(scene.finder.asked) == 30 + sum(scene.stored.asked.values())


def test_a_question_whose_passage_is_gone_does_not_count() -> None:
    scene = Scene()
    scene.fake.dead = {ChunkId("d4-0")}
    scene.run()
    assert not any("word4 " in question for question, _ in scene.finder.asked)
    assert (scene.stored.asked["answerable"], scene.stored.asked["left_out"]) == (79, 79)


def test_a_job_that_was_taken_away_stores_nothing() -> None:
    scene = Scene()
    job_id = scene.queue()
    scene.finder.after_look = lambda: scene.world.lease.lost.add(job_id)
    scene.answer(job_id)
    assert scene.fake.stored == []
    assert len(scene.finder.asked) == 1


def test_golden_questions_are_left_to_the_evaluation() -> None:
    scene = Scene()
    text = scene.fake.documents[3].document.questions[0]
    scene.fake.golden = {question_id(KIND, text)}
    scene.run()
    assert text not in [question for question, _ in scene.finder.asked]


def test_what_is_answerable_and_not_found_is_told() -> None:
    scene = Scene()
    scene.fake.finder.blind = True
    job_id, state = scene.run()
    assert state is JobState.SUCCEEDED
    assert scene.world.catalog.results[job_id]["calibrated"] is False


def test_a_record_that_cannot_be_read_fails_with_what_to_do() -> None:
    scene = Scene()
    job_id, state = scene.run(risk=7)
    assert state is JobState.FAILED
    assert "calibrate again" in str(scene.world.catalog.reasons[job_id])
