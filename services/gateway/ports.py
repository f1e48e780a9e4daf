"""What the gateway's flows need from outside."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from services.gateway.domain.citations import TextOf
from services.gateway.domain.uploads import NewDocument
from services.shared.contracts.answers import WriteEvent, WriteRequest
from services.shared.contracts.documents import Document, DocumentList
from services.shared.contracts.health import PartHealth
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import Job, JobItemList, JobList, JobState, Queue
from services.shared.contracts.search import RetrieveRequest, SearchResponse


class Retriever(Protocol):
    """Finds passages."""

    async def retrieve(self, request: RetrieveRequest) -> SearchResponse:
        """Raises RagstoneError (retriever_unavailable among others)."""
        ...


class Generator(Protocol):
    """Writes sentences from passages."""

    def write(self, request: WriteRequest) -> AsyncGenerator[WriteEvent, None]:
        """Yields sentences and at last a WritingDone; closing it stops the writing. Raises RagstoneError."""
        ...


class LiveTexts(Protocol):
    """The catalog's word on what may be said."""

    async def live_texts(self, space: SpaceId, wanted: Collection[TextOf]) -> dict[TextOf, str]:
        """The extracted texts of those versions that are live at this moment; others are left out."""
        ...


@dataclass(frozen=True)
class KeptDocument:
    """A document whose original is in the blob folder."""

    document: NewDocument
    sha256: str
    size: int


@dataclass(frozen=True)
class Accepted:
    """What a submission led to; ``new`` jobs have to be rung for."""

    job_id: JobId
    document_id: DocumentId | None
    state: JobState
    unchanged: bool
    new: bool


@dataclass(frozen=True)
class Forgotten:
    """What a deletion took out of the catalog."""

    document_id: DocumentId
    versions: int
    chunks: int
    orphaned: Sequence[str]
    cancelled_jobs: Sequence[JobId]
    cleanup_job: JobId | None


@dataclass(frozen=True)
class Source:
    """A version's text, and where its original lies."""

    document_id: DocumentId
    version: VersionId
    sha256: str
    filename: str | None
    media_type: str
    text: str


class Documents(Protocol):
    """The catalog's documents."""

    async def submit(self, space: SpaceId, kept: Sequence[KeptDocument], request_id: str) -> list[Accepted]:
        """Writes all of them down with their jobs, or none."""
        ...

    async def submit_batch(self, space: SpaceId, sha256: str, size: int, request_id: str) -> Accepted:
        """Writes down one job for a body of many documents."""
        ...

    async def remove(self, space: SpaceId, document_id: DocumentId, request_id: str) -> Forgotten:
        """Forgets a document; raises RagstoneError (document_not_found)."""
        ...

    async def page(
        self, space: SpaceId, *, limit: int, cursor: str | None, type: str | None, origin: str | None
    ) -> DocumentList:
        """Live documents by id."""
        ...

    async def one(self, space: SpaceId, document_id: DocumentId) -> Document:
        """Raises RagstoneError (document_not_found)."""
        ...

    async def source(self, space: SpaceId, document_id: DocumentId, version: VersionId | None) -> Source:
        """Raises RagstoneError (document_not_found, version_not_found)."""
        ...


class Jobs(Protocol):
    """The catalog's jobs."""

    async def page(
        self, space: SpaceId, *, states: Sequence[JobState] | None, limit: int, cursor: str | None
    ) -> JobList:
        """Newest first."""
        ...

    async def one(self, space: SpaceId, job_id: JobId) -> Job:
        """Raises RagstoneError (job_not_found)."""
        ...

    async def items(self, space: SpaceId, job_id: JobId, *, limit: int, cursor: str | None) -> JobItemList:
        """The lines of a batch; raises RagstoneError (job_not_found)."""
        ...

    async def cancel(self, space: SpaceId, job_id: JobId) -> Job:
        """Raises RagstoneError (job_not_found, job_state_conflict)."""
        ...

    async def retry(self, space: SpaceId, job_id: JobId) -> Job:
        """Raises RagstoneError (job_not_found, job_state_conflict)."""
        ...


class Originals(Protocol):
    """The original bytes, by their SHA-256."""

    async def put(self, data: BinaryIO | bytes) -> tuple[str, int]:
        """Keeps the bytes (a file is read from its beginning); their SHA-256 and size."""
        ...

    async def holds(self, sha256: str) -> bool:
        """Are these bytes there?"""
        ...

    async def discard_orphans(self, hashes: Sequence[str]) -> int:
        """Deletes those that nothing in the catalog needs any more; how many."""
        ...

    async def path(self, sha256: str) -> Path:
        """Where they lie; raises RagstoneError (version_not_found) when they are gone."""
        ...


class Bell(Protocol):
    """Wakes a worker for jobs that the catalog holds."""

    async def ring(self, queue: Queue, job_ids: Sequence[JobId], request_id: str) -> None:
        """Never fails: a ring that is lost is made up for by the reconciler."""
        ...


class JobNews(Protocol):
    """Tells when to look at a job again."""

    def wakeups(self, job_id: JobId, every_s: float) -> AsyncIterator[None]:
        """Yields at once, at each change, and at least every ``every_s`` seconds."""
        ...


class Clock(Protocol):
    """Seconds that only ever grow."""

    def __call__(self) -> float: ...


class Parts(Protocol):
    """The state of everything that the gateway works with."""

    async def look(self) -> dict[str, PartHealth]:
        """Each part by its name."""
        ...
