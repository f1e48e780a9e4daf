"""Original bytes: whole or not there, each once, found by hash alone, swept when nothing needs them."""

import hashlib
import io
import os
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from services.shared.catalog.blobs import Blobs
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.catalog.building import at_once

DATA = b"the original bytes"
SHA = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def age(path: Path, seconds: float) -> None:
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_bytes_come_back_by_their_hash(folder: Path) -> None:
    blobs = Blobs(folder)
    assert blobs.put(DATA) == (SHA, len(DATA))
    assert blobs.read(SHA) == DATA
    with blobs.open(SHA) as file:
        assert file.read(3) == b"the"
    assert blobs.path(SHA) == folder / SHA[:2] / SHA[2:4] / SHA


def test_a_stream_larger_than_one_piece(folder: Path) -> None:
    data = os.urandom(3_000_001)
    sha256, size = Blobs(folder).put(io.BytesIO(data))
    assert (sha256, size) == (hashlib.sha256(data).hexdigest(), 3_000_001)
    assert Blobs(folder).read(sha256) == data


def test_the_same_bytes_are_kept_once(folder: Path) -> None:
    blobs = Blobs(folder)
    blobs.put(DATA)
    first = blobs.path(SHA).stat().st_ino
    assert blobs.put(io.BytesIO(DATA)) == (SHA, len(DATA))
    assert blobs.path(SHA).stat().st_ino == first
    assert files(folder) == [blobs.path(SHA)]


def test_many_that_put_the_same_bytes_together(folder: Path) -> None:
    blobs = Blobs(folder)
    data = os.urandom(500_000)
    assert len(set(at_once([lambda: blobs.put(data)] * 6))) == 1
    assert [path.read_bytes() for path in files(folder)] == [data]


def test_a_torn_file_of_the_right_name_is_replaced(folder: Path) -> None:
    blobs = Blobs(folder)
    blobs.put(DATA)
    blobs.path(SHA).write_bytes(DATA[:4])
    blobs.put(DATA)
    assert blobs.read(SHA) == DATA


def test_an_upload_that_breaks_off_leaves_nothing(folder: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            piece = super().read(4)
            if not piece:
                raise ConnectionResetError("the client is gone")
            return piece

    with pytest.raises(RagstoneError):
        Blobs(folder).put(Broken(DATA))
    assert files(folder) == []


def test_a_file_is_never_seen_half_written(folder: Path) -> None:
    blobs = Blobs(folder)
    half, seen = threading.Event(), threading.Event()

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            piece = super().read(8)
            if not piece:
                half.set()
                assert seen.wait(timeout=30)
            return piece

    stream: BinaryIO = Slow(DATA)
    writer = threading.Thread(target=blobs.put, args=(stream,))
    writer.start()
    assert half.wait(timeout=30)
    there = blobs.path(SHA).exists()
    seen.set()
    writer.join(timeout=30)
    assert not there
    assert blobs.read(SHA) == DATA


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "report.pdf", SHA.upper(), SHA + "\n", SHA[:-1], f"/{SHA}"])
def test_only_a_hash_is_ever_part_of_a_path(folder: Path, name: str) -> None:
    blobs = Blobs(folder)
    for ask in (blobs.path, blobs.open, blobs.read, blobs.delete):
        with pytest.raises(RagstoneError) as refused:
            ask(name)
        assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_missing_bytes_are_said_to_be_missing(folder: Path) -> None:
    for ask in (Blobs(folder).read, Blobs(folder).open):
        with pytest.raises(RagstoneError) as missing:
            ask(SHA)
        assert missing.value.code is ErrorCode.VERSION_NOT_FOUND
        assert SHA in missing.value.detail
    Blobs(folder).delete(SHA)


def test_a_sweep_removes_what_is_old_and_unused(folder: Path) -> None:
    blobs = Blobs(folder)
    used, unused, young = (blobs.put(text)[0] for text in (b"used", b"unused", b"young"))
    for sha256 in (used, unused):
        age(blobs.path(sha256), 100)
    torn, arriving = folder / "incoming" / "torn", folder / "incoming" / "arriving"
    for path in (torn, arriving):
        path.write_bytes(b"half")
    age(torn, 100)
    assert blobs.sweep(lambda sha256: sha256 == used, older_than_s=50) == 2
    assert set(files(folder)) == {blobs.path(used), blobs.path(young), arriving}
    assert Blobs(folder / "not there").sweep(lambda sha256: False, older_than_s=0) == 0


def test_bytes_put_again_are_young_again(folder: Path) -> None:
    blobs = Blobs(folder)
    blobs.put(DATA)
    age(blobs.path(SHA), 100)
    blobs.put(DATA)
    assert blobs.sweep(lambda sha256: False, older_than_s=50) == 0


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RagstoneError) as refused:
        Blobs(tmp_path / "file").put(DATA)
    assert refused.value.code is ErrorCode.CATALOG_UNAVAILABLE
    assert str(tmp_path / "file") in refused.value.detail
