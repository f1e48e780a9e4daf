"""What a worker does when the bell rings: take the job, and more of its kind, and run them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from services.ingestor.flow.batch import BatchIngest
from services.ingestor.flow.calibrate import Calibrate
from services.ingestor.flow.cleanup import Cleanup
from services.ingestor.flow.evaluate import Evaluate
from services.ingestor.flow.golden import MakeGolden
from services.ingestor.flow.ingest import DocumentIngest
from services.ingestor.flow.mend import Mend
from services.ingestor.ports.jobs import ClaimedJob
from services.ingestor.ports.tools import Tools
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobKind


class JobFlow(Protocol):
    """Runs one job to its end, or to the end of its time slice; notes the outcome itself."""

    def run(self, job: ClaimedJob) -> None: ...


class Worker:
    """One worker process. The catalog says what there is to do; the bell only says that there is something."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._alone: Mapping[JobKind, Callable[[], JobFlow]] = {
            JobKind.BATCH: lambda: BatchIngest(tools),
            JobKind.CLEANUP: lambda: Cleanup(tools),
            JobKind.MEND: lambda: Mend(tools),
            JobKind.EVALUATION: lambda: Evaluate(tools),
            JobKind.GOLDEN: lambda: MakeGolden(tools, tools.evaluation.content),
            JobKind.CALIBRATION: lambda: Calibrate(tools),
        }
        self._held: Sequence[ClaimedJob] = ()

    def answer(self, job_id: JobId) -> None:
        """Run the named job and up to a group of waiting documents; nothing when others have them all."""
        claimed = self._tools.ledger.claim(job_id, self._tools.rules.group_jobs - 1)
        self._held = self._apart(claimed)
        documents = [job for job in self._held if job.kind == JobKind.DOCUMENT]
        if documents:
            DocumentIngest(self._tools).run(documents)
        for job in self._held:
            if job.kind != JobKind.DOCUMENT:
                self._alone[job.kind]().run(job)
        self._held = ()

    def give_up(self, reason: str) -> None:
        """The time is over in the middle of the work.

        A job that was alone fails. Of a group nobody knows whose fault it was: its jobs are left to their
        leases, and the next attempt at each is made alone.
        """
        if len(self._held) == 1:
            self._tools.ledger.fail(self._held[0], reason)
        self._held = ()

    def _apart(self, jobs: Sequence[ClaimedJob]) -> Sequence[ClaimedJob]:
        """A job that was begun before may have killed its worker: it runs alone, so that it takes nobody along."""
        fresh = [job for job in jobs if job.attempts == 1]
        if len(fresh) == len(jobs) or len(jobs) == 1:
            return jobs
        mine = fresh or jobs[:1]
        back = [job for job in jobs if job not in mine]
        self._tools.ledger.release(back)
        for job in back:
            self._tools.bell.ring(job.queue, job.id, job.request_id)
        return mine
