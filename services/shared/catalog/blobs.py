"""The original bytes of documents, each kept once in a folder under its own SHA-256.

A file appears whole or not at all, and no name that a client chose is ever part of a path.
"""

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from services.shared.contracts.errors import ErrorCode, RagstoneError

PIECE_BYTES = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """A folder of originals: ``ab/cd/abcd…``; half-written ones lie in ``incoming/``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._incoming = folder / "incoming"

    def put(self, data: bytes | BinaryIO) -> tuple[str, int]:
        """Keeps the bytes; their SHA-256 and size. Bytes that are there already only become young again."""
        with self._mapped_errors("written"):
            self._incoming.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._incoming)
            arriving = Path(name)
            try:
                with os.fdopen(handle, "wb") as out:
                    sha256, size = _copy(BytesIO(data) if isinstance(data, bytes) else data, out)
                    out.flush()
                    os.fsync(out.fileno())
                self._settle(arriving, self.path(sha256), size)
            finally:
                arriving.unlink(missing_ok=True)
        return sha256, size

    def open(self, sha256: str) -> BinaryIO:
        """The bytes as an open file, which the caller closes; VERSION_NOT_FOUND when they are gone."""
        with self._mapped_errors("read"):
            try:
                return self.path(sha256).open("rb")
            except FileNotFoundError as error:
                raise RagstoneError(
                    ErrorCode.VERSION_NOT_FOUND,
                    f"the original file {sha256} is not in the blob folder any more; send the document again",
                ) from error

    def read(self, sha256: str) -> bytes:
        """All the bytes; VERSION_NOT_FOUND when they are gone."""
        with self.open(sha256) as file, self._mapped_errors("read"):
            return file.read()

    def holds(self, sha256: str) -> bool:
        """Are these bytes there?"""
        return self.path(sha256).is_file()

    def path(self, sha256: str) -> Path:
        """Where these bytes lie or would lie; raises INVALID_REQUEST for anything but 64 hex digits."""
        if not _SHA256.fullmatch(sha256):
            raise RagstoneError(ErrorCode.INVALID_REQUEST, f"{sha256[:80]!r} is not a SHA-256 in lower-case hex")
        return self._folder / sha256[:2] / sha256[2:4] / sha256

    def file_of(self, sha256: str) -> Path:
        """The same as ``path``: every original is a file of this machine."""
        return self.path(sha256)

    def check(self) -> None:
        """A folder is made when it is first written to, and a fault is said then."""

    def delete(self, sha256: str) -> None:
        """Removes the bytes; nothing happens when they are not there."""
        with self._mapped_errors("deleted"):
            self.path(sha256).unlink(missing_ok=True)

    def sweep(self, in_use: Callable[[str], bool], older_than_s: float) -> int:
        """Removes files that nothing uses, and uploads that broke off, when put longer ago; how many.

        The age protects bytes that are put while the catalog does not name them yet.
        """
        before = time.time() - older_than_s
        removed = 0
        with self._mapped_errors("swept"):
            for path in [*self._folder.glob("??/??/*"), *self._incoming.glob("*")]:
                blob = _SHA256.fullmatch(path.name) is not None
                if _older(path, before) and not (blob and in_use(path.name)) and _older(path, before):
                    path.unlink(missing_ok=True)
                    removed += 1
        return removed

    def _settle(self, arriving: Path, target: Path, size: int) -> None:
        try:
            os.utime(target)
            if target.stat().st_size == size:
                return
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
        arriving.replace(target)
        _sync_folder(target.parent)

    @contextmanager
    def _mapped_errors(self, done: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RagstoneError(
                ErrorCode.CATALOG_UNAVAILABLE,
                f"blob folder {self._folder} cannot be {done}: {error.strerror or error}; "
                "check its permissions and the free disk space",
            ) from error


def _copy(source: BinaryIO, out: BinaryIO) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := source.read(PIECE_BYTES):
        digest.update(piece)
        size += len(piece)
        out.write(piece)
    return digest.hexdigest(), size


def _older(path: Path, before: float) -> bool:
    try:
        return path.stat().st_mtime < before
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
