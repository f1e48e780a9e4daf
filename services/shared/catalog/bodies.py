"""Bodies of batches: one file holds many documents, and has to lose one that is deleted while it may be read again.

The line of a deleted document becomes an empty one, so that every other line keeps its number. A worker may have
kept the document's own original already, which no record names before the document is in; it goes with the line.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from sqlalchemy import Connection, case, select, update

from services.shared.catalog import schema, spaces
from services.shared.catalog.blob_store import BlobStore
from services.shared.catalog.blob_use import alone, blob_in_use
from services.shared.catalog.engine import Catalog
from services.shared.catalog.leases import CANCELLED_ON_REQUEST
from services.shared.catalog.quoting import json_forms
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import JobKind, JobState

IN_MEMORY_BYTES = 1 << 20

_j = schema.jobs.c


@dataclass(frozen=True)
class Body:
    """A batch whose body may be read again, where that lies, and when it was sent."""

    job_id: JobId
    sha256: str
    sent_at: datetime


@dataclass(frozen=True)
class Emptied:
    """``to_ring``: batches that were at work and wait again; ``complete``: no body holds the document any more."""

    to_ring: list[JobId]
    complete: bool


def hold(catalog: Catalog, blobs: BlobStore, space: SpaceId, document_id: DocumentId, *, within_s: float) -> bool:
    """May a batch that waits, runs, or could be retried still bring the document in?

    True also when the time was over before all bodies were looked through. Raises RagstoneError.
    """
    give_up = time.monotonic() + within_s
    for body in _each(catalog, space, document_id, since_deletion=True):
        if time.monotonic() > give_up or lines_of(blobs, body, document_id):
            return True
    return False


def empty(
    catalog: Catalog,
    blobs: BlobStore,
    space: SpaceId,
    document_id: DocumentId,
    now: Callable[[], datetime],
    *,
    within_s: float,
) -> Emptied:
    """Take a deleted document's lines out of the space's batches that wait, run, or could be retried.

    A batch that was sent after the deletion keeps its line. One at work is taken from its worker, which would
    otherwise look for the old file; it goes on with the new one where it was. Running it again changes nothing.
    Raises RagstoneError.
    """
    give_up = time.monotonic() + within_s
    to_ring: list[JobId] = []
    for body in _each(catalog, space, document_id, since_deletion=False):
        if time.monotonic() > give_up:
            return Emptied(to_ring, complete=False)
        numbers = lines_of(blobs, body, document_id)
        if numbers and _exchanged(catalog, blobs, space, body, numbers, now()):
            to_ring.append(body.job_id)
    return Emptied(to_ring, complete=True)


def _each(catalog: Catalog, space: SpaceId, document_id: DocumentId, *, since_deletion: bool) -> Iterator[Body]:
    """Bodies that were sent since the document was last sent or deleted, or before; those, too, that others exchange
    meanwhile, each once."""
    looked: set[Body] = set()
    while True:
        with catalog.read() as tx:
            said_at = _said_at(tx, space, document_id)
            kept = readable(tx, space)
        if said_at is not None:
            kept = [body for body in kept if (body.sent_at >= said_at) is since_deletion]
        fresh = [body for body in kept if body not in looked]
        if not fresh:
            return
        looked.update(fresh)
        yield from fresh


def _said_at(tx: Connection, space: SpaceId, document_id: DocumentId) -> datetime | None:
    d = schema.documents.c
    said: datetime | None = tx.execute(
        select(d.last_sent_at).where(d.space_id == space, d.id == document_id)
    ).scalar_one_or_none()
    return said


def readable(tx: Connection, space: SpaceId) -> list[Body]:
    """The batches whose bodies a worker may still read; one that succeeded is never read again."""
    query = select(_j.id, _j.payload, _j.created_at).where(_j.space_id == space, _j.kind == JobKind.BATCH)
    rows = tx.execute(query.where(_j.state != JobState.SUCCEEDED).order_by(_j.created_at, _j.id))
    return [Body(row.id, row.payload["blob_sha256"], row.created_at) for row in rows if "blob_sha256" in row.payload]


def _exchanged(
    catalog: Catalog, blobs: BlobStore, space: SpaceId, body: Body, numbers: set[int], now: datetime
) -> bool:
    """Let a batch go on without these lines; True when it was taken from its worker and waits."""
    try:
        sha256, size, originals = _without(blobs, body.sha256, numbers)
    except RagstoneError as error:
        if error.code is ErrorCode.VERSION_NOT_FOUND:
            # Another deletion exchanged it meanwhile; the new one is looked through as well.
            return False
        raise
    with catalog.write() as tx:
        spaces.lock(tx, space)
        waits = exchange(tx, body, sha256, size, now)
        alone(tx)
        for unused in (body.sha256, sha256, *originals):
            # The new body too: the batch may have ended meanwhile, or have another one by now.
            if not blob_in_use(tx, unused):
                blobs.delete(unused)
    return waits


def exchange(tx: Connection, body: Body, sha256: str, size: int, now: datetime) -> bool:
    """Let a batch go on with another body, if it has this one still; True when it was taken from its worker and
    waits."""
    this = (_j.id == body.job_id, _j.state != JobState.SUCCEEDED)
    found = tx.execute(select(_j.state, _j.payload).where(*this).with_for_update()).one_or_none()
    if found is None or found.payload.get("blob_sha256") != body.sha256:
        return False
    payload = {"blob_sha256": sha256, "size_bytes": size}
    tx.execute(update(schema.jobs).where(*this).values(payload=payload, updated_at=now))
    if found.state != JobState.RUNNING:
        return False
    stopped = {
        "state": case((_j.cancel_requested, JobState.CANCELLED.value), else_=JobState.QUEUED.value),
        "reason": case((_j.cancel_requested, CANCELLED_ON_REQUEST), else_=_j.reason),
        "attempts": _j.attempts - 1,
        "lease_owner": None,
        "lease_until": None,
        "rung_at": None,
    }
    waits = tx.execute(update(schema.jobs).where(*this).values(stopped).returning(_j.state)).scalar_one()
    return bool(waits == JobState.QUEUED)


def lines_of(blobs: BlobStore, body: Body, document_id: DocumentId) -> set[int]:
    """Numbers, from 1, of the lines that are this document; none when the file is gone."""
    try:
        with blobs.open(body.sha256) as file:
            return set(_lines_of(file, body.job_id, document_id))
    except RagstoneError as error:
        if error.code is ErrorCode.VERSION_NOT_FOUND:
            return set()
        raise


def _lines_of(lines: Iterable[bytes], job_id: JobId, document_id: DocumentId) -> Iterator[int]:
    forms = [form.encode() for form in json_forms(document_id)]
    # An id may be written with escapes that nobody needs; such a line is read as JSON to be sure.
    unusual = (b"\\u00", b"\\/")
    for n, line in enumerate(lines, start=1):
        without_id = document_id == f"{job_id}-{n}"
        named = any(form in line for form in forms)
        if not (named or without_id or any(escape in line for escape in unusual)):
            continue
        try:
            found = json.loads(line.strip().removeprefix(b"\xef\xbb\xbf"))
        except ValueError:
            # No document can come of it, and what it holds of this one nobody will miss.
            found = {"id": document_id} if named else None
        if isinstance(found, dict) and (found.get("id") or f"{job_id}-{n}") == document_id:
            yield n


def _without(blobs: BlobStore, sha256: str, numbers: set[int]) -> tuple[str, int, set[str]]:
    """Keep the body with these lines empty; its SHA-256 and size, and the originals of the documents taken out."""
    originals: set[str] = set()
    with SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as fresh:
        with blobs.open(sha256) as file:
            for n, line in enumerate(file, start=1):
                fresh.write(b"\n" if n in numbers else line)
                if n in numbers:
                    originals.update(_original_of(line))
        fresh.seek(0)
        return *blobs.put(cast(BinaryIO, fresh)), originals


def _original_of(line: bytes) -> Iterator[str]:
    """SHA-256 of the text of a line, in UTF-8; nothing for a line that no document can come of."""
    with suppress(ValueError):
        found = json.loads(line.strip().removeprefix(b"\xef\xbb\xbf"))
        if isinstance(found, dict) and isinstance(found.get("text"), str):
            yield hashlib.sha256(found["text"].encode()).hexdigest()
