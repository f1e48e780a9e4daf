"""The door to the database: connections, transactions, migrations, and its errors in our words."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, exc, make_url, text

from services.shared.catalog import shape
from services.shared.contracts.errors import ErrorCode, RagstoneError

BUSY_TIMEOUT_S = 30
"""How long a writer waits for the other writer of an SQLite file."""

CONNECT_TIMEOUT_S = 10
RETRY_AFTER_S = 2
APPLICATION = "ragstone"
"""What PostgreSQL calls our connections."""

MIGRATION_TIMEOUT_S = 900
"""How long a process waits for the one that migrates, which copies a large file first."""

_MIGRATION_LOCK = 0x52414753544F4E45
"""Key of PostgreSQL's advisory lock: "RAGSTONE" in ASCII."""

_one_migration = threading.Lock()
"""Alembic keeps its context in module globals, so two threads of one process take turns."""


class Catalog:
    """One catalog database. Threads may share it, and so may a process and the children it forks."""

    def __init__(self, url: str) -> None:
        self._url = _parsed(url)
        self._sqlite = self._url.get_backend_name() == "sqlite"
        self._pid = os.getpid()
        self._engine = _sqlite_engine(self._url) if self._sqlite else _postgresql_engine(self._url)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A read-only transaction that sees one moment of the catalog, whatever others write meanwhile."""
        with self._mapped_errors(), self._connected() as connection:
            if self._sqlite:
                connection = connection.execution_options(ragstone_begin="BEGIN")
                with connection.begin():
                    connection.exec_driver_sql("PRAGMA query_only = 1")
                    try:
                        yield connection
                    finally:
                        connection.exec_driver_sql("PRAGMA query_only = 0")
            else:
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
                with connection.begin():
                    yield connection

    @contextmanager
    def write(self, *, patience_s: float = BUSY_TIMEOUT_S) -> Iterator[Connection]:
        """A transaction that commits when the block ends and rolls back when it raises.

        ``patience_s`` is how long another writer of an SQLite file is waited for.
        """
        with self._mapped_errors(), self._connected() as connection, self._patient(connection, patience_s):
            if self._sqlite:
                # Taking the write lock at once: a transaction that reads first and writes later could
                # find that another one wrote in between, and would have to be run again.
                connection = connection.execution_options(ragstone_begin="BEGIN IMMEDIATE")
            with connection.begin():
                yield connection

    @property
    def file(self) -> Path | None:
        """The SQLite file; None for PostgreSQL."""
        return Path(str(self._url.database)) if self._sqlite else None

    @property
    def name(self) -> str:
        """What it is called in sentences, without a password."""
        return str(self._url.database) if self._sqlite else self._url.render_as_string(hide_password=True)

    def revision(self) -> str | None:
        """The last migration that was run; None where no tables were made. Raises RagstoneError."""
        with self.read() as connection:
            return shape.revision_of(connection)

    def refuse_newer(self) -> None:
        """Raises RagstoneError (catalog_newer) when a later release made it, or (catalog_unavailable)."""
        shape.refuse_newer(self.revision(), f"the catalog {self.name}")

    def migrate(self) -> None:
        """Brings the tables to this release's shape; processes that start together wait for the first.

        Tables that are in this shape are left alone without even loading Alembic: most starts find them so. Of an
        SQLite file a copy is kept beside it. Raises RagstoneError (catalog_newer, catalog_unavailable).
        """
        if self._in_shape(self.revision()):
            return
        with _one_migration, self.write(patience_s=MIGRATION_TIMEOUT_S) as connection:
            self.lock_shape(connection)
            found = shape.revision_of(connection)
            if self._in_shape(found):
                return
            if self.file is not None and found is not None:
                shape.keep_copy(self.file)
            shape.upgrade(connection, "head")

    def lock_shape(self, tx: Connection) -> None:
        """Nobody else migrates until the transaction ends; in an SQLite file nobody else writes anyway."""
        if not self._sqlite:
            tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})

    def check(self) -> None:
        """Raises CATALOG_UNAVAILABLE, with what to do, when the catalog cannot answer."""
        with self.read() as connection:
            connection.exec_driver_sql("SELECT seq FROM spaces LIMIT 1")

    def settle(self, patience_s: float) -> bool:
        """Leaves nothing of what was deleted in SQLite's write-ahead log, which keeps pages as they once were.

        False when a long reader needed them for longer than ``patience_s``: try again later. PostgreSQL's vacuum
        frees the space of what was deleted by itself, and it is overwritten as it is used again.
        """
        if not self._sqlite:
            return True
        import sqlite3

        with self._mapped_errors(), self._connected() as connection, self._patient(connection, patience_s) as raw:
            try:
                return bool(raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
            except sqlite3.OperationalError:
                return False

    def close(self) -> None:
        """Gives every connection back to the database."""
        self._engine.dispose()

    def _in_shape(self, revision: str | None) -> bool:
        """Is this the shape that this release works with? Raises RagstoneError (catalog_newer) for a later one."""
        shape.refuse_newer(revision, f"the catalog {self.name}")
        return revision == shape.newest()

    @contextmanager
    def _patient(self, connection: Connection, patience_s: float) -> Iterator[Any]:
        """The driver's own connection, past SQLAlchemy, which would begin a transaction: none is open on it yet."""
        raw: Any = connection.connection.driver_connection
        if not self._sqlite or patience_s == BUSY_TIMEOUT_S:
            yield raw
            return
        raw.execute(f"PRAGMA busy_timeout = {round(patience_s * 1000)}")
        try:
            yield raw
        finally:
            raw.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_S * 1000}")

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        if self._pid != os.getpid():
            # A forked child must not speak through its parent's connections, nor close them.
            self._engine.dispose(close=False)
            self._pid = os.getpid()
        with self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _mapped_errors(self) -> Iterator[None]:
        try:
            yield
        except (exc.DBAPIError, exc.TimeoutError) as error:
            raise self._mapped(error) from error

    def _mapped(self, error: exc.DBAPIError | exc.TimeoutError) -> RagstoneError:
        name = self.name
        why = " ".join(str(getattr(error, "orig", None) or error).split())[:300]
        if isinstance(error, exc.DataError):
            return RagstoneError(ErrorCode.INVALID_REQUEST, f"the catalog cannot store a value that was sent: {why}")
        if isinstance(error, exc.IntegrityError):
            return RagstoneError(ErrorCode.INTERNAL, f"catalog {name}: two writers disagree: {why}; try again")
        missing_table = "no such table" in why or ("relation" in why and "does not exist" in why)
        if missing_table:
            todo = "its tables were never made: start the gateway or run the migration once"
        elif self._sqlite:
            todo = "check that the file can be written, the disk has space and no other program holds it"
        else:
            todo = "check that PostgreSQL runs and DATABASE_URL names it"
        return RagstoneError(
            ErrorCode.CATALOG_UNAVAILABLE, f"catalog {name} does not answer: {why}; {todo}", retry_after_s=RETRY_AFTER_S
        )


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except exc.ArgumentError as error:
        raise _unusable("it is not a database URL") from error
    backend = parsed.get_backend_name()
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and parsed.database and parsed.database != ":memory:":
        return parsed.set(drivername="sqlite+pysqlite")
    raise _unusable(f"{parsed.drivername!r} with database {parsed.database!r} is not supported")


def _unusable(why: str) -> RagstoneError:
    return RagstoneError(
        ErrorCode.CATALOG_UNAVAILABLE,
        f"the catalog's URL cannot be used: {why}; set sqlite:////folder/catalog.db or postgresql://user@host/name",
    )


def _postgresql_engine(url: URL) -> Engine:
    return create_engine(
        url,
        pool_size=10,
        max_overflow=30,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"connect_timeout": CONNECT_TIMEOUT_S, "application_name": APPLICATION},
    )


def _sqlite_engine(url: URL) -> Engine:
    path = Path(str(url.database))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RagstoneError(
            ErrorCode.CATALOG_UNAVAILABLE,
            f"folder {path.parent} of the catalog cannot be made: {error.strerror}; choose one that can be written",
        ) from error
    # Errors end in logs, and the parameters of a statement are documents.
    connect_args = {"timeout": BUSY_TIMEOUT_S}
    engine = create_engine(url, pool_size=10, max_overflow=50, hide_parameters=True, connect_args=connect_args)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, record: object) -> None:
    # The driver's own idea of when a transaction begins is switched off; "begin" below decides.
    connection.isolation_level = None
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    # What is deleted is overwritten with zeros, and not only taken off the list.
    connection.execute("PRAGMA secure_delete = ON")


def _use_wal(connection: Any) -> None:
    """Switches a new file to WAL; SQLite answers "locked" at once when two processes do so together."""
    import sqlite3

    give_up = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal":
                return
        except sqlite3.OperationalError:
            if time.monotonic() > give_up:
                raise
        time.sleep(0.02)


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("ragstone_begin", "BEGIN"))
