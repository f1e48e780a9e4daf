"""Reading a backup from front to back, every checksum compared. Nothing of it is believed before its end was seen."""

import gzip
import hashlib
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Protocol, TypeVar, cast

from pydantic import ValidationError

from services.shared.catalog import shape
from services.shared.catalog.backup.form import (
    BLOBS,
    FORMAT,
    HEAD,
    MANIFEST,
    PROFILE,
    Head,
    Manifest,
    Member,
    TableForm,
    damaged,
    rows_member,
)
from services.shared.contracts.errors import ErrorCode, RagstoneError

PIECE_BYTES = 1 << 20
MOST_BYTES = 1 << 31
"""Of one member that is read whole; a document's row is far smaller."""

M = TypeVar("M", Head, Manifest)

_BLOB = re.compile(rf"{BLOBS}[0-9a-f]{{64}}")


class Sink(Protocol):
    """Takes what is read. All of it may turn out to be of no use at the very end."""

    def head(self, head: Head) -> None:
        """What the file is. Comes first."""
        ...

    def rows(self, table: TableForm, lines: list[bytes]) -> None:
        """Some rows of a table."""
        ...

    def blob(self, sha256: str, body: BinaryIO) -> None:
        """An original; what is not read of it is skipped."""
        ...

    def profile(self, body: bytes) -> None:
        """The profile."""
        ...


class Nowhere:
    """Takes nothing: the file is only checked."""

    def head(self, head: Head) -> None:
        """Goes on."""

    def rows(self, table: TableForm, lines: list[bytes]) -> None:
        """Goes on."""

    def blob(self, sha256: str, body: BinaryIO) -> None:
        """Goes on."""

    def profile(self, body: bytes) -> None:
        """Goes on."""


class _Place:
    """Where in the file the reading is."""

    words = "at its beginning"


class _Measured:
    """A member's bytes on their way past, counted and hashed."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self.digest = hashlib.sha256()
        self.size = 0

    def read(self, size: int = -1) -> bytes:
        piece = self._source.read(size)
        self.digest.update(piece)
        self.size += len(piece)
        return piece

    def rest(self) -> None:
        while self.read(PIECE_BYTES):
            pass


def walk(file: Path, sink: Sink) -> tuple[Head, Manifest]:
    """Read all of it, and hand it on piece by piece.

    Raises RagstoneError (backup_damaged, catalog_newer, invalid_request), and what the sink does.
    """
    place = _Place()
    with _opened(file, place) as tar:
        reading = _Reading(file, place, sink)
        while (info := tar.next()) is not None:
            # It remembers every member otherwise.
            tar.members.clear()  # type: ignore[attr-defined]
            if not info.isreg():
                raise damaged(file, f"{info.name!r} is no plain member")
            place.words = f"in {info.name}"
            body = tar.extractfile(info)
            assert body is not None
            reading.member(info.name, info.size, body)
            place.words = f"after {info.name}"
        head, manifest = reading.end()
    return head, manifest


@contextmanager
def _opened(file: Path, place: _Place) -> Iterator[tarfile.TarFile]:
    """Faults of the file and of its packing in our words; those of the sink pass."""
    try:
        with file.open("rb") as raw, gzip.GzipFile(fileobj=raw) as plain:
            with tarfile.open(fileobj=plain, mode="r|") as tar:
                yield tar
            # Its checksum comes after the last member.
            while plain.read(PIECE_BYTES):
                pass
    except EOFError as error:
        raise damaged(file, f"it is cut off {place.words}") from error
    except (gzip.BadGzipFile, zlib.error, tarfile.TarError) as error:
        if place.words == _Place.words:
            raise damaged(file, f"it is none of Ragstone's, or its beginning is lost ({error})") from error
        raise damaged(file, f"it cannot be unpacked {place.words} ({error})") from error
    except OSError as error:
        detail = f"{file} cannot be read: {error.strerror or error}"
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail) from error


class _Reading:
    """The members so far, and what has to come next."""

    def __init__(self, file: Path, place: _Place, sink: Sink) -> None:
        self._file = file
        self._place = place
        self._sink = sink
        self._head: Head | None = None
        self._manifest: Manifest | None = None
        self._tables: dict[str, TableForm] = {}
        self._members: list[Member] = []
        self._rows: dict[str, int] = {}
        self._blobs = 0
        self._blob_bytes = 0
        self._blob_names = hashlib.sha256()

    def member(self, name: str, size: int, body: IO[bytes]) -> None:
        """Read one, whole."""
        if self._manifest is not None:
            raise self._wrong("something follows its end")
        if (self._head is None) != (name == HEAD):
            raise self._wrong(f"it does not begin with {HEAD}" if self._head is None else f"{HEAD} comes again")
        if _BLOB.fullmatch(name):
            self._blob(name.removeprefix(BLOBS), _Measured(body))
            return
        if size > MOST_BYTES:
            raise self._wrong(f"{name} is larger than any that was ever written")
        whole = body.read()
        if name == MANIFEST:
            self._manifest = self._parsed(Manifest, whole)
            return
        self._members.append(Member(name=name, bytes=len(whole), sha256=hashlib.sha256(whole).hexdigest()))
        if name == HEAD:
            self._begin(whole)
        elif name == PROFILE:
            self._sink.profile(whole)
        else:
            self._part(name, whole)

    def end(self) -> tuple[Head, Manifest]:
        """Compare what was read with what was written."""
        if self._head is None or self._manifest is None:
            raise self._wrong(f"it is cut off: {MANIFEST}, its last member, is not there")
        told = self._manifest
        for mine, theirs in zip(self._members, told.members, strict=False):
            if mine != theirs:
                raise self._wrong(f"{mine.name} is not what was written")
        if len(self._members) != len(told.members) or self._rows != told.rows:
            raise self._wrong("rows of the catalog are missing or too many")
        blobs = (self._blobs, self._blob_bytes, self._blob_names.hexdigest())
        if blobs != (told.blobs, told.blob_bytes, told.blob_names):
            raise self._wrong("originals are missing or too many")
        return self._head, told

    def _begin(self, body: bytes) -> None:
        head = self._parsed(Head, body)
        what = f"the backup {self._file} (made by ragstone {head.ragstone})"
        shape.refuse_newer(head.schema_revision, what)
        if head.format > FORMAT:
            detail = (
                f"{what} has format {head.format}; this program knows up to {FORMAT}: install that release or a later"
            )
            raise RagstoneError(ErrorCode.CATALOG_NEWER, detail)
        self._head = head
        self._tables = {table.name: table for table in head.tables}
        self._rows = dict.fromkeys(self._tables, 0)
        self._sink.head(head)

    def _part(self, name: str, body: bytes) -> None:
        parts = name.split("/")
        table = self._tables.get(parts[1]) if len(parts) == 3 else None
        number = parts[-1].removesuffix(".ndjson")
        if table is None or not number.isdecimal() or name != rows_member(table.name, int(number)):
            raise self._wrong(f"nothing is known of a member {name[:80]!r}")
        lines = body.splitlines()
        self._rows[table.name] += len(lines)
        try:
            self._sink.rows(table, lines)
        except ValueError as error:
            raise self._wrong(f"{name} holds what is no row of {table.name}") from error

    def _blob(self, sha256: str, body: _Measured) -> None:
        self._sink.blob(sha256, cast(BinaryIO, body))
        body.rest()
        if body.digest.hexdigest() != sha256:
            raise self._wrong(f"{BLOBS}{sha256} is not what was written")
        self._blobs += 1
        self._blob_bytes += body.size
        self._blob_names.update(f"{sha256}\n".encode())

    def _parsed(self, form: type[M], body: bytes) -> M:
        try:
            return form.model_validate_json(body)
        except ValidationError as error:
            raise self._wrong(f"what stands {self._place.words} cannot be understood") from error

    def _wrong(self, what: str) -> RagstoneError:
        return damaged(self._file, what)
