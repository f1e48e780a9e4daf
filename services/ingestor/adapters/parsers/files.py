"""The parser of each kind of file, behind one door that turns every failure into a reason with the file's name."""

from collections.abc import Callable
from dataclasses import replace

from services.ingestor.adapters.parsers import html, json_files, markdown, plain_text
from services.ingestor.domain.documents import Extracted, Incoming
from services.ingestor.domain.kinds import FileKind, kind_of
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
}


def nobody_tells(text: str) -> str | None:
    """Stands where no library tells languages."""
    return None


class FileParsers:
    """Reads any supported file. ``language_of`` is asked for the language of a text that does not say it itself."""

    def __init__(
        self,
        max_bytes: int,
        time_up: type[Exception],
        language_of: Callable[[str], str | None] = nobody_tells,
    ) -> None:
        self._max_bytes = max_bytes
        self._time_up = time_up
        self._language_of = language_of

    def parse(self, incoming: Incoming, data: bytes) -> Extracted:
        """The text of a document. Raises RagstoneError naming the file, what is wrong and what to do."""
        name = incoming.name
        if len(data) > self._max_bytes:
            detail = (
                f"{name} has {len(data):,} bytes and the limit is {self._max_bytes:,}; split it, "
                "or raise RAGSTONE_MAX_DOCUMENT_BYTES"
            )
            raise RagstoneError(ErrorCode.BODY_TOO_LARGE, detail)
        kind = kind_of(name, incoming.filename, incoming.media_type)
        try:
            extracted = PARSERS[kind](data, name)
        except (RagstoneError, self._time_up):
            raise
        # Whatever a library does with a hostile file, it is that file's failure and nobody else's.
        except Exception as error:
            log.exception("parser_failed", document=name, kind=kind)
            detail = f"{name} cannot be read as {kind}: {type(error).__name__}: {str(error)[:200]}; is it damaged?"
            raise RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, detail) from error
        if not any(char.isalnum() for char in extracted.text):
            detail = f"no text was found in {name}; if it should hold some, check the file and send it again"
            raise RagstoneError(ErrorCode.DOCUMENT_EMPTY, detail)
        return replace(extracted, language=extracted.language or self._language_of(extracted.text))
