"""What a file is by its first bytes, where its name says something else."""

import re

from services.ingestor.domain.kinds import FileKind
from services.shared.contracts.errors import ErrorCode, RagstoneError

HEAD = 1024
"""Bytes within which a PDF begins; some have a mail's or a printer's lines before it."""

_PDF, _ZIP, _OLD_OFFICE, _RTF = b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf"
_LOCKED_OFFICE = "EncryptedPackage".encode("utf-16-le")
_MEMBERS = (
    (b"word/document.xml", FileKind.DOCX, "a Word file", ".docx"),
    (b"ppt/presentation.xml", FileKind.PPTX, "a PowerPoint file", ".pptx"),
    (b"xl/workbook", FileKind.XLSX, "an Excel file", ".xlsx"),
    (b"application/epub+zip", FileKind.EPUB, "an EPUB book", ".epub"),
)
"""Names inside zip-like files; they stand in them unpacked."""

_ZIPPED = frozenset(kind for _, kind, _, _ in _MEMBERS)
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,500}(?:<\?xml[^>]{0,300}\?>\s{0,100})?(?:<!doctype html|<html[\s>])", re.I)


def kind_by_content(kind: FileKind, data: bytes, name: str) -> tuple[FileKind, str | None]:
    """The kind to read it as, and what to tell its owner.

    A web page named .txt is read as one. Raises UNREADABLE_DOCUMENT for any other file that is clearly not what its
    name says, naming the extension that it should have, and for an Office file that is locked.
    """
    if data.startswith(_OLD_OFFICE):
        if _LOCKED_OFFICE in data:
            raise _unreadable(name, "it is locked with a password; remove it and send the file again")
        raise _unreadable(name, "it is a file of Office before 2007; save it as .docx, .xlsx or .pptx and send that")
    if data.startswith(_RTF):
        raise _unreadable(name, "it is an RTF file; save it as .docx and send that")
    if data.startswith(_PDF) and kind is not FileKind.PDF:
        raise _renamed(name, "a PDF", ".pdf")
    if data.startswith(_ZIP):
        _check_zip(kind, data, name)
    elif kind is FileKind.PDF and data and _PDF not in data[:HEAD]:
        raise _unreadable(name, "it is no PDF, whatever its name says; send it under its real extension")
    elif kind in _ZIPPED and data:
        raise _unreadable(name, f"it is no .{kind} file, whatever its name says; send it under its real extension")
    if kind is FileKind.TEXT and _PAGE.match(data):
        return FileKind.HTML, f"{name} holds a web page and was read as one"
    return kind, None


def _check_zip(kind: FileKind, data: bytes, name: str) -> None:
    held = {one for member, one, _, _ in _MEMBERS if member in data}
    if kind in held:
        return
    for _, one, what, extension in _MEMBERS:
        if one in held:
            raise _renamed(name, what, extension)
    if kind in _ZIPPED:
        # Its parts may be named in another way; its parser says what it lacks.
        return
    raise _unreadable(name, "it is a zip archive; unpack it and send the files in it")


def _renamed(name: str, what: str, extension: str) -> RagstoneError:
    return _unreadable(name, f"it is {what}, whatever its name says; rename it to {extension} and send it again")


def _unreadable(name: str, why: str) -> RagstoneError:
    return RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}")
