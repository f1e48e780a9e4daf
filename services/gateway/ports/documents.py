"""The catalog's documents, and their original bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from services.gateway.domain.uploads import NewDocument
from services.shared.contracts.documents import Document, DocumentList
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import JobState


@dataclass(frozen=True)
class KeptDocument:
    """A document whose original is kept."""

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
    version_ids: Sequence[VersionId]
    cancelled_jobs: Sequence[JobId]
    cleanup_job: JobId
    """Does what could not be done at once."""
    reports_job: JobId | None
    """Makes reports of evaluations anew that quoted the document; None when none did."""
    answers: int = 0
    """Answers of jobs that rested on it."""


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

    async def remove(
        self, space: SpaceId, document_id: DocumentId, request_id: str, *, coming: bool = False
    ) -> Forgotten:
        """Forgets a document; raises RagstoneError (document_not_found) unless a batch is about to bring it in
        (``coming``), which then does not."""
        ...

    async def cleaned(self, job_id: JobId) -> bool:
        """Ends a clean-up job that has nothing left to do; False when a worker has it already."""
        ...

    async def settle(self) -> bool:
        """Leaves nothing of what was deleted in the catalog's files; False when that has to wait."""
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

    async def original(self, sha256: str) -> Path | BinaryIO:
        """Where they lie, or an open file of them, which the caller closes; raises RagstoneError (version_not_found)
        when they are gone."""
        ...
