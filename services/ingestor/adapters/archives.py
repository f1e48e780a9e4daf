"""Zip-like files are really inflated, and counted, before any library opens them; nothing is ever written.

What an archive declares of its sizes is not believed: a file of 300 kB may inflate to gigabytes while its directory
says otherwise. All archives of one document, those inside others too, share one budget.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from services.shared.contracts.errors import ErrorCode, RagstoneError

_DIRECTORY_ENTRY = b"PK\x01\x02"
_LOCAL_HEADER = b"PK\x03\x04"
_LOCAL_HEADER_BYTES = 30
_ENCRYPTED = 0x1
_STEP = 1 << 20
_SMALL = 10_000_000
"""Inflated bytes up to which the ratio says nothing: a sheet of empty cells packs a thousand to one."""


@dataclass(frozen=True)
class ArchiveLimits:
    """What the archives of one document may come to."""

    entries: int = 10_000
    inflated_bytes: int = 200_000_000
    ratio: int = 200
    depth: int = 3


class _Budget:
    """What one document has used up of its limits."""

    def __init__(self, limits: ArchiveLimits) -> None:
        self.limits = limits
        self.entries = 0
        self.inflated_bytes = 0
        self.depth = 0


_budget: ContextVar[_Budget | None] = ContextVar("archive_budget", default=None)


@contextmanager
def one_document(limits: ArchiveLimits) -> Iterator[None]:
    """Whatever is unpacked within the block counts for one document, in this thread."""
    token = _budget.set(_Budget(limits))
    try:
        yield
    finally:
        _budget.reset(token)


@contextmanager
def inside(name: str) -> Iterator[None]:
    """What is read within the block lies in another file (an attachment). Raises BODY_TOO_LARGE when that is too deep.

    ``name`` is what the reason calls the part.
    """
    budget = _budget.get() or _Budget(ArchiveLimits())
    if budget.depth >= budget.limits.depth:
        detail = (
            f"{name} lies in files within files, more than {budget.limits.depth:,} deep; send it by itself, "
            "or raise RAGSTONE_ARCHIVE_MAX_DEPTH"
        )
        raise RagstoneError(ErrorCode.BODY_TOO_LARGE, detail)
    token = _budget.set(budget)
    budget.depth += 1
    try:
        yield
    finally:
        budget.depth -= 1
        _budget.reset(token)


def checked_archive(data: bytes, name: str, limits: ArchiveLimits | None = None) -> zipfile.ZipFile:
    """The archive, after every member was inflated once and thrown away again.

    Limits are those given, else those of the document that is being read (``one_document``), else the defaults.
    Raises BODY_TOO_LARGE naming the limit and its setting, UNREADABLE_DOCUMENT when it is damaged or locked.
    """
    budget = _Budget(limits) if limits else _budget.get() or _Budget(ArchiveLimits())
    limits = budget.limits
    # Counted before the directory is read, which makes an object of each entry.
    budget.entries += data.count(_DIRECTORY_ENTRY)
    if budget.entries > limits.entries:
        raise _too_large(name, f"more than {limits.entries:,} entries", "ENTRIES")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    # All that ``zipfile`` raises over a directory that it cannot read; the last is for a version that it does not know.
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise _unreadable(name, f"it is no zip archive, or a damaged one ({error})") from error
    inflated = 0
    for member in archive.infolist():
        _refuse_name(member, name)
        for size in _inflated_sizes(data, member, name):
            inflated += size
            budget.inflated_bytes += size
            if budget.inflated_bytes > limits.inflated_bytes:
                raise _too_large(name, f"more than {limits.inflated_bytes:,} bytes when unpacked", "BYTES")
            if inflated > max(_SMALL, limits.ratio * len(data)):
                what = f"more than {limits.ratio:,} times its size of {len(data):,} bytes when unpacked"
                raise _too_large(name, what, "RATIO")
    return archive


def _refuse_name(member: zipfile.ZipInfo, name: str) -> None:
    said = member.orig_filename
    if "\0" in said or ".." in said.replace("\\", "/").split("/"):
        raise _unreadable(name, f"it holds a member named {said[:80]!r}, which points out of it")


def _inflated_sizes(data: bytes, member: zipfile.ZipInfo, name: str) -> Iterator[int]:
    """Sizes of the pieces that a member really inflates to."""
    if member.flag_bits & _ENCRYPTED:
        raise _unreadable(name, "it is locked with a password; remove it")
    packed = _packed(data, member, name)
    if member.compress_type == zipfile.ZIP_STORED:
        yield len(packed)
    elif member.compress_type == zipfile.ZIP_DEFLATED:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        rest: bytes | memoryview = packed
        try:
            # An inflater keeps what it was not asked for and copies it each time, so it is fed in small pieces.
            for at in range(0, len(packed), _STEP):
                rest = packed[at : at + _STEP]
                while rest and not inflater.eof:
                    yield len(inflater.decompress(rest, _STEP))
                    rest = inflater.unconsumed_tail
        except zlib.error as error:
            raise _unreadable(name, f"its member {member.filename[:80]!r} is damaged ({error})") from error
    else:
        raise _unreadable(name, f"its member {member.filename[:80]!r} is packed in a way that is not supported")


def _packed(data: bytes, member: zipfile.ZipInfo, name: str) -> memoryview:
    """The packed bytes of a member, found as every zip library finds them: behind its own header."""
    at = member.header_offset
    header = data[at : at + _LOCAL_HEADER_BYTES]
    if at < 0 or len(header) < _LOCAL_HEADER_BYTES or not header.startswith(_LOCAL_HEADER):
        raise _unreadable(name, f"its member {member.filename[:80]!r} is not where its directory says")
    start = at + _LOCAL_HEADER_BYTES + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    return memoryview(data)[start : start + member.compress_size]


def _too_large(name: str, what: str, setting: str) -> RagstoneError:
    detail = f"{name} cannot be read: it comes to {what}; split it, or raise RAGSTONE_ARCHIVE_MAX_{setting}"
    return RagstoneError(ErrorCode.BODY_TOO_LARGE, detail)


def _unreadable(name: str, why: str) -> RagstoneError:
    return RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}")
