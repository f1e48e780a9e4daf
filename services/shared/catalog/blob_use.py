"""Which original bytes are still needed, and which ones a job names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, String, and_, cast, exists, literal, or_, select

from services.shared.catalog import schema
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.catalog.job_rows import ACTIVE
from services.shared.contracts.jobs import JobKind, JobState

_d, _v, _j = schema.documents.c, schema.versions.c, schema.jobs.c


def blob_in_use(tx: Connection, sha256: str) -> bool:
    """Does any version, or any job that runs, waits or could be retried, need these original bytes?

    A clean-up names what it is to delete.
    """
    if tx.execute(select(literal(1)).where(exists().where(_v.blob_sha256 == sha256))).first() is not None:
        return True
    retryable = and_(
        _j.state.in_([JobState.FAILED, JobState.CANCELLED]),
        or_(
            _j.revision.is_(None),
            exists().where(_d.space_id == _j.space_id, _d.id == _j.document_id, _d.last_revision == _j.revision),
        ),
    )
    names_it = cast(_j.payload, String).contains(sha256, autoescape=True)
    needed = exists().where(_j.kind != JobKind.CLEANUP, or_(_j.state.in_(ACTIVE), retryable), names_it)
    return tx.execute(select(literal(1)).where(needed)).first() is not None


def discard(catalog: Catalog, blobs: Blobs, hashes: Sequence[str]) -> int:
    """Delete those of the originals that nothing needs; how many. Raises RagstoneError.

    Under the catalog's write lock, so that no upload can claim one meanwhile.
    """
    removed = 0
    if not hashes:
        return removed
    with catalog.write() as tx:
        for sha256 in hashes:
            if not blob_in_use(tx, sha256) and blobs.path(sha256).is_file():
                blobs.delete(sha256)
                removed += 1
    return removed


def named_blobs(payload: Mapping[str, Any]) -> Iterator[str]:
    """The originals that a job's payload names; what an owner wrote as metadata is none."""
    for key, value in payload.items():
        if key == "blob_sha256" and isinstance(value, str):
            yield value
        elif key != "metadata" and isinstance(value, Mapping):
            yield from named_blobs(value)
