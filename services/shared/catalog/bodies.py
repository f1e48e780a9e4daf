"""Bodies of batches: one file holds many documents, and has to lose one that is deleted while it may be read again.

The line of a deleted document becomes an empty one, so that every other line keeps its number.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from sqlalchemy import Connection, case, select, update

from services.shared.catalog import schema, spaces
from services.shared.catalog.blob_use import blob_in_use
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.catalog.leases import CANCELLED_ON_REQUEST
from services.shared.catalog.quoting import json_forms
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import JobKind, JobState

IN_MEMORY_BYTES = 1 << 20

_j = schema.jobs.c


@dataclass(frozen=True)
class Body:
    """A batch whose body may be read again, and where that lies."""

    job_id: JobId
    sha256: str


@dataclass(frozen=True)
class Emptied:
    """``to_ring``: batches that were at work and wait again; ``complete``: no body holds the document any more."""

    to_ring: list[JobId]
    complete: bool


def empty(
    catalog: Catalog,
    blobs: Blobs,
    space: SpaceId,
    document_id: DocumentId,
    now: Callable[[], datetime],
    *,
    within_s: float,
) -> Emptied:
    """Take a deleted document's lines out of the space's batches that wait, run, or could be retried.

    A batch at work is taken from its worker, which would otherwise look for the old file; it goes on with the new
    one where it was. Running it again changes nothing. Raises RagstoneError.
    """
    give_up = time.monotonic() + within_s
    with catalog.read() as tx:
        kept = readable(tx, space)
    to_ring: list[JobId] = []
    for body in kept:
        if time.monotonic() > give_up:
            return Emptied(to_ring, complete=False)
        numbers = lines_of(blobs, body, document_id)
        if not numbers:
            continue
        sha256, size = _without(blobs, body.sha256, numbers)
        with catalog.write() as tx:
            spaces.lock(tx, space)
            if exchange(tx, body, sha256, size, now()):
                to_ring.append(body.job_id)
            for unused in (body.sha256, sha256):
                # The new one too: the batch may have ended meanwhile.
                if not blob_in_use(tx, unused):
                    blobs.delete(unused)
    return Emptied(to_ring, complete=True)


def readable(tx: Connection, space: SpaceId) -> list[Body]:
    """The batches whose bodies a worker may still read; one that succeeded is never read again."""
    query = select(_j.id, _j.payload).where(_j.space_id == space, _j.kind == JobKind.BATCH)
    rows = tx.execute(query.where(_j.state != JobState.SUCCEEDED).order_by(_j.created_at, _j.id))
    return [Body(row.id, row.payload["blob_sha256"]) for row in rows if "blob_sha256" in row.payload]


def exchange(tx: Connection, body: Body, sha256: str, size: int, now: datetime) -> bool:
    """Let a batch go on with another body; True when it was taken from its worker and waits."""
    this = (_j.id == body.job_id, _j.state != JobState.SUCCEEDED)
    state = tx.execute(select(_j.state).where(*this).with_for_update()).scalar_one_or_none()
    payload = {"blob_sha256": sha256, "size_bytes": size}
    tx.execute(update(schema.jobs).where(*this).values(payload=payload, updated_at=now))
    if state != JobState.RUNNING:
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


def lines_of(blobs: Blobs, body: Body, document_id: DocumentId) -> set[int]:
    """Numbers, from 1, of the lines that are this document; none when the file is gone."""
    if not blobs.path(body.sha256).is_file():
        return set()
    with blobs.open(body.sha256) as file:
        return set(_lines_of(file, body.job_id, document_id))


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


def _without(blobs: Blobs, sha256: str, numbers: set[int]) -> tuple[str, int]:
    """Keep the body with these lines empty; its SHA-256 and size."""
    with SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as fresh:
        with blobs.open(sha256) as file:
            for n, line in enumerate(file, start=1):
                fresh.write(b"\n" if n in numbers else line)
        fresh.seek(0)
        return blobs.put(cast(BinaryIO, fresh))
