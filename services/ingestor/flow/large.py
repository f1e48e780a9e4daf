"""A large document that was sent by itself: embedded in slices, published when every chunk has its vector."""

from collections.abc import Sequence
from contextlib import suppress

from services.ingestor.domain.documents import StoredChunk
from services.ingestor.domain.reasons import SUPERSEDED
from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.flow.progress import Progress
from services.ingestor.flow.slices import Pace, TimeSlice, embed_in_slices, unstage, until_published
from services.ingestor.ports.content import EmbeddingStopped, Switched, Target
from services.ingestor.ports.jobs import ClaimedJob, Lease, LeaseLost, ProgressNote, Superseded
from services.ingestor.ports.tools import Background, Tools
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import VersionId


class LargeDocument:
    """Runs a DOCUMENT job whose version is staged."""

    def __init__(
        self, tools: Tools, pace: Pace, lease: Lease, writer: Background, progress: Progress, time_slice: TimeSlice
    ) -> None:
        self._tools = tools
        self._pace = pace
        self._lease = lease
        self._writer = writer
        self._progress = progress
        self._time_slice = time_slice

    def run(self, job: ClaimedJob, chunks: Sequence[StoredChunk]) -> bool:
        """True when the job is over for this worker, False when it makes way and is to be put back."""
        tools = self._tools

        def keep_going(done: int) -> bool:
            self._progress.say([ProgressNote(job.id, "embed", done, len(chunks))])
            return self._lease.keeps(job.id)

        def embed() -> Target | None:
            over = lambda: self._time_slice.over  # noqa: E731
            return embed_in_slices(tools, job.space, chunks, keep_going, self._writer, self._pace, over)

        try:
            return until_published(embed, lambda target: self._publish(job, target))
        except EmbeddingStopped:
            if tools.ledger.drop(job):
                self._unstage(job)
        except LeaseLost:
            pass
        except tools.time_up:
            raise
        except Exception as error:
            if fail_or_put_off(tools.ledger, job, error, _name(job)):
                self._unstage(job)
        return True

    def _publish(self, job: ClaimedJob, target: Target) -> None:
        tools = self._tools
        outcome = tools.ledger.publish_staged(job, target)
        if isinstance(outcome, Superseded):
            tools.ledger.cancelled(job, SUPERSEDED[outcome.by].format(name=_name(job)))
            self._unstage(job)
        elif outcome.replaced is not None:
            self._unstage(job, outcome.replaced)

    def _unstage(self, job: ClaimedJob, version: VersionId | None = None) -> None:
        # What is being stored would come after its own removal.
        with suppress(RagstoneError, Switched):
            self._writer.wait()
        if job.incoming is not None and job.version_id is not None:
            unstage(self._tools, job.space, job.incoming.document_id, version or job.version_id)


def _name(job: ClaimedJob) -> str:
    return job.id if job.incoming is None else job.incoming.name
