"""A worker with one evaluation to run, and the two questions that it asks."""

from dataclasses import replace

from services.shared.contracts.evaluation import Evaluation, Outcome
from services.shared.contracts.golden import Behaviour, GoldSpan, Question
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobKind, JobState
from tests.unit.ingestor.fake_evaluation import FakeJudge, FakeRecords, FakeSystem, evaluation_tools
from tests.unit.ingestor.fakes import World

POOL = Question(
    id="q1",
    text="When does the pool open?",
    kind="factual_recall",
    expected="The pool opens at seven.",
    facts=[["at seven"]],
    gold=[GoldSpan(document_id="pool.md", quote="The pool opens at seven.")],
)
CAKE = Question(id="q2", text="How do I bake a cake?", kind="boundaries", behaviour=Behaviour.ABSTAIN)


class Scene:
    def __init__(self, judge: FakeJudge | None = None) -> None:
        self.world = World()
        self.records, self.system, self.judge = FakeRecords(), FakeSystem(), judge
        tools = replace(self.world.tools, evaluation=evaluation_tools(self.records, self.system, judge))
        self.worker = type(self.world.worker)(tools)

    def queue(self, payload_id: str = "e1") -> JobId:
        return self.world.catalog.queue(JobKind.EVALUATION, {"evaluation_id": payload_id})

    def run(self) -> tuple[JobId, JobState]:
        job_id = self.queue()
        self.worker.answer(job_id)
        return job_id, self.world.state(job_id)

    @property
    def evaluation(self) -> Evaluation:
        assert self.records.finished is not None
        return self.records.finished[0]

    def outcome(self, question_id: str, variant: str = "full") -> Outcome:
        return self.records.stored[question_id, variant]
