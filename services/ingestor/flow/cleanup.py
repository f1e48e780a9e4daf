"""Finishing a deletion: what the gateway could not take out at once, or died before it could.

Nothing can answer from the document since the catalog's transaction; this takes it out of everything else that
repeats it. Each step may be run any number of times, and none of them keeps the others from being done.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.ports.jobs import ClaimedJob
from services.ingestor.ports.tools import Tools
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.jobs import QUEUE_OF, JobKind
from services.shared.evaluation.report.html import html
from services.shared.evaluation.report.markdown import markdown

REPORT_TRIES = 5
STILL_READ = "somebody reads the catalog as it was before the deletion; what was deleted is overwritten after that"


class Cleanup:
    """Runs CLEANUP jobs."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def run(self, job: ClaimedJob) -> None:
        """Do what the job names: take a deleted document out, or make reports anew that quoted one."""
        tools = self._tools
        failure: RagstoneError | None = None
        for step in self._steps(job):
            try:
                step()
            except tools.time_up:
                raise
            except RagstoneError as error:
                failure = failure or error
            except Exception as error:
                fail_or_put_off(tools.ledger, job, error, f"clean-up {job.id}")
                return
        if failure is None:
            tools.ledger.succeed(job, {}, None)
        elif failure.code is ErrorCode.QUEUE_UNAVAILABLE:
            # Its answers are forgotten when Redis is back, or by themselves.
            tools.ledger.put_off(job, f"clean-up {job.id}: {failure.detail}")
        else:
            fail_or_put_off(tools.ledger, job, failure, f"clean-up {job.id}")

    def _steps(self, job: ClaimedJob) -> Iterator[Callable[[], None]]:
        for evaluation_id in job.payload.get("evaluation_ids", []):
            yield partial(self._report, job, str(evaluation_id))
        versions = [VersionId(str(version)) for version in job.payload.get("version_ids", [])]
        document_id = job.payload.get("document_id")
        if versions:
            yield partial(self._indexes, job, versions)
        if isinstance(document_id, str):
            yield partial(self._originals, job)
            yield partial(self._bodies, job, DocumentId(document_id))
            yield partial(self._answers, job, DocumentId(document_id))
            yield self._settle

    def _indexes(self, job: ClaimedJob, versions: list[VersionId]) -> None:
        """Delete the versions' vectors, except of one that was sent again meanwhile, and their postings."""
        tools = self._tools
        needed = tools.ledger.needed_versions(job.space, versions)
        gone = [version for version in versions if version not in needed]
        if gone:
            tools.vectors.delete_versions(job.space, gone)
        # A retriever that is away looks after its snapshots when it starts.
        with suppress(RagstoneError):
            tools.traces.forget_postings(job.space, versions)

    def _originals(self, job: ClaimedJob) -> None:
        self._tools.traces.discard([str(sha256) for sha256 in job.payload.get("blobs", [])])

    def _bodies(self, job: ClaimedJob, document_id: DocumentId) -> None:
        tools = self._tools
        for job_id in tools.traces.empty_bodies(job.space, document_id):
            tools.bell.ring(QUEUE_OF[JobKind.BATCH], job_id, job.request_id)

    def _answers(self, job: ClaimedJob, document_id: DocumentId) -> None:
        self._tools.traces.forget_answers(job.space, document_id)

    def _settle(self) -> None:
        if not self._tools.traces.settle():
            raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, STILL_READ)

    def _report(self, job: ClaimedJob, evaluation_id: str) -> None:
        """Make an evaluation's reports from what is left of it."""
        for _ in range(REPORT_TRIES):
            evaluation = self._tools.traces.finished(job.space, evaluation_id)
            if evaluation is None or self._tools.traces.store_reports(
                evaluation, markdown(evaluation), html(evaluation)
            ):
                return
