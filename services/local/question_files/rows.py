"""Lines of data files; whatever is wrong is told with the file and the line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from services.local.folder import shown
from services.shared.contracts.errors import ErrorCode, RagstoneError

Message = TypeVar("Message", bound=BaseModel)
Row = dict[str, Any]

_BOM = b"\xef\xbb\xbf"


def wrong(path: Path, why: str, line: int | None = None) -> RagstoneError:
    """The error of a file that cannot be used."""
    place = shown(path) if line is None else f"{shown(path)}, line {line}"
    return RagstoneError(ErrorCode.INVALID_REQUEST, f"{place}: {why}.")


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers; a byte order mark and carriage returns are taken off.

    Raises: RagstoneError when the file cannot be read or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            for n, raw in enumerate(file, start=1):
                line = (raw.removeprefix(_BOM) if n == 1 else raw).rstrip(b"\r\n")
                if line.strip():
                    yield n, line.decode()
    except OSError as error:
        raise wrong(path, f"it cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise wrong(path, "it is not UTF-8 text", n) from error


def whole_text(path: Path) -> str:
    """A whole file, without a byte order mark.

    Raises: RagstoneError when it cannot be read or is not UTF-8.
    """
    try:
        return path.read_bytes().removeprefix(_BOM).decode()
    except OSError as error:
        raise wrong(path, f"it cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise wrong(path, "it is not UTF-8 text") from error


def json_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """JSON objects, one a line, with the numbers of their lines; read as they are asked for.

    Raises: RagstoneError.
    """
    for n, line in text_lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise wrong(path, "it is not one JSON value", n) from error
        if not isinstance(row, dict):
            raise wrong(path, "it is not a JSON object", n)
        yield n, row


def id_in(row: Row, path: Path, line: int) -> str:
    """The field ``_id`` (or ``id``): text, or a whole number.

    Raises: RagstoneError.
    """
    found = row.get("_id", row.get("id"))
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str) or not found:
        raise wrong(path, "it has no _id", line)
    return found


def text_in(row: Row, field: str, path: Path, line: int) -> str:
    """A field of text; empty where it is missing or null.

    Raises: RagstoneError.
    """
    found = row.get(field)
    if found is not None and not isinstance(found, str):
        raise wrong(path, f"its {field} is not text", line)
    return found or ""


def texts_in(row: Row, field: str, path: Path, line: int) -> list[str]:
    """A field that is a list of texts, or one text; empty where it is missing or null.

    Raises: RagstoneError.
    """
    found = row.get(field)
    if found is None:
        return []
    listed = [found] if isinstance(found, str) else found
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        raise wrong(path, f"its {field} is not a list of texts", line)
    return listed


def message(kind: type[Message], fields: Row, path: Path, line: int | None) -> Message:
    """The fields as a message.

    Raises: RagstoneError with the first fault.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise wrong(path, f"{where}: {first['msg']}" if where else str(first["msg"]), line) from error


class Seen:
    """Ids that were met, so that none comes twice."""

    def __init__(self, path: Path, what: str) -> None:
        self._path = path
        self._what = what
        self.lines: dict[str, int] = {}

    def add(self, name: str, line: int) -> None:
        """Raises: RagstoneError when it was there already."""
        before = self.lines.setdefault(name, line)
        if before != line:
            raise wrong(self._path, f"{self._what} {name[:80]!r} was on line {before} already", line)
