"""Jobs in the catalog as their worker sees them, their leases, and the bell that tells of them."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from services.ingestor.domain.documents import Incoming, Prepared, StoredChunk
from services.ingestor.ports.content import Target
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import JobItem, JobKind, Queue

PARSE = "parse"
"""The stage of a document whose text is not there yet."""


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
    begun: bool = False
    """Something of it is noted from an earlier time slice or attempt: its document may be staged."""
    slow: bool = False
    """Begun before, and not even read: it has the whole time for that, beside the others."""


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
    staged: VersionId | None = None
    """A large document's version, which is saved already and only to be published."""
    revision: int | None = None
    unchanged: bool = False
    superseded: bool = False
    reason: str | None = None


class Ledger(Protocol):
    """Jobs in the catalog, as their worker sees them. Each call is one transaction.

    Calls that end a job answer False, and change nothing, when the lease is no longer this worker's.
    Every method raises RagstoneError (catalog_unavailable) when the catalog does not answer.
    """

    def takes_long(self, job_id: JobId) -> bool:
        """Is it a batch that waits, or a large document that has made way?"""

    def claim(self, job_id: JobId, also: int) -> list[ClaimedJob]:
        """The named job, if it still waits; with one that nobody began, up to ``also`` more such documents."""

    def claim_fresh(self, most: int) -> list[ClaimedJob]:
        """Documents that wait and that nobody began."""

    def progress(self, notes: Sequence[ProgressNote]) -> None: ...
    def publish(self, job: ClaimedJob, prepared: Prepared, target: Target) -> Outcome:
        """Save the version, make it live and let the job succeed, all in one transaction.

        Superseded keeps nothing of it and leaves the job running. Raises LeaseLost, RagstoneError, and Switched
        when the target, which holds the version's vectors, is not what serves the space.
        """

    def stage(self, space: SpaceId, prepared: Prepared, revision: int) -> None:
        """Save the version beside what is live, invisible until it is published; nothing if it was deleted since."""

    def staged(self, space: SpaceId, document_id: DocumentId, version: VersionId) -> list[StoredChunk]:
        """The chunks of a version that is saved, published or not, in their order; none when it is not saved."""

    def publish_staged(self, job: ClaimedJob, target: Target) -> Outcome:
        """Like ``publish``, for a version that is saved already. Superseded discards it."""

    def discard(self, space: SpaceId, document_id: DocumentId, version: VersionId) -> None:
        """Forget a version that was saved and is not live."""

    def succeed(self, job: ClaimedJob, result: dict[str, Any], warning: str | None) -> bool: ...
    def fail(self, job: ClaimedJob, reason: str) -> bool: ...
    def put_off(self, job: ClaimedJob, reason: str) -> bool:
        """Put the job back for a later attempt, with this one counted; the last one fails with the reason."""

    def cancelled(self, job: ClaimedJob, reason: str) -> bool: ...
    def drop(self, job: ClaimedJob) -> bool:
        """End a job that is not to be gone on with: as cancelled (True) if somebody asked for that, else leave it
        alone."""

    def release(self, jobs: Sequence[ClaimedJob]) -> None:
        """Put them back without counting the attempt; the caller rings for them."""

    def put_behind(self, job: ClaimedJob) -> None:
        """Put a document back that takes long to read, as one that is ``slow``; without counting the attempt. The
        caller rings for it."""

    def documents_wait(self) -> bool:
        """Does any document wait for a worker?"""

    def fresh_waits(self) -> bool:
        """Does a document wait that nobody began?"""

    def anything_waits(self) -> bool:
        """Does any job of any kind wait for a worker?"""

    def needed_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        """Those that answer, or that are on their way in, perhaps again: their vectors are to stay."""

    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        """Those that answer."""

    def live_chunks(self, space: SpaceId, version: VersionId) -> list[StoredChunk]:
        """The version's chunks in their order; none when it is not live."""


class BatchLedger(Protocol):
    """The lines of a batch in the catalog."""

    def last_item(self, job: ClaimedJob) -> int: ...
    def submit(self, job: ClaimedJob, documents: Sequence[Incoming]) -> list[Submission]: ...
    def record(self, job: ClaimedJob, steps: Sequence[BatchStep], total: int, target: Target | None) -> list[VersionId]:
        """Publish a group and note its lines and the progress in one transaction.

        Returns the versions that do not answer, or not any more. ``target`` holds the vectors of what is published;
        None when nothing is.

        Raises LeaseLost, and Switched when the target is not what serves the space.
        """

    def forget(self, job: ClaimedJob, n: int) -> None:
        """Take the record of one line back."""

    def outcome(self, job: ClaimedJob) -> tuple[dict[str, int], JobItem | None]:
        """Numbers of documents by outcome, and the first line that failed."""


class Lease(Protocol):
    """Jobs under this worker's lease, as its heartbeats last saw them."""

    def keeps(self, job_id: JobId) -> bool:
        """Still ours, and nobody asked to cancel it."""

    def take(self, job_ids: Sequence[JobId]) -> None:
        """Keep these jobs' leases alive as well."""


class Leases(Protocol):
    """Keeps leases from running out while the work goes on."""

    def hold(self, job_ids: Sequence[JobId]) -> AbstractContextManager[Lease]:
        """Keep the jobs' leases alive while the block runs."""


class Doorbell(Protocol):
    """Tells workers that a job waits."""

    def ring(self, queue: Queue, job_id: JobId, request_id: str) -> bool:
        """False when the ring did not get through, which is logged; the reconciler rings again."""
