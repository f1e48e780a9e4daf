"""A batch: thousands of documents in one NDJSON body, each succeeding or failing for itself.

While a group of lines is read, cut and embedded, a thread stores and records the one before. A break at any
point loses at most the groups that were not recorded; the next run goes on after the last recorded line.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from services.ingestor.domain.batch_lines import Line, groups, incoming_of, read_lines
from services.ingestor.domain.documents import Incoming, Prepared
from services.ingestor.domain.reasons import SUPERSEDED, is_outage, reason_of
from services.ingestor.flow import indexing
from services.ingestor.flow.outages import fail_or_put_off
from services.ingestor.flow.prepare import prepare
from services.ingestor.ports.content import EmbeddingStopped
from services.ingestor.ports.jobs import BatchStep, ClaimedJob, Lease, LeaseLost, ProgressNote
from services.ingestor.ports.tools import Background, Tools
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import VersionId
from services.shared.contracts.jobs import JobItem

CHARACTERS_OF_A_CHUNK = 1000
"""Only for the size of a group; the chunks of a batch's documents are counted when they are cut."""


class BatchIngest:
    """Runs BATCH jobs."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._noted: int | None = None
        """The line that is noted as failed while it is worked on."""

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
        began = tools.clock()
        total = _last_line(tools, sha256)
        after = tools.batches.last_item(job)
        tools.ledger.progress([ProgressNote(job.id, "embed", after, total)])
        careful = tools.rules.group_documents if job.attempts > 1 else 0
        if job.attempts >= max(2, tools.rules.max_attempts):
            self._note_last_chance(job, sha256, after, total)
        for place, (group, steps) in enumerate(self._prepared(job, sha256, after, careful)):
            # The model is used by this thread only: its tokenizer must not count while it embeds.
            documents = [step.prepared for step in steps if step.prepared]
            embedded = indexing.embed(tools, documents, lambda _: lease.keeps(job.id))
            if not lease.keeps(job.id):
                raise EmbeddingStopped
            writer.run(partial(self._record, job, group, steps, embedded, total))
            if place < careful:
                # Each is recorded before the next is begun: what kills this worker is the line behind the last record.
                writer.wait()
                self._noted = None
            if tools.clock() - began > tools.rules.time_slice_s and group[-1].n < total:
                return False
        return True

    def _note_last_chance(self, job: ClaimedJob, sha256: str, after: int, total: int) -> None:
        """The line at which the last attempt begins is noted as failed before it is begun.

        If it kills this worker too, a retry goes on behind it; whatever else ends the work takes the note back.
        """
        first = next(self._lines(job, sha256, after), None)
        if first is not None:
            reason = f"line {first.n}: its worker died or hung at each attempt; send this document by itself"
            self._tools.batches.record(job, [BatchStep(first.n, first.document_id, reason=reason)], total)
            self._noted = first.n

    def _take_note_back(self, job: ClaimedJob) -> None:
        if self._noted is not None:
            with suppress(RagstoneError):
                self._tools.batches.forget(job, self._noted)

    def _lines(self, job: ClaimedJob, sha256: str, after: int) -> Iterator[Line]:
        # A line is longer than its text, by what JSON escapes.
        longest = 2 * self._tools.rules.max_document_bytes
        return read_lines(self._tools.originals.lines(sha256), job.id, after=after, longest=longest)

    def _prepared(
        self, job: ClaimedJob, sha256: str, after: int, careful: int
    ) -> Iterator[tuple[list[Line], list[BatchStep]]]:
        """The rest of the body, group by group, read and cut; the first ``careful`` lines each by itself."""
        rules = self._tools.rules
        lines = self._lines(job, sha256, after)
        characters = rules.group_chunks * CHARACTERS_OF_A_CHUNK
        for group in groups(lines, documents=rules.group_documents, characters=characters, alone=careful):
            yield group, self._prepare(job, group)

    def _prepare(self, job: ClaimedJob, group: Sequence[Line]) -> list[BatchStep]:
        """Each line as a step: to publish, unchanged, or failed with its reason."""
        documents = {
            line.n: incoming_of(line.document_id, line.document)
            for line in group
            if line.document is not None and line.document_id is not None
        }
        submitted = dict(zip(documents, self._tools.batches.submit(job, list(documents.values())), strict=True))
        steps = []
        for line in group:
            if line.n not in documents or line.document is None:
                steps.append(BatchStep(line.n, line.document_id, reason=line.reason))
                continue
            submission = submitted[line.n]
            if submission.superseded:
                reason = SUPERSEDED["later"].format(name=line.document_id)
                steps.append(BatchStep(line.n, line.document_id, superseded=True, reason=reason))
                continue
            if submission.revision is None:
                steps.append(BatchStep(line.n, line.document_id, unchanged=True))
                continue
            incoming = documents[line.n]
            try:
                prepared = prepare(self._tools, incoming, submission.version_id, line.document.text.encode())
                steps.append(BatchStep(line.n, line.document_id, prepared, submission.revision))
            except self._tools.time_up:
                raise
            except Exception as error:
                if is_outage(error):
                    raise
                steps.append(BatchStep(line.n, line.document_id, reason=_at_line(line.n, incoming, error)))
        return steps

    def _record(
        self,
        job: ClaimedJob,
        group: Sequence[Line],
        steps: Sequence[BatchStep],
        embedded: Sequence[indexing.Embedded],
        total: int,
    ) -> None:
        """The writer's part: originals, vectors, then the group's versions and lines in one transaction."""
        tools = self._tools
        going_in = {step.n for step in steps if step.prepared}
        for line in group:
            if line.n in going_in and line.document is not None:
                tools.originals.keep(line.document.text.encode())
        stored = indexing.store(tools, job.space, embedded)
        errors = {one.prepared.version_id: one.error for one in stored}
        for error in errors.values():
            if error is not None and is_outage(error):
                raise error
        outcome = [_with_error(step, errors) for step in steps]
        gone = self._recorded(job, outcome, total)
        failed = [step.prepared.version_id for step in steps if step.prepared and errors[step.prepared.version_id]]
        self._forget_vectors(job, [*gone, *failed])

    def _recorded(self, job: ClaimedJob, steps: Sequence[BatchStep], total: int) -> list[VersionId]:
        """Record the group; when the catalog refuses it, line by line, so that only the bad one fails."""
        tools = self._tools
        try:
            return tools.batches.record(job, steps, total)
        except (LeaseLost, tools.time_up):
            raise
        except Exception as error:
            if is_outage(error):
                raise
            if len(steps) > 1:
                return [version for step in steps for version in self._recorded(job, [step], total)]
            prepared = steps[0].prepared
            if prepared is None:
                raise
            failed = BatchStep(steps[0].n, steps[0].document_id, reason=_at_line(steps[0].n, prepared.incoming, error))
            return [prepared.version_id, *tools.batches.record(job, [failed], total)]

    def _forget_vectors(self, job: ClaimedJob, versions: Sequence[VersionId]) -> None:
        """Nothing can answer from these any more, so a failure may wait for the reconciler's sweep."""
        tools = self._tools
        if versions:
            with suppress(RagstoneError):
                needed = tools.ledger.needed_versions(job.space, versions)
                tools.vectors.delete_versions(job.space, [one for one in versions if one not in needed])

    def _succeed(self, job: ClaimedJob) -> None:
        counts, first_failure = self._tools.batches.outcome(job)
        warning = _warning(counts, first_failure)
        self._tools.ledger.succeed(job, counts, warning)


def _with_error(step: BatchStep, errors: dict[VersionId, Exception | None]) -> BatchStep:
    """The step, without its document when that could not be embedded or stored."""
    prepared: Prepared | None = step.prepared
    error = errors[prepared.version_id] if prepared else None
    if prepared is None or error is None:
        return step
    return BatchStep(step.n, step.document_id, reason=_at_line(step.n, prepared.incoming, error))


def _at_line(n: int, incoming: Incoming, error: Exception) -> str:
    return f"line {n}: {reason_of(error, incoming.name)}"


def _last_line(tools: Tools, sha256: str) -> int:
    """Number of the last line that says anything."""
    return max((n for n, line in enumerate(tools.originals.lines(sha256), start=1) if line.strip()), default=0)


def _warning(counts: dict[str, int], first_failure: JobItem | None) -> str | None:
    if first_failure is None:
        return "the batch holds no documents" if not counts["documents"] else None
    return f"{counts['failed']} of {counts['documents']} documents failed; the first: {first_failure.reason}"
