"""A batch: thousands of documents in one NDJSON body, each succeeding or failing for itself.

A thread reads and cuts the next group of lines while this one embeds, and another stores and records the group
before. A break at any point loses at most the groups that were not recorded; the next run goes on after the last
recorded line.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import islice

from services.ingestor.domain.reasons import is_outage
from services.ingestor.flow import indexing
from services.ingestor.flow.batch_reading import BatchReader, Group, at_line
from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.flow.slices import Pace, TimeSlice, embed_in_slices, unstage, until_published
from services.ingestor.ports.content import EmbeddingStopped, KeepGoing, Switched, Target
from services.ingestor.ports.jobs import BatchStep, ClaimedJob, Lease, LeaseLost, ProgressNote
from services.ingestor.ports.tools import Background, Tools
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.jobs import JobItem


class BatchIngest:
    """Runs BATCH jobs."""

    def __init__(self, tools: Tools, pace: Pace) -> None:
        self._tools = tools
        self._pace = pace
        self._noted: int | None = None
        """The line that is noted as failed while it is worked on."""
        self._staged: tuple[DocumentId, VersionId] | None = None
        """The large document that is worked on."""

    def run(self, job: ClaimedJob) -> None:
        """Work through the batch until its end or the end of the time slice."""
        tools = self._tools
        with tools.leases.hold([job.id]) as lease, tools.one_behind() as writer:
            try:
                over = self._work_through(job, lease, writer)
                writer.wait()
                if over:
                    self._succeed(job)
                else:
                    tools.ledger.release([job])
                    tools.bell.ring(job.queue, job.id, job.request_id)
            except (EmbeddingStopped, LeaseLost):
                # Cancelled, or another worker's by now. What is published stays, as if each document had been
                # sent by itself.
                self._take_note_back(job)
                tools.ledger.drop(job)
                if self._staged is not None:
                    unstage(tools, job.space, *self._staged)
            except tools.time_up:
                raise
            except Exception as error:
                self._take_note_back(job)
                fail_or_put_off(tools.ledger, job, error, f"batch {job.id}")

    def _work_through(self, job: ClaimedJob, lease: Lease, writer: Background) -> bool:
        """True at the end of the body, False when the time slice is over."""
        tools = self._tools
        sha256 = job.payload.get("blob_sha256")
        if not isinstance(sha256, str):
            detail = "the job's record names no body; send the batch again"
            raise RagstoneError(ErrorCode.VERSION_NOT_FOUND, detail)
        time_slice = TimeSlice(tools)
        reader = BatchReader(tools, job, sha256, self._pace)
        total = reader.last_line()
        after = tools.batches.last_item(job)
        tools.ledger.progress([ProgressNote(job.id, "embed", after, total)])
        careful = tools.rules.group_documents if job.attempts > 1 else 0
        if job.attempts >= max(2, tools.rules.max_attempts):
            self._note_last_chance(job, reader, after, total)
        prepared = reader.groups(after, careful)
        # Each is recorded before the next is even read: what kills this worker is the line behind the last record.
        for group in islice(prepared, careful):
            going_on = self._take_in(job, group, lease, writer, time_slice, total)
            writer.wait()
            self._noted = None
            if not going_on:
                return False
        with tools.ahead(prepared, 1) as ahead:
            while found := ahead.take():
                for group in found:
                    if not self._take_in(job, group, lease, writer, time_slice, total):
                        return False
        return True

    def _take_in(
        self, job: ClaimedJob, group: Group, lease: Lease, writer: Background, time_slice: TimeSlice, total: int
    ) -> bool:
        """Embed the group and hand it to the writer; False when the work is to make way after it, or within it."""

        def keep_going(_: int) -> bool:
            return lease.keeps(job.id)

        if group.large:
            done = self._take_large_in(job, group, keep_going, writer, time_slice, total)
        else:
            chunks = sum(len(document.chunks) for document in group.documents)
            embedded = self._pace.timed(
                chunks, lambda: indexing.embed(self._tools, group.target, group.documents, keep_going)
            )
            done = True
            if not lease.keeps(job.id):
                raise EmbeddingStopped
            writer.run(partial(self._record, job, group, embedded, total))
        return done and (group.lines[-1].n >= total or not time_slice.over)

    def _take_large_in(
        self,
        job: ClaimedJob,
        group: Group,
        keep_going: KeepGoing,
        writer: Background,
        time_slice: TimeSlice,
        total: int,
    ) -> bool:
        """A document of many chunks, in slices; False when the work makes way in the middle of it."""
        tools, step = self._tools, group.steps[0]

        def embed() -> Target | None:
            over = lambda: time_slice.over  # noqa: E731
            return embed_in_slices(tools, job.space, group.large, keep_going, writer, self._pace, over)

        def publish(target: Target) -> None:
            self._keep_originals(group)
            gone = tools.batches.record(job, [step], total, target)
            self._keep_originals(group, again=True)
            self._forget(job, group, gone)

        if step.document_id is None or step.staged is None:
            return True
        self._staged = step.document_id, step.staged
        try:
            done = until_published(embed, publish)
        except (EmbeddingStopped, LeaseLost, tools.time_up):
            raise
        except Exception as error:
            if is_outage(error):
                raise
            # In the order of the lines: the last one recorded is where a later run goes on.
            writer.wait()
            failed = BatchStep(step.n, step.document_id, reason=at_line(step.n, step.document_id, error))
            tools.batches.record(job, [failed], total, None)
            unstage(tools, job.space, step.document_id, step.staged)
            done = True
        self._staged = None
        return done

    def _note_last_chance(self, job: ClaimedJob, reader: BatchReader, after: int, total: int) -> None:
        """The line at which the last attempt begins is noted as failed before it is begun.

        If it kills this worker too, a retry goes on behind it; whatever else ends the work takes the note back.
        """
        first = next(reader.lines(after), None)
        if first is not None:
            reason = f"line {first.n}: its worker died or hung at each attempt; send this document by itself"
            self._tools.batches.record(job, [BatchStep(first.n, first.document_id, reason=reason)], total, None)
            self._noted = first.n

    def _take_note_back(self, job: ClaimedJob) -> None:
        if self._noted is not None:
            with suppress(RagstoneError):
                self._tools.batches.forget(job, self._noted)

    def _record(self, job: ClaimedJob, group: Group, embedded: Sequence[indexing.Embedded], total: int) -> None:
        """The writer's part: originals, vectors, then the group's versions and lines in one transaction."""
        tools, target = self._tools, group.target
        self._keep_originals(group)
        while True:
            try:
                gone = self._stored_and_recorded(job, group, target, embedded, total)
                break
            except Switched:
                # Another index was promoted meanwhile: the same chunks are embedded for that one.
                target = tools.vectors.target(job.space)
                embedded = indexing.embed(tools, target, group.documents, lambda _: True)
            except LeaseLost:
                # As when the body is exchanged because a document of it was deleted: nobody else reads that line.
                self._forget(job, group, [document.version_id for document in group.documents])
                raise
        self._keep_originals(group, again=True)
        self._forget(job, group, gone)

    def _stored_and_recorded(
        self, job: ClaimedJob, group: Group, target: Target, embedded: Sequence[indexing.Embedded], total: int
    ) -> list[VersionId]:
        """The versions that do not answer, or not any more."""
        stored = indexing.store(self._tools, target, embedded)
        errors = {one.prepared.version_id: one.error for one in stored}
        for error in errors.values():
            if error is not None and is_outage(error):
                raise error
        outcome = [_with_error(step, errors) for step in group.steps]
        gone = self._recorded(job, outcome, total, target)
        failed = [document.version_id for document in group.documents if errors[document.version_id]]
        return [*gone, *failed]

    def _recorded(self, job: ClaimedJob, steps: Sequence[BatchStep], total: int, target: Target) -> list[VersionId]:
        """Record the group; when the catalog refuses it, line by line, so that only the bad one fails."""
        tools = self._tools
        publishes = any(step.prepared for step in steps)
        try:
            return tools.batches.record(job, steps, total, target if publishes else None)
        except (LeaseLost, Switched, tools.time_up):
            raise
        except Exception as error:
            if is_outage(error):
                raise
            if len(steps) > 1:
                return [version for step in steps for version in self._recorded(job, [step], total, target)]
            prepared = steps[0].prepared
            if prepared is None:
                raise
            reason = at_line(steps[0].n, prepared.incoming.name, error)
            failed = BatchStep(steps[0].n, steps[0].document_id, reason=reason)
            return [prepared.version_id, *tools.batches.record(job, [failed], total, None)]

    def _keep_originals(self, group: Group, *, again: bool = False) -> None:
        """Before the record names them, and ``again`` those that are gone afterwards: the deletion of another document
        with the same bytes did not know then that these need them."""
        going_in = {step.n for step in group.steps if step.prepared or step.staged}
        for line in group.lines:
            if line.n in going_in and line.document is not None:
                data = line.document.text.encode()
                if not again or not self._tools.originals.holds(hashlib.sha256(data).hexdigest()):
                    self._tools.originals.keep(data)

    def _forget(self, job: ClaimedJob, group: Group, gone: Sequence[VersionId]) -> None:
        """Vectors of versions that nobody needs any more, and originals of those that did not go live.

        Nothing can answer from these, so a failure may wait for the reconciler's sweep.
        """
        tools = self._tools
        if not gone:
            return
        with suppress(RagstoneError):
            needed = tools.ledger.needed_versions(job.space, gone)
            unneeded = [one for one in gone if one not in needed]
            tools.vectors.delete_versions(job.space, unneeded)
            refused = [one.incoming.blob_sha256 for one in group.documents if one.version_id in unneeded]
            if refused:
                tools.traces.discard(refused)

    def _succeed(self, job: ClaimedJob) -> None:
        counts, first_failure = self._tools.batches.outcome(job)
        warning = _warning(counts, first_failure)
        self._tools.ledger.succeed(job, counts, warning)


def _with_error(step: BatchStep, errors: dict[VersionId, Exception | None]) -> BatchStep:
    """The step, without its document when that could not be embedded or stored."""
    error = errors[step.prepared.version_id] if step.prepared else None
    if step.prepared is None or error is None:
        return step
    return BatchStep(step.n, step.document_id, reason=at_line(step.n, step.prepared.incoming.name, error))


def _warning(counts: dict[str, int], first_failure: JobItem | None) -> str | None:
    if first_failure is None:
        return "the batch holds no documents" if not counts["documents"] else None
    return f"{counts['failed']} of {counts['documents']} documents failed; the first: {first_failure.reason}"
