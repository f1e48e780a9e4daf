"""What a restore meets: a catalog that holds something, and processes that use it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from sqlalchemy import Connection, Table, func, select, text

from services.shared.catalog import shape
from services.shared.catalog.backup import rows
from services.shared.catalog.backup.form import Head, TableForm, several
from services.shared.catalog.engine import APPLICATION, Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError

LOOK_S = 2.0
"""So long the lock of somebody who only passes by is waited for."""
SHOWN = 5

_COUNTED = {
    "golden": ("golden question", "golden questions"),
    "feedback": ("verdict on an answer", "verdicts on answers"),
    "gaps": ("question without an answer", "questions without an answer"),
    "evaluations": ("evaluation", "evaluations"),
    "api_keys": ("API key", "API keys"),
}


@dataclass(frozen=True)
class Standing:
    """What is there, and would be lost."""

    fault: str | None = None
    """Why it cannot be read, if it cannot."""
    spaces: list[str] = field(default_factory=list)
    documents: int = 0
    others: dict[str, int] = field(default_factory=dict)
    deleted: frozenset[tuple[str, str]] = frozenset()
    """Documents that were deleted, by space and id: a backup may hold them still."""

    @property
    def sentence(self) -> str:
        """What it is, for a person."""
        if self.fault is not None:
            return f"a catalog that cannot be read ({self.fault})"
        spaces = ", ".join(self.spaces[:SHOWN]) + (", …" if len(self.spaces) > SHOWN else "")
        parts = [f"{several(self.documents, 'document')} in {several(len(self.spaces), 'space')} ({spaces})"]
        parts += [several(number, *_COUNTED[name]) for name, number in self.others.items() if number]
        return ", ".join(parts)


def standing(catalog_url: str) -> Standing | None:
    """What the catalog holds; None when there is none, or it is empty. Makes nothing.

    Raises RagstoneError (catalog_newer, catalog_unavailable).
    """
    catalog = Catalog(catalog_url)
    try:
        if catalog.file is not None and not catalog.file.exists():
            return None
        catalog.refuse_newer()
        with catalog.read() as tx:
            return None if shape.revision_of(tx) is None else _read(tx)
    except RagstoneError as error:
        fault = getattr(error.__cause__, "orig", None)
        # What SQLite calls operational is a lock, or a disk: neither says that the file is of no use.
        if isinstance(fault, sqlite3.DatabaseError) and not isinstance(fault, sqlite3.OperationalError):
            return Standing(fault=str(fault))
        raise
    finally:
        catalog.close()


def _read(tx: Connection) -> Standing | None:
    named = {table.name: table for table in rows.tables_of(tx)}
    spaces = list(tx.execute(select(named["spaces"].c.id).order_by("id")).scalars())
    others = {name: _count(tx, named[name]) for name in _COUNTED if name in named}
    if not spaces and not any(others.values()):
        return None
    d = named["documents"].c
    live = select(func.count()).where(d.live_version_id.is_not(None))
    gone = select(d.space_id, d.id).where(d.deleted_revision > 0, d.live_version_id.is_(None))
    deleted = frozenset((row.space_id, row.id) for row in tx.execute(gone))
    return Standing(None, spaces, tx.execute(live).scalar_one(), others, deleted)


def _count(tx: Connection, table: Table) -> int:
    return tx.execute(select(func.count()).select_from(rows.kept(table).subquery())).scalar_one()


@contextmanager
def alone(catalog_url: str, *, readable: bool) -> Iterator[None]:
    """Nobody else uses the catalog, and in an SQLite file nobody can begin to.

    Raises RagstoneError (busy) when somebody does.
    """
    catalog = Catalog(catalog_url)
    try:
        file = catalog.file
        if file is None:
            _alone_on_server(catalog)
    finally:
        catalog.close()
    if file is None or not readable or not file.exists():
        yield
        return
    with closing(sqlite3.connect(file, timeout=LOOK_S, isolation_level=None)) as connection:
        try:
            # Leaving WAL takes that no other connection is open, even one that is idle.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise _in_use(f"{file} is in use ({error})") from error
        yield


def _alone_on_server(catalog: Catalog) -> None:
    query = text(
        "SELECT count(*), min(host(client_addr)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = :name"
    )
    with catalog.read() as tx:
        number, address = tx.execute(query, {"name": APPLICATION}).one()
    if number:
        raise _in_use(f"{catalog.name} is in use by {number} connections of Ragstone (one from {address or 'here'})")


def _in_use(what: str) -> RagstoneError:
    detail = f"{what}: stop everything that runs on it (`ragstone down`, or the containers but for the stores) first"
    return RagstoneError(ErrorCode.BUSY, detail)


class Returning:
    """Looks for documents that were deleted here and that the backup brings back."""

    def __init__(self, deleted: frozenset[tuple[str, str]]) -> None:
        self._deleted = deleted
        self.found: list[str] = []

    def head(self, head: Head) -> None:
        """Goes on."""

    def rows(self, table: TableForm, lines: list[bytes]) -> None:
        """Looks through the documents."""
        import json

        if table.name != "documents" or not self._deleted:
            return
        place = {column.name: n for n, column in enumerate(table.columns)}
        for line in lines:
            row = json.loads(line)
            key = (row[place["space_id"]], row[place["id"]])
            if row[place["live_version_id"]] is not None and key in self._deleted:
                self.found.append(key[1])

    def blob(self, sha256: str, body: BinaryIO) -> None:
        """Goes on."""

    def profile(self, body: bytes) -> None:
        """Goes on."""
