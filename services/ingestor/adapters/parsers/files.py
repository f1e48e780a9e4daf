"""The parser of each kind of file, behind one door that turns every failure into a reason with the file's name."""

import traceback
from collections.abc import Callable
from dataclasses import replace

from services.ingestor.adapters.archives import inside
from services.ingestor.adapters.parsers import (
    csv_files,
    docx,
    eml,
    epub,
    html,
    ipynb,
    json_files,
    markdown,
    pdf,
    plain_text,
    pptx,
    rst,
    xlsx,
)
from services.ingestor.domain.admission import refuse_too_large
from services.ingestor.domain.documents import Extracted, Incoming
from services.ingestor.domain.kinds import FileKind, kind_of
from services.ingestor.domain.quality import judged
from services.ingestor.domain.signatures import kind_by_content
from services.ingestor.domain.stretches import joined
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

Parse = Callable[[bytes, str], Extracted]

PARSERS: dict[FileKind, Parse] = {
    FileKind.MARKDOWN: markdown.parse,
    FileKind.TEXT: plain_text.parse,
    FileKind.HTML: html.parse,
    FileKind.JSON: json_files.parse_json,
    FileKind.NDJSON: json_files.parse_ndjson,
    FileKind.CSV: csv_files.parse,
    FileKind.XLSX: xlsx.parse,
    FileKind.RST: rst.parse,
    FileKind.IPYNB: ipynb.parse,
    FileKind.EPUB: epub.parse,
    FileKind.PDF: pdf.parse,
    FileKind.DOCX: docx.parse,
    FileKind.PPTX: pptx.parse,
}


def nobody_tells(text: str) -> str | None:
    """Stands where no library tells languages."""
    return None


class FileParsers:
    """Reads any supported file. ``language_of`` is asked for the language of a text that does not say it itself.

    Exceptions of the class ``passing`` are the caller's and no file's failure.
    """

    def __init__(
        self,
        max_bytes: int,
        passing: type[Exception],
        language_of: Callable[[str], str | None] = nobody_tells,
    ) -> None:
        self._max_bytes = max_bytes
        self._passing = passing
        self._language_of = language_of

    def parse(self, incoming: Incoming, data: bytes) -> Extracted:
        """The text of a document. Raises RagstoneError naming the file, what is wrong and what to do."""
        name = incoming.name
        refuse_too_large(name, len(data), self._max_bytes)
        extracted = self._read(data, name, incoming.filename, incoming.media_type)
        return replace(extracted, language=extracted.language or self._language_of(extracted.text))

    def _attachment(self, data: bytes, name: str, media_type: str) -> Extracted:
        with inside(name):
            return self._read(data, name, name, media_type)

    def _read(self, data: bytes, name: str, filename: str | None, media_type: str) -> Extracted:
        kind = kind_of(name, filename, media_type)
        if not data:
            raise RagstoneError(ErrorCode.DOCUMENT_EMPTY, f"no text was found in {name}: it is empty (0 bytes)")
        kind, renamed = kind_by_content(kind, data, name)
        try:
            extracted = eml.parse(data, name, self._attachment) if kind is FileKind.EML else PARSERS[kind](data, name)
        except (RagstoneError, self._passing):
            raise
        except RecursionError as error:
            why = "its parts lie deeper within each other than a document's do; send them one by one"
            raise RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}") from error
        # Whatever a library does with a hostile file, it is that file's failure and nobody else's.
        except Exception as error:
            # Messages and names may hold the document's words, which a log must not keep.
            last = traceback.extract_tb(error.__traceback__)[-1]
            log.error("parser_failed", kind=kind, error=type(error).__name__, at=f"{last.filename}:{last.lineno}")
            detail = f"{name} cannot be read as {kind}: {type(error).__name__}: {str(error)[:200]}; is it damaged?"
            raise RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, detail) from error
        warnings = [renamed, extracted.warning, judged(extracted.text, name, kind, extracted.pages)]
        return replace(extracted, warning=joined(warnings))
