"""What the ingestor's flows need from outside."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from services.ingestor.domain.documents import Extracted, Incoming, Prepared, StoredChunk, VectorItem
from services.shared.contracts.ids import ChunkId, DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import JobItem, JobKind, Queue

Vectors: TypeAlias = Any
"""One row a text, in order, cut by slices; a NumPy array in life, which this room does not look into."""

KeepGoing = Callable[[int], bool]
"""Told how many texts are done; answers whether to go on."""


class EmbeddingStopped(Exception):
    """The caller's ``keep_going`` said no."""


class LeaseLost(Exception):
    """The job belongs to somebody else now; nothing of this transaction was kept."""


@dataclass(frozen=True)
class ClaimedJob:
    """A job under this worker's lease."""

    id: JobId
    space: SpaceId
    kind: JobKind
    queue: Queue
    attempts: int
    request_id: str
    revision: int | None
    incoming: Incoming | None
    """The document of a DOCUMENT job; None for other kinds, or when the payload cannot be read."""
    version_id: VersionId | None
    payload: dict[str, Any]


@dataclass(frozen=True)
class ProgressNote:
    """How far one job is: chunks of a document, lines of a batch; ``total`` None while unknown."""

    job_id: JobId
    stage: str
    done: int
    total: int | None


@dataclass(frozen=True)
class Published:
    """The version is live; ``replaced`` answered before it."""

    replaced: VersionId | None


@dataclass(frozen=True)
class Superseded:
    """The version may not go live any more."""

    by: Literal["newer", "deleted"]


Outcome = Published | Superseded


@dataclass(frozen=True)
class Submission:
    """What sending a document of a batch means: nothing (``revision`` None), or a new revision."""

    version_id: VersionId
    revision: int | None
    superseded: bool = False
    """The document was sent or deleted after the batch was."""


@dataclass(frozen=True)
class BatchStep:
    """One line of a batch ready to be recorded: published when it carries a document, else only noted."""

    n: int
    document_id: DocumentId | None
    prepared: Prepared | None = None
    revision: int | None = None
    unchanged: bool = False
    superseded: bool = False
    reason: str | None = None


class Ledger(Protocol):
    """Jobs in the catalog, as their worker sees them. Each call is one transaction.

    Calls that end a job answer False, and change nothing, when the lease is no longer this worker's.
    Every method raises RagstoneError (catalog_unavailable) when the catalog does not answer.
    """

    def claim(self, job_id: JobId, also: int) -> list[ClaimedJob]:
        """The named job, if it still waits, and up to ``also`` more documents of the same queue."""

    def progress(self, notes: Sequence[ProgressNote]) -> None: ...
    def publish(self, job: ClaimedJob, prepared: Prepared) -> Outcome:
        """Save the version, make it live and let the job succeed, all in one transaction.

        Superseded keeps nothing of it and leaves the job running. Raises LeaseLost, RagstoneError.
        """

    def succeed(self, job: ClaimedJob, result: dict[str, Any], warning: str | None) -> bool: ...
    def fail(self, job: ClaimedJob, reason: str) -> bool: ...
    def put_off(self, job: ClaimedJob, reason: str) -> bool:
        """Put the job back for a later attempt, with this one counted; the last one fails with the reason."""

    def cancelled(self, job: ClaimedJob, reason: str) -> bool: ...
    def drop(self, job: ClaimedJob) -> None:
        """End a job that is not to be gone on with: as cancelled if somebody asked for that, else leave it alone."""

    def release(self, jobs: Sequence[ClaimedJob]) -> None:
        """Put them back without counting the attempt."""

    def needed_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        """Those that answer, or that are on their way in, perhaps again: their vectors are to stay."""

    def live_chunks(self, space: SpaceId, version: VersionId) -> list[StoredChunk]:
        """The version's chunks in their order; none when it is not live."""


class BatchLedger(Protocol):
    """The lines of a batch in the catalog."""

    def last_item(self, job: ClaimedJob) -> int: ...
    def submit(self, job: ClaimedJob, documents: Sequence[Incoming]) -> list[Submission]: ...
    def record(self, job: ClaimedJob, steps: Sequence[BatchStep], total: int) -> list[VersionId]:
        """Publish a group and note its lines and the progress in one transaction.

        Returns the versions that do not answer, or not any more.

        Raises LeaseLost.
        """

    def forget(self, job: ClaimedJob, n: int) -> None:
        """Take the record of one line back."""

    def outcome(self, job: ClaimedJob) -> tuple[dict[str, int], JobItem | None]:
        """Numbers of documents by outcome, and the first line that failed."""


class Lease(Protocol):
    """Jobs under this worker's lease, as its heartbeats last saw them."""

    def keeps(self, job_id: JobId) -> bool:
        """Still ours, and nobody asked to cancel it."""


class Leases(Protocol):
    """Keeps leases from running out while the work goes on."""

    def hold(self, job_ids: Sequence[JobId]) -> AbstractContextManager[Lease]:
        """Keep the jobs' leases alive while the block runs."""


class Originals(Protocol):
    """The original bytes. Raises RagstoneError when they are gone or the folder cannot be used."""

    def read(self, sha256: str) -> bytes: ...
    def lines(self, sha256: str) -> Iterator[bytes]: ...
    def keep(self, data: bytes) -> None: ...


class Parsers(Protocol):
    """Reads files of every supported kind."""

    def parse(self, incoming: Incoming, data: bytes) -> Extracted:
        """Raises RagstoneError naming the file, what is wrong with it and what to do."""


class Embedder(Protocol):
    """The model; loaded at the first use. Raises RagstoneError."""

    def max_tokens(self) -> int: ...
    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...
    def embed(self, texts: Sequence[str], keep_going: KeepGoing) -> Vectors:
        """Raises EmbeddingStopped within one batch after ``keep_going`` said no."""


class VectorStore(Protocol):
    """Vectors of each space. Raises RagstoneError (vector_store_unavailable, index_incompatible)."""

    def upsert(self, space: SpaceId, items: Sequence[VectorItem], vectors: Vectors) -> None: ...
    def present(self, space: SpaceId, chunk_ids: Sequence[ChunkId]) -> set[ChunkId]:
        """Those of the chunks that have a vector."""

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None: ...


class Doorbell(Protocol):
    """Tells workers that a job waits."""

    def ring(self, queue: Queue, job_id: JobId, request_id: str) -> bool:
        """False when the ring did not get through, which is logged; the reconciler rings again."""


class Background(Protocol):
    """A thread that works one step behind."""

    def run(self, step: Callable[[], None]) -> None:
        """Wait for the step before (raising its error), then start this one."""

    def wait(self) -> None:
        """Wait for the last step, raising its error."""


@dataclass(frozen=True)
class Rules:
    """Sizes from the settings."""

    chunk_words: int
    max_chunks: int
    max_document_bytes: int
    group_jobs: int
    group_documents: int
    group_chunks: int
    time_slice_s: float
    max_attempts: int


@dataclass(frozen=True)
class Tools:
    """Everything that a worker works with."""

    ledger: Ledger
    batches: BatchLedger
    leases: Leases
    originals: Originals
    parsers: Parsers
    embedder: Embedder
    vectors: VectorStore
    bell: Doorbell
    one_behind: Callable[[], AbstractContextManager[Background]]
    clock: Callable[[], float]
    """Seconds that only go forward."""
    rules: Rules
    time_up: type[Exception]
    """What the queue raises in the middle of the work when its time is over; never caught as a failure."""


@dataclass(frozen=True)
class AtWork:
    """What waiting and running jobs of a space are about."""

    versions: set[VersionId]
    batch: bool
    """A batch is among the jobs: it brings in versions that nobody can name."""


class Housekeeping(Protocol):
    """What the reconciler does to the catalog; each call is one transaction or a few short ones."""

    def reap(self) -> None: ...
    def unrung(self) -> list[tuple[Queue, JobId, str]]: ...
    def rung(self, job_ids: Sequence[JobId]) -> None: ...
    def spaces(self) -> list[SpaceId]: ...
    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]: ...
    def live_count(self, space: SpaceId) -> int:
        """Live chunks of the space."""

    def live_sizes(self, space: SpaceId) -> dict[VersionId, int]:
        """Chunks of each live version."""

    def at_work(self, space: SpaceId) -> AtWork: ...
    def begin_mending(self, space: SpaceId, versions: Sequence[VersionId]) -> tuple[Queue, JobId, str] | None:
        """Create a job that makes the versions' vectors again, to be rung for.

        None, and no job, while another one of the space waits or runs, and for a while after one failed.
        """

    def discard_stale(self) -> None: ...
    def sweep_blobs(self) -> None: ...
    def prune(self) -> None: ...


class StoredVectors(Protocol):
    """The vector store as the reconciler sees it."""

    def count(self, space: SpaceId) -> int: ...
    def sizes(self, space: SpaceId) -> dict[VersionId, int]:
        """Vectors of each version that has any; reads the whole index."""

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None: ...
