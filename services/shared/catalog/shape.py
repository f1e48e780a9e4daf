"""The shape of a catalog's tables: which migration was the last, which ones this release knows, and how to the next."""

import os
import sqlite3
import time
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, inspect

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.version import product_version

MIGRATIONS = Path(__file__).parent / "migrations"
COPY = ".before-"
"""Between the name of an SQLite catalog and the migration that a copy of it was kept before."""


@cache
def known() -> tuple[str, ...]:
    """Every migration of this release, oldest first. Its number is the beginning of its file's name."""
    return tuple(sorted(path.name.split("_", 1)[0] for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py")))


def newest() -> str:
    """The shape that this release works with."""
    return known()[-1]


def revision_of(tx: Connection) -> str | None:
    """The last migration that was run on this database; None where no tables were made."""
    if not inspect(tx).has_table("alembic_version"):
        return None
    found: str | None = tx.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return found


def refuse_newer(revision: str | None, what: str) -> None:
    """Raises RagstoneError (catalog_newer) for a shape of a later release; ``what`` begins the sentence."""
    if revision is None or revision in known():
        return
    detail = (
        f"{what} is of schema {revision}; this program (ragstone {product_version()}) knows up to {newest()}: "
        "install the release that made it or a newer one, or go back to a backup of this one (docs/upgrades.md)"
    )
    raise RagstoneError(ErrorCode.CATALOG_NEWER, detail)


def upgrade(tx: Connection, to: str) -> None:
    """Run the migrations up to this one, on this connection and inside its transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = tx
    command.upgrade(config, to)


def keep_copy(file: Path) -> Path:
    """Copy an SQLite catalog, as it was last committed, beside it before it is migrated; the owner alone can read it.

    The caller holds the write lock. Raises RagstoneError (catalog_unavailable) when there is no room for it.
    """
    copy = file.with_name(f"{file.name}{COPY}{newest()}")
    fresh = copy.with_name(f"{copy.name}.partial")
    try:
        fresh.unlink(missing_ok=True)
        os.close(os.open(fresh, os.O_CREAT | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(fresh)) as target:
            source.backup(target)
            # One file, also where its pages say that there is a log beside them.
            target.execute("PRAGMA journal_mode = DELETE")
        os.replace(fresh, copy)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            fresh.unlink()
        why = getattr(error, "strerror", None) or error
        detail = f"no copy of {file} could be kept before it is migrated: {why}; make room and start again"
        raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, detail) from error
    return copy


def copies(file: Path) -> list[Path]:
    """The copies that were kept of an SQLite catalog."""
    return sorted(file.parent.glob(f"{file.name}{COPY}*"))


def forget_copies(file: Path, older_than_s: float) -> list[Path]:
    """Remove the copies that were kept longer ago; which ones."""
    before = time.time() - older_than_s
    gone = [copy for copy in copies(file) if copy.stat().st_mtime < before]
    for copy in gone:
        copy.unlink(missing_ok=True)
    return gone
