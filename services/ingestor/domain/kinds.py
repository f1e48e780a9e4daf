"""Which parser reads a file: decided from its extension and media type, never from trial and error."""

from enum import StrEnum

from services.shared.contracts.errors import ErrorCode, RagstoneError


class FileKind(StrEnum):
    """The kinds of file that can be read."""

    MARKDOWN = "markdown"
    TEXT = "text"
    HTML = "html"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    XLSX = "xlsx"
    RST = "rst"
    IPYNB = "ipynb"
    EPUB = "epub"
    EML = "eml"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"


EXTENSIONS: dict[str, FileKind] = {
    "md": FileKind.MARKDOWN,
    "markdown": FileKind.MARKDOWN,
    "mdx": FileKind.MARKDOWN,
    "txt": FileKind.TEXT,
    "text": FileKind.TEXT,
    "log": FileKind.TEXT,
    "html": FileKind.HTML,
    "htm": FileKind.HTML,
    "xhtml": FileKind.HTML,
    "json": FileKind.JSON,
    "ndjson": FileKind.NDJSON,
    "jsonl": FileKind.NDJSON,
    "csv": FileKind.CSV,
    "tsv": FileKind.CSV,
    "xlsx": FileKind.XLSX,
    "xlsm": FileKind.XLSX,
    "rst": FileKind.RST,
    "ipynb": FileKind.IPYNB,
    "epub": FileKind.EPUB,
    "eml": FileKind.EML,
    "pdf": FileKind.PDF,
    "docx": FileKind.DOCX,
    "docm": FileKind.DOCX,
    "pptx": FileKind.PPTX,
    "pptm": FileKind.PPTX,
}

MEDIA_TYPES: dict[str, FileKind] = {
    "text/markdown": FileKind.MARKDOWN,
    "text/x-markdown": FileKind.MARKDOWN,
    "text/plain": FileKind.TEXT,
    "text/html": FileKind.HTML,
    "application/xhtml+xml": FileKind.HTML,
    "application/json": FileKind.JSON,
    "application/x-ndjson": FileKind.NDJSON,
    "application/jsonl": FileKind.NDJSON,
    "text/csv": FileKind.CSV,
    "text/tab-separated-values": FileKind.CSV,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": FileKind.XLSX,
    "text/x-rst": FileKind.RST,
    "text/prs.fallenstein.rst": FileKind.RST,
    "application/x-ipynb+json": FileKind.IPYNB,
    "application/epub+zip": FileKind.EPUB,
    "message/rfc822": FileKind.EML,
    "application/pdf": FileKind.PDF,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": FileKind.DOCX,
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": FileKind.PPTX,
}

SAVE_AS: dict[str, str] = {
    "doc": ".docx",
    "dot": ".docx",
    "rtf": ".docx",
    "odt": ".docx",
    "pages": ".docx",
    "xls": ".xlsx",
    "ods": ".xlsx",
    "numbers": ".xlsx",
    "ppt": ".pptx",
    "odp": ".pptx",
    "key": ".pptx",
}
"""Kinds that no parser reads, and as what the program that made them saves them too."""

SUPPORTED = (
    "Markdown (.md), plain text (.txt), PDF (.pdf), Word (.docx), PowerPoint (.pptx), Excel (.xlsx), "
    "CSV (.csv, .tsv), HTML (.html), reStructuredText (.rst), JSON (.json), "
    "NDJSON (.ndjson, .jsonl), Jupyter notebooks (.ipynb), EPUB (.epub) and e-mails (.eml)"
)
"""The kinds that work, as a reason names them."""


def kind_of(name: str, filename: str | None, media_type: str) -> FileKind:
    """The kind of a file; its extension is trusted before the media type, which browsers often guess.

    Raises UNSUPPORTED_MEDIA_TYPE for a kind that no parser reads, naming the kinds that work.
    """
    base = (filename or "").replace("\\", "/").rsplit("/", 1)[-1]
    extension = base.rsplit(".", 1)[1].lower() if "." in base.lstrip(".") else ""
    if extension in EXTENSIONS:
        return EXTENSIONS[extension]
    essence = media_type.split(";", 1)[0].strip().lower()
    # An unknown extension with a general text type (".pdf" sent as text/plain) is not read as text.
    if essence in MEDIA_TYPES and (not extension or essence != "text/plain"):
        return MEDIA_TYPES[essence]
    if extension in SAVE_AS:
        detail = f"{name} cannot be read: .{extension} files are not supported; save it as {SAVE_AS[extension]}"
        raise RagstoneError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"{detail} and send that")
    what = f".{extension}" if extension else essence or "without an extension"
    raise RagstoneError(
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        f"{name} cannot be read: files of the kind {what} are not supported; send {SUPPORTED}",
    )
