"""The lines of an NDJSON batch: which are documents, and why the others are not."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from services.ingestor.domain.documents import Incoming
from services.ingestor.domain.storable import storable_line, storable_lines, storable_value
from services.shared.contracts.documents import DocumentIn, document_id_fault
from services.shared.contracts.ids import DocumentId, JobId


@dataclass(frozen=True)
class Line:
    """One line of the body: ``n`` counts from 1, blank lines included."""

    n: int
    document_id: DocumentId | None
    document: DocumentIn | None
    """None when the line could not be read; ``reason`` then says why."""
    reason: str | None = None


def read_lines(lines: Iterable[bytes], job_id: JobId, *, after: int, longest: int) -> Iterator[Line]:
    """The lines behind line ``after``; blank ones are left out."""
    for n, raw in enumerate(lines, start=1):
        if n > after and raw.strip():
            yield read_line(raw, n, job_id, longest)


def read_line(raw: bytes, n: int, job_id: JobId, longest: int) -> Line:
    """One line as a document, or the reason why it is none. Without an id it gets one that a retry gives again."""
    if len(raw) > longest:
        return Line(n, None, None, f"line {n} has {len(raw)} bytes; a document may have {longest}")
    try:
        document = DocumentIn.model_validate_json(raw.strip().removeprefix(b"\xef\xbb\xbf"))
    except ValidationError as error:
        return Line(n, None, None, f"line {n}: {_faults(error)}")
    document_id = DocumentId(f"{job_id}-{n}" if document.id is None else document.id)
    if fault := document_id_fault(document_id):
        return Line(n, None, None, f"line {n}: document id {document_id[:80]!r} {fault}; choose another")
    if not any(char.isalnum() for char in document.text):
        return Line(n, document_id, None, f"line {n}: no text was found in {document_id}")
    return Line(n, document_id, document)


def groups(
    lines: Iterable[Line], *, documents: int, characters: Callable[[], int], alone: int = 0
) -> Iterator[list[Line]]:
    """Lines that are embedded together: so many, of so much text, and no document twice.

    ``characters`` is asked again for each group. The first ``alone`` lines are a group each.
    """
    group: list[Line] = []
    seen: set[DocumentId] = set()
    size = 0
    for place, line in enumerate(lines):
        if group and (place <= alone or len(group) >= documents or size >= characters() or line.document_id in seen):
            yield group
            group, seen, size = [], set(), 0
        group.append(line)
        if line.document is not None and line.document_id is not None:
            seen.add(line.document_id)
            size += len(line.document.text)
    if group:
        yield group


def incoming_of(document_id: DocumentId, document: DocumentIn) -> Incoming:
    """The document as if it had been sent by itself as JSON: its original is the text in UTF-8."""
    data = document.text.encode()
    return Incoming(
        document_id=document_id,
        blob_sha256=hashlib.sha256(data).hexdigest(),
        filename=None,
        media_type="text/markdown",
        size_bytes=len(data),
        title=storable_line(document.title),
        type=storable_line(document.type),
        tags=storable_lines(document.tags),
        source=storable_line(document.source),
        metadata=storable_value(document.metadata or {}),
        origin=storable_line(document.origin),
    )


def _faults(error: ValidationError) -> str:
    faults = []
    for fault in error.errors(include_url=False, include_input=False)[:4]:
        where = ".".join(str(step) for step in fault["loc"])
        faults.append(f"{where}: {fault['msg']}" if where else fault["msg"])
    return "; ".join(faults)
