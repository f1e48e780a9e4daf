"""Which original bytes are still needed, and which ones a job names.

Several spaces, and several machines, may keep the same bytes once. So whoever writes down that it needs some, and
whoever deletes some that nothing needs, take turns; else a deletion that looked a moment earlier would take away what
was written down since.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, String, and_, cast, exists, literal, or_, select

from services.shared.catalog import schema
from services.shared.catalog.blob_store import BlobStore
from services.shared.catalog.engine import Catalog
from services.shared.catalog.job_rows import ACTIVE
from services.shared.contracts.jobs import JobKind, JobState

_TURNS = 0x52414753424C4F42
"""Key of PostgreSQL's advisory lock: "RAGSBLOB" in ASCII."""

_d, _v, _j = schema.documents.c, schema.versions.c, schema.jobs.c


def claim(tx: Connection) -> None:
    """Before a transaction names original bytes, once it has its space: no deletion of originals is under way then, and
    none begins before it ends. SQLite's ``BEGIN IMMEDIATE`` gives the same."""
    _take(tx, "pg_advisory_xact_lock_shared")


def alone(tx: Connection) -> None:
    """Before a transaction looks which originals nothing needs, and deletes them: nobody names any meanwhile."""
    _take(tx, "pg_advisory_xact_lock")


def _take(tx: Connection, lock: str) -> None:
    if tx.dialect.name == "postgresql":
        tx.exec_driver_sql(f"SELECT {lock}({_TURNS})")


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


def discard(catalog: Catalog, blobs: BlobStore, hashes: Sequence[str]) -> int:
    """Delete those of the originals that nothing needs; how many. Raises RagstoneError.

    A store that is away is noticed before anybody is made to wait.
    """
    there = [sha256 for sha256 in hashes if blobs.holds(sha256)]
    if not there:
        return 0
    with catalog.write() as tx:
        alone(tx)
        unused = [sha256 for sha256 in there if not blob_in_use(tx, sha256)]
        for sha256 in unused:
            blobs.delete(sha256)
    return len(unused)


def named_blobs(payload: Mapping[str, Any]) -> Iterator[str]:
    """The originals that a job's payload names; what an owner wrote as metadata is none."""
    for key, value in payload.items():
        if key == "blob_sha256" and isinstance(value, str):
            yield value
        elif key != "metadata" and isinstance(value, Mapping):
            yield from named_blobs(value)
