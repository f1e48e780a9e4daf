"""What the tests of backups share: write one, read it, change it."""

import gzip
import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from services.shared.catalog.backup import rows, writing
from services.shared.catalog.backup.form import Head, Manifest
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from tests.contract.catalog.building import NOW


def silent(_what: str, _number: int) -> None:
    """Nobody watches."""


def back_up(
    catalog: Catalog, blobs: writing.Originals, file: Path, profile: bytes | None = None
) -> tuple[Head, Manifest]:
    with file.open("wb") as out:
        return writing.write(out, catalog, blobs, profile, NOW, silent)


def content(catalog: Catalog) -> dict[str, list[bytes]]:
    """Every row of every table, in words that no database owns."""
    with catalog.read() as tx:
        return {table.name: list(rows.lines(tx, table)) for table in rows.tables_of(tx)}


def members(file: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(file, "r:gz") as tar:
        for info in tar:
            body = tar.extractfile(info)
            assert body is not None
            yield info.name, body.read()


def changed(file: Path, into: Path, change: Callable[[str, bytes], Iterator[tuple[str, bytes]]]) -> Path:
    """The same with other members, soundly packed."""
    with gzip.open(into, "wb") as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        for name, body in members(file):
            for new_name, new_body in change(name, body):
                info = tarfile.TarInfo(new_name)
                info.size = len(new_body)
                tar.addfile(info, io.BytesIO(new_body))
    return into


class Deleting:
    """Originals of which one is deleted before it is read, as a deletion does it meanwhile."""

    def __init__(self, blobs: Blobs, sha256: str) -> None:
        self._blobs = blobs
        self._sha256 = sha256

    def open(self, sha256: str) -> BinaryIO:
        self._blobs.delete(self._sha256)
        return self._blobs.open(sha256)
