"""An evaluation, top to bottom: ask each question as a client would, review, count, compare, report.

What was asked is kept question by question, so that a break costs at most one, and the work makes way for other
jobs: for a document that waits within seconds.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from services.ingestor.flow.judged import JUDGE_AWAY, JUDGE_WROTE, Judged
from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.flow.progress import Progress
from services.ingestor.ports.evaluation import Judge, Ordered, SystemUnderTest
from services.ingestor.ports.jobs import ClaimedJob, Lease, LeaseLost, ProgressNote
from services.ingestor.ports.tools import Tools
from services.shared.contracts.answers import AnswerStatus
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import Evaluation, Outcome, Variant
from services.shared.contracts.golden import Question
from services.shared.evaluation.report.html import html
from services.shared.evaluation.report.markdown import markdown
from services.shared.evaluation.summary import brief_metrics, summarise
from services.shared.evaluation.variants import FULL, LADDER

LEAST_S = 2.0
"""Beginning again costs a fraction of this: the questions are read and the gold passages located anew."""
JUDGE_LOST = (
    "the judge gave no verdict on {n} of {of} answers, which the rules alone judged; "
    "is the server at RAGSTONE_JUDGE_URL running?"
)
JUDGE_WROTE_THEM = "the judge wrote {n} of {of} answers itself, which the rules alone judged; name another model"


class Evaluate:
    """Runs EVALUATION jobs."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._evaluation = tools.evaluation

    def run(self, job: ClaimedJob) -> None:
        """Work through the questions until the end or the end of the time slice."""
        tools = self._tools
        with tools.leases.hold([job.id]) as lease:
            try:
                ordered = self._evaluation.records.load(str(job.payload.get("evaluation_id")))
                with self._evaluation.system(ordered.space) as system:
                    self._slice(job, lease, ordered, system)
            except LeaseLost:
                tools.ledger.drop(job)
            except tools.time_up:
                raise
            except Exception as error:
                fail_or_put_off(tools.ledger, job, error, f"evaluation {job.id}")

    def _slice(self, job: ClaimedJob, lease: Lease, ordered: Ordered, system: SystemUnderTest) -> None:
        if not self._ask(job, lease, ordered, system):
            self._tools.ledger.release([job])
            self._tools.bell.ring(job.queue, job.id, job.request_id)
            return
        evaluation = self._summed_up(ordered, system)
        kept: Evaluation | None = evaluation
        while kept is not None:
            evaluation = kept
            texts = markdown(evaluation), html(evaluation)
            if not lease.keeps(job.id):
                raise LeaseLost
            kept = self._evaluation.records.finish(evaluation, *texts)
        self._tools.ledger.succeed(job, _brief(evaluation), _unjudged(evaluation))

    def _judge(self, ordered: Ordered) -> Judge | None:
        """The judge, if one is set, wanted and there."""
        judge = self._evaluation.judge
        if judge is None or not ordered.request.judge:
            return None
        try:
            judge.probe()
        except RagstoneError:
            return None
        return judge

    def _ask(self, job: ClaimedJob, lease: Lease, ordered: Ordered, system: SystemUnderTest) -> bool:
        """Ask what was not asked yet; False when the time slice is over before the end."""
        tools, records = self._tools, self._evaluation.records
        progress = Progress(tools.ledger, tools.clock)
        judge = self._judge(ordered)
        judged = Judged(ordered.request, system, self._evaluation.likeness, judge, tools.clock)
        done = records.asked(ordered.id)
        steps = list(_steps(ordered))
        began = tools.clock()
        for n, (question, variant) in enumerate(steps):
            if (question.id, variant.name) in done:
                continue
            progress.say([ProgressNote(job.id, variant.name, n, len(steps))])
            if not lease.keeps(job.id):
                raise LeaseLost
            outcome = self._outcome(job, judged, system, question, variant)
            if judge is None and self._wants_judge(ordered) and outcome.status == AnswerStatus.ANSWERED:
                outcome = outcome.model_copy(update={"degraded": [*outcome.degraded, JUDGE_AWAY]})
            records.add(ordered.id, [outcome])
            if n + 1 < len(steps) and self._makes_way(tools.clock() - began):
                return False
        tools.ledger.progress([ProgressNote(job.id, "report", len(steps), len(steps))])
        return True

    def _wants_judge(self, ordered: Ordered) -> bool:
        return self._evaluation.judge is not None and ordered.request.judge

    def _outcome(
        self, job: ClaimedJob, judged: Judged, system: SystemUnderTest, question: Question, variant: Variant
    ) -> Outcome:
        """How the question comes out. An outage puts the job off; at a later attempt it is the question's own error,
        if the gateway answers otherwise: one that always hangs keeps no other from being asked."""
        try:
            return judged.outcome(question, variant)
        except RagstoneError as error:
            if job.attempts < 2:
                raise
            system.describe()
            return Outcome(question_id=question.id, variant=variant.name, error=error.detail)

    def _makes_way(self, worked_s: float) -> bool:
        """After its time slice for any other job; for a document that waits, almost at once."""
        if worked_s > self._tools.rules.time_slice_s:
            return True
        return worked_s > LEAST_S and self._tools.ledger.documents_wait()

    def _summed_up(self, ordered: Ordered, system: SystemUnderTest) -> Evaluation:
        records = self._evaluation.records
        outcomes = records.outcomes(ordered.id)
        failed = [outcome for outcome in outcomes if outcome.error]
        if outcomes and len(failed) == len(outcomes):
            # So that a retry asks them again.
            records.forget(ordered.id)
            detail = f"not one question could be asked; the first failure: {failed[0].error}"
            raise RagstoneError(ErrorCode.INTERNAL, detail)
        return summarise(
            evaluation_id=ordered.id,
            space=ordered.space,
            request=ordered.request,
            questions=ordered.questions,
            outcomes=outcomes,
            system={**self._evaluation.described, **system.describe(), "judge": self._judge_of(outcomes)},
            created_at=ordered.created_at,
            before=records.earlier(ordered),
        )

    def _judge_of(self, outcomes: Sequence[Outcome]) -> str | None:
        """The judge's name, where it judged anything."""
        judge = self._evaluation.judge
        judged = any(review.by == "judge" for outcome in outcomes for review in outcome.reviews)
        return judge.name if judge is not None and judged else None


def _steps(ordered: Ordered) -> Iterator[tuple[Question, Variant]]:
    """Everything once as the system stands, then, if that was asked for, with stages switched off."""
    for variant in (FULL, *(LADDER if ordered.request.ablate else ())):
        for question in ordered.questions:
            yield question, variant


def _unjudged(evaluation: Evaluation) -> str | None:
    """What to warn of when the judge was there and did not judge."""
    answered = [one for one in evaluation.outcomes if one.variant == FULL.name and one.status == AnswerStatus.ANSWERED]
    for said, what in ((JUDGE_WROTE, JUDGE_WROTE_THEM), (JUDGE_AWAY, JUDGE_LOST)):
        n = sum(said in one.degraded for one in answered)
        if n:
            return what.format(n=n, of=len(answered))
    return None


def _brief(evaluation: Evaluation) -> dict[str, Any]:
    """What the job says of its outcome."""
    return {
        "evaluation_id": evaluation.id,
        "questions": len(evaluation.questions),
        "vetoed": evaluation.comparison.vetoed if evaluation.comparison else None,
        "metrics": brief_metrics(evaluation),
    }
