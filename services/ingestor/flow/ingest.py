"""One document's way in, for a group of jobs at once: read, parse, chunk, embed, index, publish.

The new version stays invisible until the one transaction that publishes it and ends its job; whatever
fails before leaves the old version answering. What fails, fails alone and with a reason.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from services.ingestor.domain.documents import Prepared
from services.ingestor.domain.reasons import SUPERSEDED
from services.ingestor.flow import indexing
from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.flow.prepare import prepare
from services.ingestor.flow.progress import Progress
from services.ingestor.ports.content import EmbeddingStopped
from services.ingestor.ports.jobs import ClaimedJob, Lease, LeaseLost, ProgressNote, Superseded
from services.ingestor.ports.tools import Tools
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import SpaceId, VersionId


@dataclass(frozen=True)
class _Ready:
    """A job whose document is read and cut."""

    job: ClaimedJob
    prepared: Prepared


class DocumentIngest:
    """Runs DOCUMENT jobs."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def run(self, jobs: Sequence[ClaimedJob]) -> None:
        """Bring the documents of these jobs in; after a time slice the rest goes back for other workers."""
        tools = self._tools
        began = tools.clock()
        progress = Progress(tools.ledger, tools.clock)
        bundle: list[_Ready] = []
        with tools.leases.hold([job.id for job in jobs]) as lease:
            for n, job in enumerate(jobs):
                if n and tools.clock() - began > tools.rules.time_slice_s:
                    self._give_back(jobs[n:])
                    break
                if not lease.keeps(job.id):
                    tools.ledger.drop(job)
                    continue
                progress.say([ProgressNote(job.id, "parse", 0, None)])
                ready = self._prepare(job)
                if ready is None:
                    continue
                if self._full(bundle, ready):
                    self._finish(bundle, lease, progress)
                    bundle = []
                bundle.append(ready)
            self._finish(bundle, lease, progress)

    def _prepare(self, job: ClaimedJob) -> _Ready | None:
        tools = self._tools
        if job.incoming is None or job.version_id is None:
            tools.ledger.fail(job, "the job's record cannot be read by this version; send the document again")
            return None
        try:
            data = tools.originals.read(job.incoming.blob_sha256)
            return _Ready(job, prepare(tools, job.incoming, job.version_id, data))
        except tools.time_up:
            raise
        except Exception as error:
            fail_or_put_off(tools.ledger, job, error, job.incoming.name)
            return None

    def _full(self, bundle: Sequence[_Ready], ready: _Ready) -> bool:
        """Enough chunks, or the same document twice, which must go in one after the other."""
        chunks = sum(len(one.prepared.chunks) for one in bundle)
        twice = any(
            one.job.space == ready.job.space
            and one.prepared.incoming.document_id == ready.prepared.incoming.document_id
            for one in bundle
        )
        return twice or (bool(bundle) and chunks + len(ready.prepared.chunks) > self._tools.rules.group_chunks)

    def _finish(self, bundle: Sequence[_Ready], lease: Lease, progress: Progress) -> None:
        """Embed the bundle together, then index and publish each document."""
        dropped: set[str] = set()

        def keep_going(done: int) -> bool:
            self._drop_unwanted(bundle, lease, dropped)
            wanted = [one for one in bundle if one.job.id not in dropped]
            progress.say(_embedding_notes(wanted, done, sum(len(one.prepared.chunks) for one in bundle)))
            return bool(wanted)

        try:
            embedded = indexing.embed(self._tools, [one.prepared for one in bundle], keep_going)
        except EmbeddingStopped:
            return
        self._drop_unwanted(bundle, lease, dropped)
        of_version = {one.prepared.version_id: one for one in embedded}
        wanted = [one for one in bundle if one.job.id not in dropped]
        for space in dict.fromkeys(one.job.space for one in wanted):
            here = [one for one in wanted if one.job.space == space]
            progress.say(_notes(here, "index"))
            stored = indexing.store(self._tools, space, [of_version[one.prepared.version_id] for one in here])
            errors = {one.prepared.version_id: one.error for one in stored}
            for one in here:
                self._publish(one, errors[one.prepared.version_id])

    def _publish(self, ready: _Ready, error: Exception | None) -> None:
        """The one step that lets the new version answer and ends the job; or the job's failure."""
        tools, job, prepared = self._tools, ready.job, ready.prepared
        if error is not None:
            self._fail(ready, error)
            return
        try:
            outcome = tools.ledger.publish(job, prepared)
        except LeaseLost:
            return
        except tools.time_up:
            raise
        except Exception as fault:
            self._fail(ready, fault)
            return
        if isinstance(outcome, Superseded):
            tools.ledger.cancelled(job, SUPERSEDED[outcome.by].format(name=prepared.incoming.name))
            self._forget_vectors(job.space, prepared.version_id)
        elif outcome.replaced is not None:
            self._forget_vectors(job.space, outcome.replaced)

    def _fail(self, ready: _Ready, error: Exception) -> None:
        if fail_or_put_off(self._tools.ledger, ready.job, error, ready.prepared.incoming.name):
            self._forget_vectors(ready.job.space, ready.prepared.version_id)

    def _forget_vectors(self, space: SpaceId, version: VersionId) -> None:
        """Take a version's vectors out unless it answers. Nothing can answer from them, so a failure may wait
        for the reconciler's sweep."""
        with suppress(RagstoneError):
            if not self._tools.ledger.needed_versions(space, [version]):
                self._tools.vectors.delete_versions(space, [version])

    def _drop_unwanted(self, bundle: Sequence[_Ready], lease: Lease, dropped: set[str]) -> None:
        """End the jobs that somebody cancelled meanwhile; those of another worker are only left alone."""
        for one in bundle:
            if one.job.id not in dropped and not lease.keeps(one.job.id):
                dropped.add(one.job.id)
                with suppress(RagstoneError):
                    self._tools.ledger.drop(one.job)

    def _give_back(self, jobs: Sequence[ClaimedJob]) -> None:
        self._tools.ledger.release(jobs)
        for job in jobs:
            self._tools.bell.ring(job.queue, job.id, job.request_id)


def _embedding_notes(bundle: Sequence[_Ready], done: int, total: int) -> list[ProgressNote]:
    """Texts are embedded by length and not by document, so each document is as far as the group is."""
    sizes = [(one.job.id, len(one.prepared.chunks)) for one in bundle]
    return [ProgressNote(job_id, "embed", size * done // max(1, total), size) for job_id, size in sizes]


def _notes(bundle: Sequence[_Ready], stage: str) -> list[ProgressNote]:
    return [ProgressNote(one.job.id, stage, len(one.prepared.chunks), len(one.prepared.chunks)) for one in bundle]
