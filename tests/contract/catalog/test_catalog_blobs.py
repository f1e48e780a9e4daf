"""Original bytes: whole or not there, each once, found by hash alone, swept when nothing needs them.

The same promises of the folder and of a bucket; below, what only one of them can be asked.
"""

import hashlib
import io
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pytest

from services.shared.catalog.blob_store import BlobStore, blob_store
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.bucket_blobs import BucketBlobs
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.settings import StateSettings
from tests.contract.catalog.bucket import BucketServer, bucket_server, use
from tests.contract.catalog.building import at_once

DATA = b"the original bytes"
SHA = hashlib.sha256(DATA).hexdigest()


@dataclass(frozen=True)
class Kept:
    """A store of either kind, and what a test does behind its back."""

    blobs: BlobStore
    reopened: Callable[[], BlobStore]
    names: Callable[[], list[str]]
    """Of everything that lies in it."""
    age: Callable[[str, float], None]
    overwrite: Callable[[str, bytes], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture(scope="module")
def server() -> Iterator[BucketServer]:
    with bucket_server() as running:
        yield running


@pytest.fixture
def bucket(server: BucketServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty bucket of this test's own."""
    use(monkeypatch, server.url)
    name = f"bucket-{uuid.uuid4().hex}"
    server.make(name)
    return name


@pytest.fixture(params=["folder", "bucket"])
def kept(request: pytest.FixtureRequest) -> Kept:
    if request.param == "folder":
        return in_folder(request.getfixturevalue("folder"))
    return in_bucket(request.getfixturevalue("server"), request.getfixturevalue("bucket"))


def in_folder(folder: Path) -> Kept:
    blobs = Blobs(folder)
    return Kept(
        blobs,
        lambda: Blobs(folder),
        lambda: [path.name for path in files(folder)],
        lambda sha256, seconds: age(blobs.path(sha256), seconds),
        lambda sha256, data: none(blobs.path(sha256).write_bytes(data)),
    )


def in_bucket(server: BucketServer, bucket: str) -> Kept:
    def opened() -> BucketBlobs:
        return BucketBlobs(f"s3://{bucket}/some/prefix", timeout_s=5)

    def key(sha256: str) -> str:
        return f"some/prefix/{sha256[:2]}/{sha256[2:4]}/{sha256}"

    return Kept(
        opened(),
        opened,
        lambda: [one.rpartition("/")[2] for one in server.keys(bucket)],
        lambda sha256, seconds: server.age(bucket, key(sha256), seconds),
        lambda sha256, data: server.write(bucket, key(sha256), data),
    )


def none(_: object) -> None:
    return None


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def age(path: Path, seconds: float) -> None:
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_bytes_come_back_by_their_hash(kept: Kept) -> None:
    assert not kept.blobs.holds(SHA)
    assert kept.blobs.put(DATA) == (SHA, len(DATA))
    assert kept.blobs.read(SHA) == DATA
    with kept.blobs.open(SHA) as file:
        assert file.read(3) == b"the"
        assert list(file) == [DATA[3:]]
    assert kept.blobs.holds(SHA)
    assert kept.reopened().read(SHA) == DATA
    assert kept.names() == [SHA]
    kept.blobs.check()


@pytest.mark.parametrize("size", [0, 3_000_001, 20_000_000])
def test_a_stream_of_any_size(kept: Kept, size: int) -> None:
    data = os.urandom(size)
    sha256, told = kept.blobs.put(io.BytesIO(data))
    assert (sha256, told) == (hashlib.sha256(data).hexdigest(), size)
    assert kept.reopened().read(sha256) == data
    with kept.blobs.open(sha256) as file:
        assert b"".join(iter(lambda: file.read(1 << 20), b"")) == data


def test_an_open_file_goes_on_when_it_is_deleted(kept: Kept) -> None:
    lines = [b"%d\n" % n for n in range(2000)]
    sha256, _ = kept.blobs.put(b"".join(lines))
    with kept.blobs.open(sha256) as file:
        assert file.readline() == lines[0]
        kept.blobs.delete(sha256)
        assert list(file) == lines[1:]
    assert not kept.blobs.holds(sha256)
    assert kept.names() == []


def test_the_same_bytes_are_kept_once(kept: Kept) -> None:
    kept.blobs.put(DATA)
    assert kept.blobs.put(io.BytesIO(DATA)) == (SHA, len(DATA))
    assert kept.names() == [SHA]


def test_many_that_put_the_same_bytes_together(kept: Kept) -> None:
    data = os.urandom(500_000)
    assert len(set(at_once([lambda: kept.blobs.put(data)] * 6))) == 1
    assert len(kept.names()) == 1
    assert kept.blobs.read(kept.names()[0]) == data


def test_a_torn_file_of_the_right_name_is_replaced(kept: Kept) -> None:
    kept.blobs.put(DATA)
    kept.overwrite(SHA, DATA[:4])
    kept.blobs.put(DATA)
    assert kept.blobs.read(SHA) == DATA


def test_an_upload_that_breaks_off_leaves_nothing(kept: Kept) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            piece = super().read(4)
            if not piece:
                raise ConnectionResetError("the client is gone")
            return piece

    with pytest.raises(RagstoneError):
        kept.blobs.put(Broken(DATA))
    assert kept.names() == []


def test_a_file_is_never_seen_half_written(kept: Kept) -> None:
    half, seen = threading.Event(), threading.Event()

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            piece = super().read(8)
            if not piece:
                half.set()
                assert seen.wait(timeout=30)
            return piece

    stream: BinaryIO = Slow(DATA)
    writer = threading.Thread(target=kept.blobs.put, args=(stream,))
    writer.start()
    assert half.wait(timeout=30)
    there = kept.reopened().holds(SHA)
    seen.set()
    writer.join(timeout=30)
    assert not there
    assert kept.blobs.read(SHA) == DATA


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "report.pdf", SHA.upper(), SHA + "\n", SHA[:-1], f"/{SHA}"])
def test_only_a_hash_is_ever_part_of_a_path(kept: Kept, name: str) -> None:
    blobs = kept.blobs
    for ask in (blobs.file_of, blobs.open, blobs.read, blobs.holds, blobs.delete):
        with pytest.raises(RagstoneError) as refused:
            ask(name)
        assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_missing_bytes_are_said_to_be_missing(kept: Kept) -> None:
    for ask in (kept.blobs.read, kept.blobs.open):
        with pytest.raises(RagstoneError) as missing:
            ask(SHA)
        assert missing.value.code is ErrorCode.VERSION_NOT_FOUND
        assert SHA in missing.value.detail
    kept.blobs.delete(SHA)


def test_a_sweep_removes_what_is_old_and_unused(kept: Kept) -> None:
    used, unused, young = (kept.blobs.put(text)[0] for text in (b"used", b"unused", b"young"))
    for sha256 in (used, unused):
        kept.age(sha256, 100)
    assert kept.blobs.sweep(lambda sha256: sha256 == used, older_than_s=50) == 1
    assert set(kept.names()) == {used, young}
    assert kept.blobs.sweep(lambda sha256: sha256 == used, older_than_s=50) == 0


def test_bytes_put_again_are_young_again(kept: Kept) -> None:
    for again in (DATA, io.BytesIO(DATA)):
        kept.blobs.put(DATA)
        kept.age(SHA, 100)
        kept.blobs.put(again)
        assert kept.blobs.sweep(lambda sha256: False, older_than_s=50) == 0


def test_the_settings_name_the_store(folder: Path) -> None:
    for url in (None, ""):
        assert isinstance(blob_store(StateSettings(state_dir=folder, blobs_url=url)), Blobs)
    assert isinstance(blob_store(StateSettings(blobs_url="s3://bucket/prefix")), BucketBlobs)


def test_a_folder_keeps_one_file_of_the_same_bytes_where_it_is_said_to_be(folder: Path) -> None:
    blobs = Blobs(folder)
    blobs.put(DATA)
    assert blobs.path(SHA) == blobs.file_of(SHA) == folder / SHA[:2] / SHA[2:4] / SHA
    first = blobs.path(SHA).stat().st_ino
    blobs.put(DATA)
    assert blobs.path(SHA).stat().st_ino == first


def test_a_sweep_of_a_folder_removes_uploads_that_broke_off(folder: Path) -> None:
    Blobs(folder).put(DATA)
    torn, arriving = folder / "incoming" / "torn", folder / "incoming" / "arriving"
    for path in (torn, arriving):
        path.write_bytes(b"half")
    age(torn, 100)
    assert Blobs(folder).sweep(lambda sha256: True, older_than_s=50) == 1
    assert {path.name for path in files(folder)} == {SHA, "arriving"}
    assert Blobs(folder / "not there").sweep(lambda sha256: False, older_than_s=0) == 0


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RagstoneError) as refused:
        Blobs(tmp_path / "file").put(DATA)
    assert refused.value.code is ErrorCode.CATALOG_UNAVAILABLE
    assert str(tmp_path / "file") in refused.value.detail
