"""The records of documents: what goes into the catalog, what comes out, and what a step answered."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal, Self

from services.shared.contracts.documents import Document
from services.shared.contracts.ids import ChunkId, DocumentId, JobId, VersionId, chunk_id, version_id
from services.shared.contracts.places import Place

ChunkKind = Literal["fact", "negative"]


@dataclass(frozen=True)
class Draft:
    """A document as it was sent: the bytes by their hash, and what the sender said of them."""

    document_id: DocumentId
    blob_sha256: str
    filename: str | None
    media_type: str
    size_bytes: int
    title: str | None
    type: str | None
    tags: list[str] | None
    source: str | None
    metadata: dict[str, Any]
    origin: str | None

    @property
    def version_id(self) -> VersionId:
        """Names exactly these bytes described in exactly this way; the origin is not part of it."""
        described = {
            "title": self.title,
            "type": self.type,
            "tags": self.tags,
            "source": self.source,
            "metadata": self.metadata,
            "filename": self.filename,
            "media_type": self.media_type,
        }
        return version_id(self.document_id, self.blob_sha256, described)

    def payload(self) -> dict[str, Any]:
        """The draft as a job's JSON payload; its ``blob_sha256`` keeps the original from being swept."""
        return asdict(self)

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Reads ``payload()`` back; keys of another release are ignored."""
        return cls(**{field.name: payload[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class Submitted:
    """What a submission leads to: nothing (``unchanged``), a job that runs already, or a new revision.

    ``superseded``: nothing either, because the document was sent or deleted after this was said.
    """

    document_id: DocumentId
    version_id: VersionId
    revision: int | None
    unchanged: bool
    pending_job: JobId | None
    superseded: bool = False


@dataclass(frozen=True)
class NewChunk:
    """A chunk before it has a version: ``text[lead:]`` equals ``version.text[start:end]``."""

    ordinal: int
    text: str
    lead: int
    start: int
    end: int
    section: str
    kind: ChunkKind
    search_text: str
    places: Sequence[Place] = ()

    def id(self, version: VersionId) -> ChunkId:
        """The id that this chunk gets in that version."""
        return chunk_id(version, self.ordinal)


@dataclass(frozen=True)
class Published:
    """The version is live since change ``seq``; ``replaced`` answered before it."""

    seq: int
    replaced: VersionId | None


@dataclass(frozen=True)
class Superseded:
    """The version may not go live any more: something newer is live, or the document was deleted."""

    by: Literal["newer", "deleted"]


@dataclass(frozen=True)
class SavedVersion:
    """A version that is saved, published or not: what its job's result says of it."""

    chunks: int
    warning: str | None


@dataclass(frozen=True)
class SavedChunk:
    """A chunk of such a version, with what its vector is made from and is described by."""

    id: ChunkId
    kind: ChunkKind
    search_text: str
    type: str | None
    tags: list[str]


@dataclass(frozen=True)
class Removed:
    """What a deletion took out of the catalog, and what the caller should still tidy elsewhere."""

    versions: int
    chunks: int
    blobs_orphaned: list[str]
    version_ids: list[VersionId]
    cancelled_jobs: list[JobId]
    reports: list[str]
    """Evaluations that quoted it, whose reports have to be made anew."""
    answers: int
    """Answers of jobs that rested on it."""
    seq: int


@dataclass(frozen=True)
class LiveDocument:
    """A document that answers now, with its live version's description."""

    id: DocumentId
    version: VersionId
    title: str
    type: str | None
    tags: list[str]
    source: str | None
    origin: str | None
    filename: str | None
    media_type: str
    size_bytes: int
    sha256: str
    chunks: int
    metadata: dict[str, Any]
    warning: str | None
    created_at: datetime
    updated_at: datetime

    def view(self) -> Document:
        """The document as the public API shows it."""
        return Document(**{field.name: getattr(self, field.name) for field in fields(self)})


@dataclass(frozen=True)
class StoredVersion:
    """A version that answers now or did once, with its whole extracted text."""

    document_id: DocumentId
    id: VersionId
    blob_sha256: str
    filename: str | None
    media_type: str
    size_bytes: int
    title: str
    type: str | None
    tags: list[str]
    source: str | None
    text: str
    live: bool
