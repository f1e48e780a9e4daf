"""Putting a backup into a catalog: wholly or not at all, whatever happens in between."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from sqlalchemy import Connection, text

from services.shared.catalog import measuring, shape
from services.shared.catalog.backup import marks, rows
from services.shared.catalog.backup.form import Head, Manifest, TableForm
from services.shared.catalog.backup.reading import walk
from services.shared.catalog.backup.waking import waken
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError

LOCK_WAIT = "10s"
"""So long PostgreSQL waits for whoever holds one of the tables that are exchanged."""
BM25 = "bm25"
"""Folder of keyword snapshots in the state folder: those of another catalog may be ahead of this one's changes."""

Tell = Callable[[str, int], None]


class Originals(Protocol):
    """Where the original bytes go."""

    def put(self, data: bytes | BinaryIO) -> tuple[str, int]:
        """Keep them; their SHA-256 and size."""
        ...


@dataclass(frozen=True)
class Restored:
    """What was put in, and what is to come."""

    head: Head
    manifest: Manifest
    vectors: int
    """That background jobs make."""
    profile: Path | None


class _Loader:
    """Puts what is read into a database that is made for it, and into the originals."""

    def __init__(self, tx: Connection, originals: Originals, state_dir: Path, tell: Tell) -> None:
        self._tx = tx
        self._originals = originals
        self._state_dir = state_dir
        self._tell = tell
        self._rows = self._blobs = 0

    def head(self, head: Head) -> None:
        """Makes the tables as the backup has them."""
        shape.upgrade(self._tx, head.schema_revision)

    def rows(self, table: TableForm, lines: list[bytes]) -> None:
        """Puts them in."""
        rows.insert_lines(self._tx, table, lines)
        self._rows += len(lines)
        self._tell("rows", self._rows)

    def blob(self, sha256: str, body: BinaryIO) -> None:
        """Keeps it under the checksum that it has."""
        self._originals.put(body)
        self._blobs += 1
        if self._blobs % 100 == 0:
            self._tell("originals", self._blobs)

    def profile(self, body: bytes) -> None:
        """Lays it beside its place."""
        marks.lay_aside(self._state_dir, body)


def restore(file: Path, catalog_url: str, originals: Originals, state_dir: Path, now: datetime, tell: Tell) -> Restored:
    """Put the backup in the place of whatever is there. The caller sees to it that this may be done, and is alone.

    A failure or a kill leaves the catalog as it was; originals that were put already are named by nothing then, and go
    with the next sweep. Raises RagstoneError.
    """
    catalog = Catalog(catalog_url)
    try:
        into = _into_file if catalog.file is not None else _into_server
        return into(catalog, file, originals, state_dir, now, tell)
    finally:
        catalog.close()


def _into_file(
    catalog: Catalog, file: Path, originals: Originals, state_dir: Path, now: datetime, tell: Tell
) -> Restored:
    """A new SQLite file beside the old one, which it replaces in one step."""
    assert catalog.file is not None
    place = catalog.file
    beside = place.with_name(f"{place.name}{marks.BESIDE}")
    with marks.Note(state_dir, file) as note:
        marks.forget_beside(beside)
        os.close(os.open(beside, os.O_CREAT | os.O_WRONLY, 0o600))
        note.say(beside=beside)
        fresh = Catalog(f"sqlite:///{beside}")
        try:
            with fresh.write() as tx:
                head, manifest, vectors = _fill(tx, file, originals, state_dir, now, tell)
            if not fresh.settle(0):
                raise RagstoneError(ErrorCode.INTERNAL, f"{beside} is in use; nothing was changed")
        finally:
            fresh.close()
        _synced(beside)
        shutil.rmtree(state_dir / BM25, ignore_errors=True)
        for ending in ("-wal", "-shm"):
            # Of the former file: they would be taken for the new one's.
            Path(f"{place}{ending}").unlink(missing_ok=True)
        os.replace(beside, place)
        _synced(place.parent)
        return Restored(head, manifest, vectors, marks.finish(state_dir))


def _into_server(
    catalog: Catalog, file: Path, originals: Originals, state_dir: Path, now: datetime, tell: Tell
) -> Restored:
    """One transaction of PostgreSQL."""
    with marks.Note(state_dir, file) as note:
        with catalog.write() as tx:
            catalog.lock_shape(tx)
            tx.execute(text(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'"))
            note.say(transaction=str(tx.execute(text("SELECT CAST(pg_current_xact_id() AS text)")).scalar_one()))
            _clear(tx)
            head, manifest, vectors = _fill(tx, file, originals, state_dir, now, tell)
            shutil.rmtree(state_dir / BM25, ignore_errors=True)
        return Restored(head, manifest, vectors, marks.finish(state_dir))


def _clear(tx: Connection) -> None:
    """Take our tables out, and no others."""
    if shape.revision_of(tx) is None:
        return
    shape.upgrade(tx, "head")
    measuring.golden.metadata.drop_all(tx)
    tx.execute(text("DROP TABLE alembic_version"))


def _fill(
    tx: Connection, file: Path, originals: Originals, state_dir: Path, now: datetime, tell: Tell
) -> tuple[Head, Manifest, int]:
    head, manifest = walk(file, _Loader(tx, originals, state_dir, tell))
    if head.schema_revision != shape.newest():
        shape.upgrade(tx, "head")
    return head, manifest, waken(tx, now)


def _synced(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
