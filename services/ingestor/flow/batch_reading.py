"""The reader's part of a batch: lines as steps, each to publish, unchanged, or failed with its reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.ingestor.domain.batch_lines import Line, groups, incoming_of, read_lines
from services.ingestor.domain.documents import Incoming, Prepared, StoredChunk
from services.ingestor.domain.reasons import SUPERSEDED, is_outage, reason_of
from services.ingestor.flow.prepare import prepare
from services.ingestor.flow.slices import Pace, is_large, stage
from services.ingestor.ports.content import Target
from services.ingestor.ports.jobs import BatchStep, ClaimedJob, Submission
from services.ingestor.ports.tools import Tools
from services.shared.contracts.documents import DocumentIn

CHARACTERS_OF_A_CHUNK = 1000
"""Only for the size of a group; the chunks of a batch's documents are counted when they are cut."""

LEAST_CHARACTERS_OF_A_CHUNK = 50
"""A document shorter than this many times the chunks of a group is not a large one, and not looked for as staged."""


@dataclass(frozen=True)
class Group:
    """Lines that are embedded and recorded together, read and cut for one index."""

    lines: Sequence[Line]
    steps: Sequence[BatchStep]
    target: Target
    large: Sequence[StoredChunk] = ()
    """The chunks of a large document, which is alone in its group and staged."""

    @property
    def documents(self) -> list[Prepared]:
        return [step.prepared for step in self.steps if step.prepared]


class BatchReader:
    """Reads a batch's body from behind line ``after``."""

    def __init__(self, tools: Tools, job: ClaimedJob, sha256: str, pace: Pace) -> None:
        self._tools = tools
        self._job = job
        self._sha256 = sha256
        self._pace = pace

    def last_line(self) -> int:
        """Number of the last line that says anything."""
        lines = self._tools.originals.lines(self._sha256)
        return max((n for n, line in enumerate(lines, start=1) if line.strip()), default=0)

    def lines(self, after: int) -> Iterator[Line]:
        """The lines behind that one."""
        # A line is longer than its text, by what JSON escapes.
        longest = 2 * self._tools.rules.max_document_bytes
        return read_lines(self._tools.originals.lines(self._sha256), self._job.id, after=after, longest=longest)

    def groups(self, after: int, careful: int) -> Iterator[Group]:
        """The rest of the body, read and cut; the first ``careful`` lines each by itself."""
        rules = self._tools.rules

        def characters() -> int:
            return self._pace.most * CHARACTERS_OF_A_CHUNK

        for lines in groups(self.lines(after), documents=rules.group_documents, characters=characters, alone=careful):
            yield from self._parts(lines)

    def _parts(self, lines: Sequence[Line]) -> Iterator[Group]:
        """The group, cut before and after each large document."""
        tools, job = self._tools, self._job
        target = tools.vectors.target(job.space)
        documents = {
            line.n: incoming_of(line.document_id, line.document)
            for line in lines
            if line.document is not None and line.document_id is not None
        }
        submitted = dict(zip(documents, tools.batches.submit(job, list(documents.values())), strict=True))
        small: list[tuple[Line, BatchStep]] = []
        for line in lines:
            if line.n not in documents or line.document is None:
                small.append((line, BatchStep(line.n, line.document_id, reason=line.reason)))
                continue
            step, large = self._step(line, line.document, documents[line.n], submitted[line.n], target)
            if not large:
                small.append((line, step))
                continue
            if small:
                yield _group(small, target)
                small = []
            yield Group([line], [step], target, large)
        if small:
            yield _group(small, target)

    def _step(
        self, line: Line, document: DocumentIn, incoming: Incoming, submission: Submission, target: Target
    ) -> tuple[BatchStep, Sequence[StoredChunk]]:
        """The line's step, and the staged chunks of a large document."""
        tools, n, id = self._tools, line.n, line.document_id
        if submission.superseded:
            return BatchStep(n, id, superseded=True, reason=SUPERSEDED["later"].format(name=id)), ()
        if submission.revision is None:
            return BatchStep(n, id, unchanged=True), ()
        try:
            step = BatchStep(n, id, staged=submission.version_id, revision=submission.revision)
            if staged := self._staged(document, incoming, submission):
                return step, staged
            extracted = tools.parsers.parse(incoming, document.text.encode())
            prepared = prepare(tools, tools.embedders.of(target), incoming, submission.version_id, extracted)
            if is_large(tools, prepared):
                return step, stage(tools, self._job.space, prepared, submission.revision)
            return BatchStep(n, id, prepared, revision=submission.revision), ()
        except tools.time_up:
            raise
        except Exception as error:
            if is_outage(error):
                raise
            return BatchStep(n, id, reason=at_line(n, incoming.name, error)), ()

    def _staged(self, document: DocumentIn, incoming: Incoming, submission: Submission) -> Sequence[StoredChunk]:
        """What an earlier time slice staged of it."""
        tools = self._tools
        if len(document.text) < tools.rules.group_chunks * LEAST_CHARACTERS_OF_A_CHUNK:
            return ()
        return tools.ledger.staged(self._job.space, incoming.document_id, submission.version_id)


def at_line(n: int, name: str, error: Exception) -> str:
    """The reason of a line that failed."""
    return f"line {n}: {reason_of(error, name)}"


def _group(steps: Sequence[tuple[Line, BatchStep]], target: Target) -> Group:
    return Group([line for line, _ in steps], [step for _, step in steps], target)
