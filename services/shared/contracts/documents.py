"""Documents as clients send and see them."""

import unicodedata
from datetime import datetime
from typing import Any

from pydantic import Field

from services.shared.contracts.base import Request, Response
from services.shared.contracts.ids import DocumentId, JobId, VersionId
from services.shared.contracts.jobs import JobState

TYPE_MAX = 64
TITLE_MAX = 500
TAGS_MAX = 50
DOCUMENT_ID_MAX = 512


def document_id_fault(id: str) -> str | None:
    """Why a client may not choose this id, as the end of a sentence; None when it can be addressed in a URL."""
    if not 1 <= len(id) <= DOCUMENT_ID_MAX:
        return f"has {len(id)} characters and may have 1 to {DOCUMENT_ID_MAX}"
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in id):
        return "holds control characters"
    if id != id.strip() or id != id.strip("/"):
        return "begins or ends with a slash or a space"
    if id.endswith("/source"):
        return "ends in /source, which is the address of a document's text"
    if any(step in (".", "..") for step in id.split("/")):
        return "holds a step . or .., which browsers take out of an address"
    return None


class DocumentDescription(Request):
    """What a sender may say of a document beside its bytes; what is left out comes from the document."""

    id: str | None = Field(default=None, description="Own id; sending it again replaces the document")
    title: str | None = Field(default=None, max_length=TITLE_MAX, description="Shown with citations")
    type: str | None = Field(default=None, max_length=TYPE_MAX, description="One word for filters, such as faq")
    tags: list[str] | None = Field(default=None, max_length=TAGS_MAX, description="Words for filters")
    source: str | None = Field(default=None, max_length=2000, description="Where it comes from: URL or path")
    metadata: dict[str, Any] | None = Field(default=None, description="Anything of the owner's, given back as it was")
    origin: str | None = Field(
        default=None, max_length=200, description="Name of the mirrored folder that owns it, if any"
    )


class DocumentIn(DocumentDescription):
    """A document sent as JSON, or one line of an NDJSON batch."""

    text: str = Field(description="The whole text; Markdown is understood")


class SubmittedJob(Response):
    """The receipt of one file: its job, and whether there was anything to do."""

    id: JobId
    document_id: DocumentId | None = Field(description="null for a batch")
    state: JobState
    unchanged: bool = Field(description="The same bytes and description are already live; no work")


class SubmittedJobs(Response):
    jobs: list[SubmittedJob] = Field(description="One a file, in the order sent")


class Document(Response):
    """A live document as lists show it."""

    id: DocumentId
    version: VersionId
    title: str
    type: str | None
    tags: list[str]
    source: str | None
    origin: str | None
    filename: str | None = Field(description="Display name of the uploaded file")
    media_type: str
    size_bytes: int = Field(description="Size of the original")
    sha256: str = Field(description="SHA-256 of the original bytes, hex")
    chunks: int = Field(description="Chunks that the index holds")
    metadata: dict[str, Any]
    warning: str | None = Field(description="What its owner should look at: how the file was understood")
    created_at: datetime
    updated_at: datetime


class DocumentList(Response):
    items: list[Document]
    next_cursor: str | None = Field(description="Send it as cursor for the next page; null on the last")


class DeletionReceipt(Response):
    """What a deletion removed; from the moment it is returned nothing of it can be in an answer."""

    document_id: DocumentId
    versions: int
    chunks: int
    vectors: int = Field(description="Vectors removed from all indexes of the space")
    postings: int = Field(description="Chunks removed from the keyword index")
    blobs: int = Field(description="Original files removed from disk (bytes shared with another document stay)")
    cached_answers: int = Field(description="Kept answers removed that rested on it")
    cancelled_jobs: list[JobId] = Field(description="Ingestions of this document that were still under way")
    cleanup_job: JobId | None = Field(
        description="null when all is removed; else the job that removes what an index that did not answer still holds"
    )
