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
from services.ingestor.flow.reembed import Reembed
from services.ingestor.flow.slices import Pace
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
        pace = Pace(tools)
        self._pace = pace
        self._alone: Mapping[JobKind, Callable[[], JobFlow]] = {
            JobKind.BATCH: lambda: BatchIngest(tools, pace),
            JobKind.CLEANUP: lambda: Cleanup(tools),
            JobKind.MEND: lambda: Mend(tools),
            JobKind.EVALUATION: lambda: Evaluate(tools),
            JobKind.GOLDEN: lambda: MakeGolden(tools, tools.evaluation.content),
            JobKind.CALIBRATION: lambda: Calibrate(tools),
            JobKind.REEMBED: lambda: Reembed(tools),
        }
        self._held: list[ClaimedJob] = []

    def answer(self, job_id: JobId) -> None:
        """Run the named job, with further documents that wait; nothing when others have them all.

        Before long work goes on, the documents that wait and that nobody began go in.
        """
        ledger, most = self._tools.ledger, self._tools.rules.group_jobs
        if ledger.takes_long(job_id):
            self._bring_in(ledger.claim_fresh(most))
        claimed = ledger.claim(job_id, most - 1)
        self._bring_in([job for job in claimed if job.kind == JobKind.DOCUMENT])
        for job in claimed:
            if job.kind != JobKind.DOCUMENT:
                self._held = [job]
                self._alone[job.kind]().run(job)
        self._held = []

    def _bring_in(self, documents: Sequence[ClaimedJob]) -> None:
        self._held = list(documents)
        if documents:
            DocumentIngest(self._tools, self._pace, self._held).run(documents)

    def give_up(self, reason: str) -> None:
        """The time is over in the middle of the work.

        A job that was alone fails. Of a group nobody knows whose fault it was: its jobs are left to their
        leases, and the next attempt at each is made alone.
        """
        if len(self._held) == 1:
            self._tools.ledger.fail(self._held[0], reason)
        self._held = []
