"""Looks at everything that was sent before anything is stored: one bad file must not leave half an upload."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from services.gateway.domain.names import chosen_document_id, display_name, id_of_text
from services.shared.contracts.documents import DocumentDescription, DocumentIn
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId

MEDIA_TYPE_OF = {
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "eml": "message/rfc822",
    "epub": "application/epub+zip",
    "htm": "text/html",
    "html": "text/html",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "markdown": "text/markdown",
    "md": "text/markdown",
    "ndjson": "application/x-ndjson",
    "pdf": "application/pdf",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "rst": "text/x-rst",
    "txt": "text/plain",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""By extension, so that two clients that guess differently send the same document."""

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_TEXT_TYPE = "text/markdown"


@dataclass(frozen=True)
class SentFile:
    """One file of an upload as it came."""

    name: str
    content_type: str | None
    size: int
    data: BinaryIO


@dataclass(frozen=True)
class NewDocument:
    """A document to store: its bytes, and what the sender said of it."""

    id: DocumentId
    data: BinaryIO | bytes
    filename: str | None
    media_type: str
    described: DocumentDescription


def planned_files(
    files: Sequence[SentFile],
    manifest: Sequence[DocumentDescription] | None,
    common: DocumentDescription,
    max_bytes: int,
) -> list[NewDocument]:
    """The documents of a multipart upload, in file order.

    ``manifest`` describes each file; ``common`` (type and tags) holds for those it leaves open.
    An empty file among others is taken in all the same: its job fails by its name, and the others' do not.
    Raises: RagstoneError that names the file at fault, before anything is stored.
    """
    if not files:
        raise RagstoneError(ErrorCode.INVALID_REQUEST, "The upload holds no file; send them as form field 'files'.")
    if manifest is not None and len(manifest) != len(files):
        detail = (
            f"The manifest describes {len(manifest)} documents and {len(files)} files came; describe each, in order."
        )
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    if not any(file.size for file in files):
        check_size(
            0,
            f"all {len(files)} files" if len(files) > 1 else f"file 1, {display_name(files[0].name, 'file 1')!r},",
            max_bytes,
        )
    planned = [
        _planned(file, f"file {n}", DocumentDescription() if manifest is None else manifest[n - 1], common, max_bytes)
        for n, file in enumerate(files, 1)
    ]
    _check_distinct(planned)
    return planned


def _planned(
    file: SentFile, place: str, described: DocumentDescription, common: DocumentDescription, max_bytes: int
) -> NewDocument:
    name = display_name(file.name, place)
    _check_not_too_large(file.size, f"{place}, {name!r},", max_bytes)
    check_description(described, f"{place}, {name!r},")
    both = described.model_copy(
        update={
            "type": common.type if described.type is None else described.type,
            "tags": common.tags if described.tags is None else described.tags,
        }
    )
    id = chosen_document_id(name if described.id is None else described.id)
    return NewDocument(id, file.data, name, media_type(name, file.content_type), both)


def planned_text(sent: DocumentIn, max_bytes: int) -> NewDocument:
    """The document of a JSON body; raises RagstoneError."""
    name = "the document" if sent.id is None else f"document {sent.id[:80]!r}"
    check_description(sent, name)
    data = sent.text.encode()
    check_size(len(data) if sent.text.strip() else 0, name, max_bytes)
    id = id_of_text(data) if sent.id is None else chosen_document_id(sent.id)
    return NewDocument(id, data, None, _TEXT_TYPE, sent)


def check_size(size: int, what: str, max_bytes: int) -> None:
    """Raises RagstoneError (document_empty, body_too_large)."""
    if size == 0:
        raise RagstoneError(ErrorCode.DOCUMENT_EMPTY, f"Of {what} nothing came but the name; it is empty.")
    _check_not_too_large(size, what, max_bytes)


def _check_not_too_large(size: int, what: str, max_bytes: int) -> None:
    if size > max_bytes:
        detail = f"{what[0].upper()}{what[1:]} has {size} bytes and may have {max_bytes}; split it or raise the limit."
        raise RagstoneError(ErrorCode.BODY_TOO_LARGE, detail)


def check_description(described: DocumentDescription, what: str) -> None:
    """What cannot be stored and given back as JSON is refused; raises RagstoneError (invalid_request)."""
    fields: dict[str, Any] = described.model_dump(exclude={"text"})
    try:
        json.dumps(fields, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        detail = f"The description of {what} holds a value that JSON cannot carry (such as NaN): {error}."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error


def media_type(name: str, claimed: str | None) -> str:
    """By the name's extension, else what the client claims, if that is a media type at all."""
    known = MEDIA_TYPE_OF.get(name.rpartition(".")[2].lower())
    if known is not None:
        return known
    plain = (claimed or "").partition(";")[0].strip().lower()
    return plain if _MEDIA_TYPE.fullmatch(plain) else "application/octet-stream"


def _check_distinct(planned: Sequence[NewDocument]) -> None:
    first: dict[DocumentId, int] = {}
    for n, document in enumerate(planned, 1):
        if document.id in first:
            detail = (
                f"Files {first[document.id]} and {n} would both be document {document.id!r}, and one would replace "
                "the other; send them one by one, or give them ids in the form field 'manifest'."
            )
            raise RagstoneError(ErrorCode.DOCUMENT_ID_INVALID, detail)
        first[document.id] = n
