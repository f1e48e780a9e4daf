"""Jobs in the catalog as their worker sees them, their leases, and the bell that tells of them."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from services.ingestor.domain.documents import Incoming, Prepared, StoredChunk
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import JobItem, JobKind, Queue


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

    def documents_wait(self) -> bool:
        """Does any document wait for a worker?"""

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


class Doorbell(Protocol):
    """Tells workers that a job waits."""

    def ring(self, queue: Queue, job_id: JobId, request_id: str) -> bool:
        """False when the ring did not get through, which is logged; the reconciler rings again."""
