"""Zip-like files are counted while they inflate, whatever they say of themselves."""

import io
import random
import struct
import zipfile

import pytest

from services.ingestor.adapters.archives import ArchiveLimits, checked_archive, inside, one_document
from services.shared.contracts.errors import ErrorCode, RagstoneError


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return into.getvalue()


def refusal(data: bytes, limits: ArchiveLimits | None = None) -> RagstoneError:
    with pytest.raises(RagstoneError) as caught:
        checked_archive(data, "offer.docx", limits)
    assert "offer.docx" in caught.value.detail
    return caught.value


def test_an_ordinary_archive_is_opened() -> None:
    members = {"word/document.xml": b"<w/>" * 1000, "a/b.png": random.Random(1).randbytes(70_000), "empty": b""}
    archive = checked_archive(packed(members), "offer.docx")
    assert {name: archive.read(name) for name in archive.namelist()} == members
    assert checked_archive(b"#!/bin/sh\n" + packed(members), "offer.docx").read("a/b.png") == members["a/b.png"]


def test_entries_are_counted_before_the_directory_is_read() -> None:
    data = packed({f"{n}.txt": b"" for n in range(60)})
    assert len(checked_archive(data, "x", ArchiveLimits(entries=60)).namelist()) == 60
    error = refusal(data, ArchiveLimits(entries=59))
    assert error.code == ErrorCode.BODY_TOO_LARGE
    assert "RAGSTONE_ARCHIVE_MAX_ENTRIES" in error.detail


def test_the_sum_of_what_inflates_is_limited() -> None:
    data = packed({f"{n}.bin": random.Random(n).randbytes(300_000) for n in range(4)})
    assert checked_archive(data, "x", ArchiveLimits(inflated_bytes=1_200_000))
    error = refusal(data, ArchiveLimits(inflated_bytes=1_199_999))
    assert "1,199,999 bytes" in error.detail
    assert "RAGSTONE_ARCHIVE_MAX_BYTES" in error.detail


def test_stored_members_count_as_well() -> None:
    data = packed({"a": b"x" * 2_000_000}, zipfile.ZIP_STORED)
    assert "RAGSTONE_ARCHIVE_MAX_BYTES" in refusal(data, ArchiveLimits(inflated_bytes=1_999_999)).detail


def test_a_bomb_is_known_by_its_ratio() -> None:
    data = packed({"word/document.xml": b"A" * 60_000_000})
    assert "RAGSTONE_ARCHIVE_MAX_RATIO" in refusal(data).detail


def test_empty_cells_pack_well_and_are_no_bomb() -> None:
    assert checked_archive(packed({"xl/sheet1.xml": b"<c/>" * 2_000_000}), "x")


def test_declared_sizes_are_not_believed() -> None:
    data = bytearray(packed({"word/document.xml": b"A" * 60_000_000}))
    honest = struct.pack("<I", 60_000_000)
    assert data.count(honest) == 2, "in the member's header and in the directory"
    lying = bytes(data).replace(honest, struct.pack("<I", 10))
    assert zipfile.ZipFile(io.BytesIO(lying)).infolist()[0].file_size == 10
    assert "RAGSTONE_ARCHIVE_MAX_RATIO" in refusal(lying).detail


def test_many_members_on_the_same_bytes_count_each() -> None:
    """Members that overlap make petabytes of kilobytes."""
    data = packed({"a": random.Random(3).randbytes(500_000)})
    at = data.index(b"PK\x01\x02")
    entry = data[at : data.index(b"PK\x05\x06")]
    directory = b"".join(entry[:-1] + bytes([65 + n]) for n in range(20))
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 20, 20, len(directory), at, 0)
    error = refusal(data[:at] + directory + end, ArchiveLimits(inflated_bytes=5_000_000))
    assert "RAGSTONE_ARCHIVE_MAX_BYTES" in error.detail


@pytest.mark.parametrize("name", ["../../tmp/evil.txt", "word/../../evil", "..\\evil", ".."])
def test_names_that_point_out_of_it_are_refused(name: str) -> None:
    error = refusal(packed({name: b"x"}))
    assert error.code == ErrorCode.UNREADABLE_DOCUMENT
    assert "points out of it" in error.detail


def test_a_zero_in_a_name_is_refused() -> None:
    data = packed({"aXb.xml": b"x"}).replace(b"aXb.xml", b"a\0b.xml")
    assert "points out of it" in refusal(data).detail


def test_dots_in_ordinary_names_are_not() -> None:
    assert checked_archive(packed({"a..b/c...xml": b"x", "/word/document.xml": b"y"}), "x")


def test_a_locked_archive_says_so() -> None:
    data = packed({"a": b"x" * 100})
    at = data.index(b"PK\x01\x02") + 8
    assert "password" in refusal(data[:at] + b"\x01\x00" + data[at + 2 :]).detail


@pytest.mark.parametrize(
    "data",
    [b"", b"no zip", b"PK\x03\x04" + b"\0" * 50, packed({"a": b"x" * 999})[:-30]],
    ids=["empty", "text", "head", "cut off"],
)
def test_what_is_no_archive_is_unreadable(data: bytes) -> None:
    assert refusal(data).code == ErrorCode.UNREADABLE_DOCUMENT


def test_damage_within_a_member_is_named() -> None:
    data = bytearray(packed({"word/document.xml": random.Random(5).randbytes(10) * 1000}))
    data[50:60] = b"\xff" * 10
    assert "word/document.xml" in refusal(bytes(data)).detail


def test_any_damage_ends_in_a_reason() -> None:
    whole = packed({"a/b.xml": b"<a>text</a>" * 50, "c.png": random.Random(5).randbytes(300)})
    dice = random.Random(7)
    for _ in range(3000):
        data = bytearray(whole)
        for _ in range(dice.randrange(1, 5)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        try:
            checked_archive(bytes(data), "x")
        except RagstoneError:
            continue


def test_archives_of_one_document_share_its_limits() -> None:
    data = packed({"a": random.Random(1).randbytes(400_000)})
    with one_document(ArchiveLimits(inflated_bytes=1_000_000)):
        checked_archive(data, "first")
        with inside("second"):
            checked_archive(data, "second")
        with pytest.raises(RagstoneError, match="RAGSTONE_ARCHIVE_MAX_BYTES"):
            checked_archive(data, "third")
    with one_document(ArchiveLimits(inflated_bytes=1_000_000)):
        checked_archive(data, "another document")


def test_files_within_files_end_somewhere() -> None:
    with one_document(ArchiveLimits(depth=2)), inside("a"), inside("b"):
        with pytest.raises(RagstoneError, match="RAGSTONE_ARCHIVE_MAX_DEPTH"), inside("c"):
            pytest.fail("it was let in")
        with pytest.raises(RagstoneError, match=r"^body_too_large: d lies in files within files"), inside("d"):
            pytest.fail("it was let in")
    with one_document(ArchiveLimits(depth=1)):
        for n in range(5):
            with inside(f"beside each other {n}"):
                pass
