"""A note in the state folder while a restore is under way, so that what became of a killed one can be told."""

import fcntl
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import Field, ValidationError
from sqlalchemy import text

from services.shared.catalog.backup.form import PROFILE
from services.shared.catalog.engine import Catalog
from services.shared.contracts.base import Record
from services.shared.contracts.errors import ErrorCode, RagstoneError

NOTE = "restoring.json"
BESIDE = ".restoring"
"""Ends the names of what is not in its place yet."""


class Mark(Record):
    """Which restore is under way."""

    file: str
    began_at: datetime
    beside: str | None = Field(description="The SQLite file that becomes the catalog in one step at the end")
    transaction: str | None = Field(description="Of PostgreSQL, which knows what became of it")


@dataclass(frozen=True)
class BrokenOff:
    """A restore that was killed, and what has become of it by now."""

    file: str
    began_at: datetime
    whole: bool
    profile: Path | None

    @property
    def sentence(self) -> str:
        """What became of it, for a person."""
        begun = f"A restore of {self.file}, begun {self.began_at:%Y-%m-%d %H:%M} UTC, was killed"
        if self.whole:
            return f"{begun} when the catalog was whole already; what it had left to do is done now."
        return f"{begun} before its end: nothing of it counts, and the catalog is as it was. Run it again."


class Note:
    """Stands, locked, while its block runs. When the block fails in an orderly way, nothing is left of the restore.

    Raises RagstoneError (busy) when another one is under way.
    """

    def __init__(self, state_dir: Path, file: Path) -> None:
        self._state_dir = state_dir
        self._file = file
        self._beside: Path | None = None
        self._handle = -1

    def __enter__(self) -> Self:
        self._handle = os.open(self._state_dir / NOTE, os.O_RDWR | os.O_CREAT, 0o600)
        if not _locked(self._handle):
            os.close(self._handle)
            raise RagstoneError(ErrorCode.BUSY, f"another restore into {self._state_dir} is under way; wait for it")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            forget(self._state_dir, self._beside)
        os.close(self._handle)

    def say(self, *, beside: Path | None = None, transaction: str | None = None) -> None:
        """From now on something is at work."""
        self._beside = beside
        mark = Mark(
            file=str(self._file),
            began_at=datetime.now(UTC),
            beside=None if beside is None else str(beside.absolute()),
            transaction=transaction,
        )
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, mark.model_dump_json().encode(), 0)
        os.fsync(self._handle)


def lay_aside(state_dir: Path, profile: bytes) -> None:
    """The profile, beside its place until the catalog is in its own."""
    (state_dir / f"{PROFILE}{BESIDE}").write_bytes(profile)


def finish(state_dir: Path) -> Path | None:
    """The catalog is in its place: so is the profile now, and the note goes. Where the profile lies, if any."""
    beside, place = state_dir / f"{PROFILE}{BESIDE}", state_dir / PROFILE
    found = beside.exists()
    if found:
        os.replace(beside, place)
    (state_dir / NOTE).unlink(missing_ok=True)
    return place if found else None


def forget(state_dir: Path, beside: Path | None) -> None:
    """Nothing became of it: what lies beside its place goes, and the note last."""
    if beside is not None:
        forget_beside(beside)
    (state_dir / f"{PROFILE}{BESIDE}").unlink(missing_ok=True)
    (state_dir / NOTE).unlink(missing_ok=True)


def forget_beside(beside: Path) -> None:
    """Remove an SQLite file that was to become the catalog, with what SQLite keeps beside it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        Path(f"{beside}{ending}").unlink(missing_ok=True)


def pending(state_dir: Path) -> bool:
    """Is a restore under way, or was one killed?"""
    return (state_dir / NOTE).exists()


def settle(state_dir: Path, catalog_url: str) -> BrokenOff | None:
    """Bring a restore that was killed to its end, one way or the other; None when there is none, or it is under way.

    Raises RagstoneError (catalog_unavailable) when PostgreSQL is to be asked and does not answer.
    """
    try:
        handle = os.open(state_dir / NOTE, os.O_RDWR)
    except OSError:
        return None
    try:
        if not _locked(handle):
            return None
        return _settled(state_dir, catalog_url, (state_dir / NOTE).read_bytes())
    finally:
        os.close(handle)


def _settled(state_dir: Path, catalog_url: str, said: bytes) -> BrokenOff | None:
    try:
        mark = Mark.model_validate_json(said)
    except ValidationError:
        # Killed before anything was at work.
        forget(state_dir, None)
        return None
    beside = None if mark.beside is None else Path(mark.beside)
    whole = not beside.exists() if beside is not None else _committed(catalog_url, mark.transaction)
    profile = finish(state_dir) if whole else None
    if not whole:
        forget(state_dir, beside)
    return BrokenOff(mark.file, mark.began_at, whole, profile)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _committed(catalog_url: str, transaction: str | None) -> bool:
    catalog = Catalog(catalog_url)
    try:
        with catalog.read() as tx:
            asked = text("SELECT pg_xact_status(CAST(CAST(:id AS text) AS xid8))")
            return bool(tx.execute(asked, {"id": transaction}).scalar() == "committed")
    finally:
        catalog.close()
