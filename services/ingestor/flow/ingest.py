"""One document's way in, for a group of jobs at once: read, parse, chunk, embed, index, publish.

Three threads share the work, so that the model never waits: one reads and cuts the next documents, this one embeds,
one stores and publishes what was embedded. The new version stays invisible until the one transaction that publishes
it and ends its job; whatever fails before leaves the old version answering. What fails, fails alone and with a reason.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from services.ingestor.domain.documents import Extracted, Incoming, Prepared, StoredChunk
from services.ingestor.domain.reasons import SUPERSEDED
from services.ingestor.flow import indexing
from services.ingestor.flow.large import LargeDocument
from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.flow.prepare import prepare
from services.ingestor.flow.progress import Progress
from services.ingestor.flow.slices import Pace, TimeSlice, is_large, stage
from services.ingestor.ports.content import EmbeddingStopped, Switched, TakesLong, Target
from services.ingestor.ports.jobs import ClaimedJob, Lease, LeaseLost, ProgressNote, Superseded
from services.ingestor.ports.tools import Ahead, Background, Tools
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import SpaceId, VersionId

LOOK_S = 0.5
"""How often it is looked whether documents wait, while one is read that takes long."""


@dataclass(frozen=True)
class _Ready:
    """A job whose document is read and cut for the index that serves its space."""

    job: ClaimedJob
    prepared: Prepared
    target: Target


@dataclass(frozen=True)
class _Large:
    """A job whose document has more chunks than a group, and is staged."""

    job: ClaimedJob
    chunks: Sequence[StoredChunk]


@dataclass(frozen=True)
class _Shift:
    """What the threads of one task share."""

    lease: Lease
    writer: Background
    progress: Progress


class DocumentIngest:
    """Runs DOCUMENT jobs. ``held`` gets the jobs that are claimed on the way."""

    def __init__(self, tools: Tools, pace: Pace, held: list[ClaimedJob]) -> None:
        self._tools = tools
        self._pace = pace
        self._held = held

    def run(self, jobs: Sequence[ClaimedJob]) -> None:
        """Bring the documents of these jobs in, and those that come meanwhile; after a time slice the rest goes back
        for other workers."""
        tools = self._tools
        large: list[_Large] = []
        with tools.leases.hold([job.id for job in jobs]) as lease, tools.one_behind() as writer:
            shift = _Shift(lease, writer, Progress(tools.ledger, tools.clock))
            with tools.ahead(self._read(jobs, shift), 2 * tools.rules.group_jobs) as ahead:
                if any(job.slow for job in jobs):
                    self._bring_in_until(ahead)
                while found := ahead.take():
                    large += [one for one in found if isinstance(one, _Large)]
                    for bundle in self._bundles([one for one in found if isinstance(one, _Ready)]):
                        self._embed(bundle, shift)
            writer.wait()
            self._run_large(large, shift)

    def _bring_in_until(self, ahead: Ahead[_Ready | _Large]) -> None:
        """While one is read that takes long, the documents that wait and that nobody began go in."""
        tools = self._tools
        while not ahead.ready(LOOK_S):
            others = tools.ledger.claim_fresh(tools.rules.group_jobs) if tools.ledger.fresh_waits() else []
            if others:
                self._held += others
                DocumentIngest(tools, self._pace, self._held).run(others)

    def _read(self, jobs: Sequence[ClaimedJob], shift: _Shift) -> Iterator[_Ready | _Large]:
        """The reader's part."""
        for job in self._jobs(jobs, shift):
            if not shift.lease.keeps(job.id):
                self._tools.ledger.drop(job)
                continue
            shift.progress.say([ProgressNote(job.id, "parse", 0, None)])
            found = self._prepare(job)
            if found is not None:
                yield found

    def _jobs(self, jobs: Sequence[ClaimedJob], shift: _Shift) -> Iterator[ClaimedJob]:
        """The jobs, and then, if nobody began any of them before, others that wait, until the time slice is over."""
        tools = self._tools
        began = tools.clock()
        alone = any(job.begun or job.attempts > 1 for job in jobs)
        waiting = deque(jobs)
        first = True
        while waiting:
            if not first and tools.clock() - began > tools.rules.time_slice_s:
                self._give_back(list(waiting))
                return
            first = False
            yield waiting.popleft()
            if not waiting and not alone and tools.clock() - began <= tools.rules.time_slice_s:
                more = tools.ledger.claim_fresh(tools.rules.group_jobs)
                shift.lease.take([job.id for job in more])
                self._held += more
                waiting += more

    def _prepare(self, job: ClaimedJob) -> _Ready | _Large | None:
        tools = self._tools
        if job.incoming is None or job.version_id is None:
            tools.ledger.fail(job, "the job's record cannot be read by this version; send the document again")
            return None
        try:
            staged = tools.ledger.staged(job.space, job.incoming.document_id, job.version_id) if job.begun else []
            if staged:
                return _Large(job, staged)
            target = tools.vectors.target(job.space)
            extracted = self._extracted(job, job.incoming)
            prepared = prepare(tools, tools.embedders.of(target), job.incoming, job.version_id, extracted)
            if not is_large(tools, prepared):
                return _Ready(job, prepared, target)
            chunks = stage(tools, job.space, prepared, job.revision or 0)
            # Says also that the job is begun, so that it goes on from what is staged.
            tools.ledger.progress([ProgressNote(job.id, "embed", 0, len(chunks))])
            return _Large(job, chunks)
        except tools.time_up:
            raise
        except TakesLong:
            tools.ledger.put_behind(job)
            tools.bell.ring(job.queue, job.id, job.request_id)
        except Exception as error:
            fail_or_put_off(tools.ledger, job, error, job.incoming.name)
        return None

    def _extracted(self, job: ClaimedJob, incoming: Incoming) -> Extracted:
        """Its text. A first reading is short, so that files which hang their reader hold up what waits behind them
        only for a moment; raises TakesLong."""
        tools = self._tools
        data = tools.originals.read(incoming.blob_sha256)
        if job.slow:
            return tools.slow_parsers.parse(incoming, data)
        return tools.parsers.parse(incoming, data, tools.rules.parse_first_s)

    def _bundles(self, found: Sequence[_Ready]) -> Iterator[list[_Ready]]:
        """What is embedded together: not too much, for one index, and no document twice, which must go in one after
        the other."""
        bundle: list[_Ready] = []
        chunks = 0
        for ready in found:
            size = len(ready.prepared.chunks)
            document = ready.prepared.incoming.document_id
            twice = any(one.prepared.incoming.document_id == document for one in bundle)
            elsewhere = any(one.target != ready.target for one in bundle)
            if bundle and (twice or elsewhere or chunks + size > self._pace.most):
                yield bundle
                bundle, chunks = [], 0
            bundle.append(ready)
            chunks += size
        if bundle:
            yield bundle

    def _embed(self, bundle: Sequence[_Ready], shift: _Shift) -> None:
        """Embed the bundle together and hand it to the writer."""
        total = sum(len(one.prepared.chunks) for one in bundle)
        dropped: set[str] = set()

        def wanted() -> list[_Ready]:
            self._drop_unwanted(bundle, shift.lease, dropped)
            return [one for one in bundle if one.job.id not in dropped]

        def keep_going(done: int) -> bool:
            shift.progress.say(_embedding_notes(wanted(), done, total))
            return len(dropped) < len(bundle)

        documents = [one.prepared for one in bundle]
        with suppress(EmbeddingStopped):
            embedded = self._pace.timed(
                total, lambda: indexing.embed(self._tools, bundle[0].target, documents, keep_going)
            )
            of_version = {one.prepared.version_id: one for one in embedded}
            shift.writer.run(partial(self._put_in, wanted(), of_version, shift))

    def _put_in(self, bundle: Sequence[_Ready], embedded: dict[VersionId, indexing.Embedded], shift: _Shift) -> None:
        """The writer's part: store the vectors and publish each document."""
        tools = self._tools
        if not bundle:
            return
        target = bundle[0].target
        shift.progress.say(_notes(bundle, "index"))
        gone: list[VersionId] = []
        try:
            stored = indexing.store(tools, target, [embedded[one.prepared.version_id] for one in bundle])
        except Switched:
            again = list(bundle)
        else:
            errors = {one.prepared.version_id: one.error for one in stored}
            again = [one for one in bundle if not self._publish(one, errors[one.prepared.version_id], gone)]
        self._forget_vectors(target.space, gone)
        if again:
            # Another index was promoted meanwhile: the same chunks are embedded for that one.
            serving = tools.vectors.target(target.space)
            self._embed_here([_Ready(one.job, one.prepared, serving) for one in again], shift)

    def _embed_here(self, bundle: Sequence[_Ready], shift: _Shift) -> None:
        documents = [one.prepared for one in bundle]
        with suppress(EmbeddingStopped):
            embedded = indexing.embed(
                self._tools, bundle[0].target, documents, lambda _: any(shift.lease.keeps(one.job.id) for one in bundle)
            )
            self._put_in(bundle, {one.prepared.version_id: one for one in embedded}, shift)

    def _publish(self, ready: _Ready, error: Exception | None, gone: list[VersionId]) -> bool:
        """The one step that lets the new version answer and ends the job; or the job's failure.

        False when another index serves by now; ``gone`` gets the version that nobody needs the vectors of any more.
        """
        tools, job, prepared = self._tools, ready.job, ready.prepared
        name = prepared.incoming.name
        try:
            if error is not None:
                raise error
            outcome = tools.ledger.publish(job, prepared, ready.target)
        except Switched:
            return False
        except LeaseLost:
            return True
        except tools.time_up:
            raise
        except Exception as fault:
            if fail_or_put_off(tools.ledger, job, fault, name):
                gone.append(prepared.version_id)
            return True
        if isinstance(outcome, Superseded):
            tools.ledger.cancelled(job, SUPERSEDED[outcome.by].format(name=name))
            gone.append(prepared.version_id)
        elif outcome.replaced is not None:
            gone.append(outcome.replaced)
        return True

    def _forget_vectors(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        """Take vectors out unless their version answers. Nothing can answer from them, so a failure may wait for the
        reconciler's sweep."""
        if not versions:
            return
        with suppress(RagstoneError):
            needed = self._tools.ledger.needed_versions(space, versions)
            self._tools.vectors.delete_versions(space, [one for one in versions if one not in needed])

    def _run_large(self, found: Sequence[_Large], shift: _Shift) -> None:
        """One of them; the others, which are staged, are for whoever is free."""
        if not found:
            return
        self._give_back([one.job for one in found[1:]])
        time_slice = TimeSlice(self._tools)
        flow = LargeDocument(self._tools, self._pace, shift.lease, shift.writer, shift.progress, time_slice)
        if not flow.run(found[0].job, found[0].chunks):
            self._give_back([found[0].job])

    def _drop_unwanted(self, bundle: Sequence[_Ready], lease: Lease, dropped: set[str]) -> None:
        """End the jobs that somebody cancelled meanwhile; those of another worker are only left alone."""
        for one in bundle:
            if one.job.id not in dropped and not lease.keeps(one.job.id):
                dropped.add(one.job.id)
                with suppress(RagstoneError):
                    self._tools.ledger.drop(one.job)

    def _give_back(self, jobs: Sequence[ClaimedJob]) -> None:
        if not jobs:
            return
        self._tools.ledger.release(jobs)
        for job in jobs:
            self._tools.bell.ring(job.queue, job.id, job.request_id)


def _embedding_notes(bundle: Sequence[_Ready], done: int, total: int) -> list[ProgressNote]:
    """Texts are embedded by length and not by document, so each document is as far as the group is."""
    sizes = [(one.job.id, len(one.prepared.chunks)) for one in bundle]
    return [ProgressNote(job_id, "embed", size * done // max(1, total), size) for job_id, size in sizes]


def _notes(bundle: Sequence[_Ready], stage: str) -> list[ProgressNote]:
    return [ProgressNote(one.job.id, stage, len(one.prepared.chunks), len(one.prepared.chunks)) for one in bundle]
