"""A golden job: by rule, then by model, resumable, proposing nothing twice, and clear about what is missing."""

import json
from dataclasses import replace
from typing import Any

import pytest

from services.ingestor.flow import golden as flow
from services.ingestor.flow.golden import MakeGolden
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import GoldenOrigin
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobKind, JobState
from services.shared.evaluation.reviewers.judging import JudgePrompt
from tests.unit.ingestor.fake_catalog import SPACE
from tests.unit.ingestor.fake_evaluation import FakeRecords, FakeSystem, evaluation_tools
from tests.unit.ingestor.fake_golden import FakeGoldenContent
from tests.unit.ingestor.fakes import TimeUp, World


class FakeWriter:
    """Writes a question about the first sentence of the passage that it is shown; ``errors`` come first."""

    name = "a-writer"

    def __init__(self, world: World) -> None:
        self.world = world
        self.asked: list[str] = []
        self.errors: list[RagstoneError] = []
        self.away: RagstoneError | None = None
        self.seconds = 1.0

    def probe(self) -> None:
        if self.away:
            raise self.away

    def ask(self, prompt: JudgePrompt) -> str:
        self.world.clock.now += self.seconds
        body = prompt.user.split("\n\n")[1]
        self.asked.append(body)
        if self.errors:
            raise self.errors.pop()
        evidence = body.split(".")[0] + "."
        name, hall = evidence.split()[0], evidence.rstrip(".").split()[-1]
        question = f"What is the head count of {name} in its building number {hall}?"
        said = {"usable": True, "evidence": evidence, "question": question, "answer": "Some.", "fact": ""}
        return json.dumps(said)


class Scene:
    def __init__(self, *, writer: bool = False) -> None:
        self.world = World()
        self.content = FakeGoldenContent(self.world.catalog.notes)
        self.writer = FakeWriter(self.world)
        tools = evaluation_tools(FakeRecords(), FakeSystem())
        tools = replace(tools, judge=self.writer if writer else None)
        self.flow = MakeGolden(replace(self.world.tools, evaluation=tools), self.content)

    def queue(self, **payload: Any) -> JobId:
        return self.world.catalog.queue(JobKind.GOLDEN, {"limit": 20, "seed": 0} | payload)

    def answer(self, job_id: JobId) -> JobState:
        for job in self.world.catalog.claim(job_id, 0):
            self.flow.run(job)
        return self.world.state(job_id)

    def run(self, **payload: Any) -> tuple[JobId, JobState]:
        job_id = self.queue(**payload)
        return job_id, self.answer(job_id)


def test_questions_are_made_by_rule_and_proposed_in_one_go() -> None:
    scene = Scene()
    job_id, state = scene.run()
    assert state is JobState.SUCCEEDED
    texts = [question.text for question in scene.content.by(GoldenOrigin.RULE)]
    assert "What is Gravel?" in texts
    assert any(text.startswith("How many people does") for text in texts)
    result = scene.world.catalog.results[job_id]
    assert result["proposed"] == len(texts) == sum(result["by"].values())
    assert (scene.content.proposals, scene.content.spaces) == (1, [SPACE])
    assert scene.world.catalog.warnings[job_id] is None


def test_a_second_run_proposes_nothing_twice() -> None:
    scene = Scene()
    scene.run()
    before = dict(scene.content.kept)
    _, state = scene.run()
    assert state is JobState.SUCCEEDED
    assert scene.content.kept == before


def test_a_second_run_goes_on_behind_what_is_known() -> None:
    scene = Scene(writer=True)
    scene.run(limit=6, by_model=True)
    first = dict(scene.content.kept)
    assert len(scene.writer.asked) == 3
    job_id, state = scene.run(limit=6, by_model=True)
    assert state is JobState.SUCCEEDED
    assert len(set(scene.writer.asked)) == 6
    assert first.items() < scene.content.kept.items()
    assert scene.world.catalog.results[job_id]["proposed"] == len(scene.content.kept)


def test_the_limit_is_kept_and_shared_with_the_model() -> None:
    scene = Scene(writer=True)
    _, state = scene.run(limit=4, by_model=True)
    assert state is JobState.SUCCEEDED
    assert len(scene.content.by(GoldenOrigin.RULE)) <= 2
    assert len(scene.content.by(GoldenOrigin.MODEL)) == len(scene.writer.asked) == 2


def test_the_model_is_not_asked_unless_that_is_wanted() -> None:
    scene = Scene(writer=True)
    scene.writer.away = RagstoneError(ErrorCode.JUDGE_UNAVAILABLE, "the judge is away")
    _, state = scene.run()
    assert (state, scene.writer.asked) == (JobState.SUCCEEDED, [])


def test_without_a_model_the_job_says_which_setting_is_missing_and_proposes_nothing() -> None:
    scene = Scene()
    job_id, state = scene.run(by_model=True)
    assert state is JobState.FAILED
    assert "RAGSTONE_JUDGE_URL" in str(scene.world.catalog.reasons[job_id])
    assert scene.content.kept == {}


def test_a_model_that_is_away_fails_the_job_with_its_reason() -> None:
    scene = Scene(writer=True)
    scene.writer.away = RagstoneError(ErrorCode.JUDGE_UNAVAILABLE, "the judge at x is away; start it")
    job_id, state = scene.run(by_model=True)
    assert (state, scene.content.kept) == (JobState.FAILED, {})
    assert "the judge at x is away; start it" in str(scene.world.catalog.reasons[job_id])


def test_work_with_the_model_makes_way_and_goes_on_where_it_stopped() -> None:
    scene = Scene(writer=True)
    scene.writer.seconds = 15.0
    job_id = scene.queue(by_model=True, limit=10)
    assert scene.answer(job_id) is JobState.QUEUED
    assert scene.world.bell.rung == [job_id]
    slices = 1
    while scene.answer(job_id) is JobState.QUEUED:
        slices += 1
        assert slices < 9
    assert scene.world.state(job_id) is JobState.SUCCEEDED
    assert slices >= 2
    assert len(scene.writer.asked) == len(set(scene.writer.asked)) == 5
    # The rules ran in the first slice only; the others proposed one question a passage.
    assert scene.content.proposals == 1 + 5
    assert scene.world.catalog.results[job_id]["by"]["paraphrase"] == 5


def test_one_failed_passage_is_passed_over_and_three_in_a_row_end_the_job() -> None:
    scene = Scene(writer=True)
    error = RagstoneError(ErrorCode.JUDGE_UNAVAILABLE, "the judge said nothing; look at its log")
    scene.writer.errors = [error, error]
    _, state = scene.run(by_model=True, limit=12)
    assert (state, len(scene.content.by(GoldenOrigin.MODEL))) == (JobState.SUCCEEDED, 4)
    scene = Scene(writer=True)
    scene.writer.errors = [error] * 3
    job_id, state = scene.run(by_model=True, limit=12, seed=1)
    assert state is JobState.FAILED
    assert "look at its log" in str(scene.world.catalog.reasons[job_id])


def test_a_reply_that_cannot_be_trusted_costs_one_question_only() -> None:
    scene = Scene(writer=True)
    scene.content.sources[0] = scene.content.sources[1]
    texts = iter(['{"usable": false}', "no JSON at all", "[]"])
    ask = scene.writer.ask
    scene.writer.ask = lambda prompt: next(texts, None) or ask(prompt)  # type: ignore[method-assign]
    _, state = scene.run(by_model=True, limit=12)
    assert state is JobState.SUCCEEDED


@pytest.mark.parametrize("stage", ["read", "make", "ask"])
def test_a_cancelled_job_stops_at_the_next_document_or_passage(stage: str) -> None:
    scene = Scene(writer=True)
    job_id = scene.queue(by_model=True, limit=12)
    if stage == "read":
        scene.content.after_document = lambda: scene.world.lease.lost.add(job_id)
    elif stage == "make":
        # The last document has been read when the lease is lost.
        read = iter([False, True])
        scene.content.after_document = lambda: scene.world.lease.lost.add(job_id) if next(read) else None
    else:
        ask = scene.writer.ask

        def lose_and_ask(prompt: JudgePrompt) -> str:
            scene.world.lease.lost.add(job_id)
            return ask(prompt)

        scene.writer.ask = lose_and_ask  # type: ignore[method-assign]
    assert scene.answer(job_id) is JobState.CANCELLED
    assert len(scene.writer.asked) == (1 if stage == "ask" else 0)
    assert bool(scene.content.by(GoldenOrigin.RULE)) is (stage == "ask")


def test_an_outage_puts_the_job_off_and_a_task_whose_time_is_over_is_left_to_the_worker() -> None:
    scene = Scene()
    scene.content.error = RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, "the catalog does not answer")
    assert scene.run()[1] is JobState.QUEUED
    scene.content.error = TimeUp()
    with pytest.raises(TimeUp):
        scene.run()


def test_a_space_without_documents_is_no_failure_but_is_told() -> None:
    scene = Scene()
    scene.content.sources = []
    job_id, state = scene.run()
    assert state is JobState.SUCCEEDED
    assert scene.world.catalog.warnings[job_id] == flow.NO_CONTENT


@pytest.mark.parametrize("payload", [{"limit": "many"}, {"limit": 0}])
def test_a_record_that_cannot_be_read_fails_with_what_to_do(payload: dict[str, Any]) -> None:
    scene = Scene()
    job_id, state = scene.run(**payload)
    assert state is JobState.FAILED
    assert "ask for the questions again" in str(scene.world.catalog.reasons[job_id])


def test_what_a_newer_gateway_wrote_beside_is_not_minded() -> None:
    scene = Scene()
    assert scene.run(schema_version=2, mood="fine")[1] is JobState.SUCCEEDED


def test_of_a_large_space_a_part_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "PASSAGES_MAX", 3)
    scene = Scene()
    read: list[int] = []
    scene.content.after_document = lambda: read.append(1)
    assert scene.run()[1] is JobState.SUCCEEDED
    assert {span.document_id for question, _ in scene.content.kept.values() for span in question.gold} == {"Gravel.md"}
    assert read == []
