"""A backup that is not what was written is refused before anything is changed, and says where."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from services.shared.catalog.backup.reading import Nowhere, walk
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.catalog.backing_up import back_up, changed
from tests.contract.catalog.building import ingest

Change = Callable[[str, bytes], Iterator[tuple[str, bytes]]]


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage")
    catalog, blobs = Catalog(f"sqlite:///{folder}/catalog.db"), Blobs(folder / "blobs")
    catalog.migrate()
    with catalog.write() as tx:
        for n in range(20):
            sha256, _ = blobs.put(f"content {n}".encode())
            ingest(tx, f"doc-{n}", f"content {n}", blob_sha256=sha256)
    back_up(catalog, blobs, folder / "backup.tar.gz", b"language: de\n")
    catalog.close()
    return folder / "backup.tar.gz"


def refused(file: Path) -> RagstoneError:
    with pytest.raises(RagstoneError) as found:
        walk(file, Nowhere())
    return found.value


def test_the_sound_one_is_sound(backup: Path) -> None:
    assert walk(backup, Nowhere())[1].documents == 20


def test_one_that_is_cut_off_anywhere_is_refused(backup: Path, tmp_path: Path) -> None:
    whole = backup.read_bytes()
    for length in [*range(0, len(whole), max(1, len(whole) // 60)), len(whole) - 1, len(whole) - 8]:
        (tmp_path / "cut").write_bytes(whole[:length])
        assert refused(tmp_path / "cut").code is ErrorCode.BACKUP_DAMAGED, length


def test_one_flipped_bit_anywhere_is_refused(backup: Path, tmp_path: Path) -> None:
    whole = backup.read_bytes()
    # The first ten bytes are gzip's own: some of them say nothing.
    for place in [*range(10, len(whole), max(1, len(whole) // 150)), len(whole) - 5]:
        spoilt = bytearray(whole)
        spoilt[place] ^= 0x10
        (tmp_path / "spoilt").write_bytes(spoilt)
        with suppress(OSError, EOFError, zlib.error):
            # Some bits say the same in two ways.
            if gzip.decompress(spoilt) == gzip.decompress(whole):
                continue
        assert refused(tmp_path / "spoilt").code in (ErrorCode.BACKUP_DAMAGED, ErrorCode.CATALOG_NEWER), place


def _without(wanted: str) -> Change:
    def change(name: str, body: bytes) -> Iterator[tuple[str, bytes]]:
        if not name.startswith(wanted):
            yield name, body

    return change


def _other(wanted: str) -> Change:
    def change(name: str, body: bytes) -> Iterator[tuple[str, bytes]]:
        yield name, body.replace(b"content", b"contents") if name.startswith(wanted) else body

    return change


def _twice(wanted: str) -> Change:
    def change(name: str, body: bytes) -> Iterator[tuple[str, bytes]]:
        yield name, body
        if name.startswith(wanted):
            yield name, body

    return change


def _also(new: str) -> Change:
    def change(name: str, body: bytes) -> Iterator[tuple[str, bytes]]:
        if name == "manifest.json":
            yield new, b"x"
        yield name, body

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_without("backup.json"), "does not begin with backup.json"),
        (_without("manifest.json"), "cut off: manifest.json"),
        (_without("catalog/versions"), "is not what was written"),
        (_without("profile.yaml"), "missing or too many"),
        (_without("blobs/"), "originals are missing"),
        (_other("catalog/versions"), "catalog/versions/000001.ndjson is not what was written"),
        (_other("blobs/"), "is not what was written"),
        (_twice("catalog/versions"), "is not what was written"),
        (_twice("blobs/"), "originals are missing or too many"),
        (_twice("manifest.json"), "something follows its end"),
        (_also("../outside"), "nothing is known of a member '../outside'"),
        (_also("catalog/alembic_version/000001.ndjson"), "nothing is known"),
        (_also("blobs/" + "0" * 64), "is not what was written"),
    ],
)
def test_one_with_other_members_is_refused(backup: Path, tmp_path: Path, change: Change, said: str) -> None:
    found = refused(changed(backup, tmp_path / "changed", change))
    assert (found.code, said in found.detail) == (ErrorCode.BACKUP_DAMAGED, True), found.detail
    assert "Nothing was changed" in found.detail


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"schema_revision": "0012", "ragstone": "9.1"}, "made by ragstone 9.1) is of schema 0012; this program"),
        ({"format": 2}, "has format 2; this program knows up to 1"),
    ],
)
def test_one_of_a_later_release_says_what_to_install(
    backup: Path, tmp_path: Path, values: dict[str, object], said: str
) -> None:
    def change(name: str, body: bytes) -> Iterator[tuple[str, bytes]]:
        yield name, json.dumps(json.loads(body) | values).encode() if name == "backup.json" else body

    found = refused(changed(backup, tmp_path / "later", change))
    assert found.code is ErrorCode.CATALOG_NEWER
    assert said in found.detail
    assert "install" in found.detail


def test_what_is_no_backup_is_none(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("notes")
    assert "it is none of Ragstone's" in refused(tmp_path / "notes.txt").detail
    assert refused(tmp_path / "missing").code is ErrorCode.INVALID_REQUEST
    assert refused(tmp_path).code is ErrorCode.INVALID_REQUEST
