"""Writing a backup, while the system runs and writes: one moment of the catalog, then the originals that it names."""

import gzip
import hashlib
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import IO, Any, BinaryIO, Protocol

from sqlalchemy import Connection, Table, func, select

from services.shared.catalog import shape
from services.shared.catalog.backup import rows
from services.shared.catalog.backup.form import (
    BLOBS,
    FORMAT,
    HEAD,
    MANIFEST,
    NAMED,
    PROFILE,
    EmbedderInUse,
    Head,
    Manifest,
    Member,
    rows_member,
)
from services.shared.catalog.blob_use import named_blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import PIPELINE_VERSION
from services.shared.contracts.jobs import JobState
from services.shared.kit.version import product_version

COMPRESSION = 3
"""Of gzip: most of what 9 saves on text, several times as quick; PDF and Office files are compressed already."""
IN_MEMORY_BYTES = 4_000_000
PIECE_BYTES = 1 << 20

Tell = Callable[[str, int], None]
"""Hears how far it is: of what, and how many of it."""


class Originals(Protocol):
    """Where the original bytes come from."""

    def open(self, sha256: str) -> BinaryIO:
        """Raises RagstoneError (version_not_found) when they are gone."""
        ...


@dataclass
class _Written:
    """What is in the file so far."""

    members: list[Member] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    blobs: int = 0
    blob_bytes: int = 0
    blob_names: Any = field(default_factory=hashlib.sha256)
    left_out: int = 0
    left_out_some: list[str] = field(default_factory=list)


class _Archive:
    """A tar that is written from front to back."""

    def __init__(self, tar: tarfile.TarFile, made_at: datetime) -> None:
        self._tar = tar
        self._mtime = int(made_at.timestamp())
        self.written = _Written()

    def put(self, name: str, body: bytes) -> None:
        """A member that the manifest names."""
        digest = hashlib.sha256(body).hexdigest()
        self.written.members.append(Member(name=name, bytes=len(body), sha256=digest))
        self.add(name, BytesIO(body), len(body))

    def blob(self, sha256: str, body: IO[bytes], size: int) -> None:
        """An original."""
        self.written.blobs += 1
        self.written.blob_bytes += size
        self.written.blob_names.update(f"{sha256}\n".encode())
        self.add(f"{BLOBS}{sha256}", body, size)

    def add(self, name: str, body: IO[bytes], size: int) -> None:
        """A member that nothing names."""
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = size, self._mtime, 0o600
        self._tar.addfile(info, body)
        # It remembers every member otherwise.
        self._tar.members.clear()  # type: ignore[attr-defined]


def write(
    out: BinaryIO, catalog: Catalog, originals: Originals, profile: bytes | None, now: datetime, tell: Tell
) -> tuple[Head, Manifest]:
    """Write a backup of this moment.

    Originals are read after the catalog, whose moment would else be kept open for as long as that takes: one that is
    deleted meanwhile is left out and counted. Raises RagstoneError; what was written so far is of no use then.
    """
    catalog.refuse_newer()
    with (
        gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=COMPRESSION, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        TemporaryFile() as needed,
    ):
        archive = _Archive(tar, now)
        with catalog.read() as tx:
            head, counts = _catalog(tx, archive, catalog, now, tell)
            for sha256, must in _needed(tx):
                needed.write(f"{sha256} {int(must)}\n".encode())
        needed.seek(0)
        _originals(archive, originals, needed, tell)
        if profile is not None:
            archive.put(PROFILE, profile)
        written = archive.written
        manifest = Manifest(
            members=written.members,
            rows=written.rows,
            blobs=written.blobs,
            blob_bytes=written.blob_bytes,
            blob_names=written.blob_names.hexdigest(),
            left_out=written.left_out,
            left_out_some=written.left_out_some,
            **counts,
        )
        body = manifest.model_dump_json().encode()
        archive.add(MANIFEST, BytesIO(body), len(body))
    return head, manifest


def _catalog(
    tx: Connection, archive: _Archive, catalog: Catalog, now: datetime, tell: Tell
) -> tuple[Head, dict[str, int]]:
    revision = shape.revision_of(tx)
    if revision is None:
        detail = f"there is no catalog in {catalog.name} yet, and so nothing to back up"
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    tables = rows.tables_of(tx)
    named = {table.name: table for table in tables}
    head = Head(
        format=FORMAT,
        ragstone=product_version(),
        made_at=now,
        database=tx.dialect.name,
        schema_revision=revision,
        pipeline=PIPELINE_VERSION,
        tables=[rows.form_of(table) for table in tables],
        embedders=_embedders(tx, named),
    )
    archive.put(HEAD, head.model_dump_json(indent=2).encode())
    for table in tables:
        archive.written.rows[table.name] = _rows(tx, archive, table, tell)
    documents = named["documents"].c
    live = select(func.count()).where(documents.live_version_id.is_not(None))
    counts = {name: archive.written.rows[name] for name in ("spaces", "chunks")}
    return head, counts | {"documents": tx.execute(live).scalar_one()}


def _rows(tx: Connection, archive: _Archive, table: Table, tell: Tell) -> int:
    """All rows of a table, in parts of a few megabytes; how many there are."""
    number = parts = 0
    part = bytearray()
    for line in rows.lines(tx, table):
        part += line
        number += 1
        if len(part) >= rows.PART_BYTES:
            parts += 1
            archive.put(rows_member(table.name, parts), bytes(part))
            part.clear()
            tell(f"rows of {table.name}", number)
    if part:
        archive.put(rows_member(table.name, parts + 1), bytes(part))
    return number


def _embedders(tx: Connection, named: dict[str, Table]) -> list[EmbedderInUse]:
    if "indexes" not in named:
        return []
    return [
        EmbedderInUse(
            space=row.space_id,
            index=row.id,
            state=row.state,
            name=row.embedder["name"],
            revision=row.embedder.get("revision"),
            dimension=row.embedder.get("dimension"),
        )
        for row in tx.execute(select(named["indexes"]).order_by("space_id", "id"))
    ]


def _needed(tx: Connection) -> Iterator[tuple[str, bool]]:
    """Originals of all versions, each once, and those of jobs that may go on; is it a loss when it is not there?"""
    named = {table.name: table for table in rows.tables_of(tx)}
    v, j = named["versions"].c, named["jobs"].c
    streamed = tx.execution_options(yield_per=rows.USUALLY_AT_ONCE)
    for sha256 in streamed.execute(select(v.blob_sha256).distinct().order_by(v.blob_sha256)).scalars():
        yield sha256, True
    also: set[str] = set()
    for state, payload in streamed.execute(select(j.state, j.payload).where(j.state != JobState.SUCCEEDED)):
        for sha256 in set(named_blobs(payload)) - also:
            also.add(sha256)
            if tx.execute(select(v.id).where(v.blob_sha256 == sha256).limit(1)).first() is None:
                yield sha256, state in (JobState.QUEUED, JobState.RUNNING)


def _originals(archive: _Archive, originals: Originals, needed: IO[bytes], tell: Tell) -> None:
    for n, line in enumerate(needed, start=1):
        sha256, must = line.decode().split()
        with SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as whole:
            size = _fetched(originals, sha256, whole)
            if size is not None:
                whole.seek(0)
                archive.blob(sha256, whole, size)
            elif must == "1":
                archive.written.left_out += 1
                if len(archive.written.left_out_some) < NAMED:
                    archive.written.left_out_some.append(sha256)
        if n % 100 == 0:
            tell("originals", n)


def _fetched(originals: Originals, sha256: str, whole: IO[bytes]) -> int | None:
    """Read an original, and see that it is what its name says; its size, None when it is gone or damaged."""
    digest, size = hashlib.sha256(), 0
    try:
        with originals.open(sha256) as source:
            while piece := source.read(PIECE_BYTES):
                digest.update(piece)
                size += len(piece)
                whole.write(piece)
    except RagstoneError as error:
        if error.code is ErrorCode.VERSION_NOT_FOUND:
            return None
        raise
    return size if digest.hexdigest() == sha256 else None


def described(head: Head, manifest: Manifest) -> dict[str, Any]:
    """Both for programs, without the lists of tables and members."""
    return head.model_dump(mode="json", exclude={"tables"}) | manifest.model_dump(mode="json", exclude={"members"})
