"""JSON and NDJSON files: objects with a text as sections, anything else as lines of values."""

import json
from dataclasses import replace
from typing import Any

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.json_text import extract
from services.shared.contracts.errors import ErrorCode, RagstoneError


def parse_json(data: bytes, name: str) -> Extracted:
    """One JSON value. Raises UNREADABLE_DOCUMENT with the place where it stops being JSON."""
    decoded = decode(data, name)
    if not decoded.text.strip():
        return Extracted(text="", markdown=False)
    try:
        value = _loads(decoded.text)
    except (ValueError, RecursionError) as error:
        raise _not_json(name, f"it is not valid JSON ({_why(error)}); correct it, or send it as .txt") from error
    return _with_warning(extract(value), decoded.warning)


def parse_ndjson(data: bytes, name: str) -> Extracted:
    """One JSON value a line; lines that are none are left out with a warning, unless all are."""
    decoded = decode(data, name)
    values: list[Any] = []
    bad: list[int] = []
    for n, line in enumerate(decoded.text.split("\n"), start=1):
        if line.strip():
            try:
                values.append(_loads(line))
            except (ValueError, RecursionError):
                bad.append(n)
    if bad and not values:
        raise _not_json(name, f"none of its {len(bad)} lines is valid JSON; send it as .txt if it is text")
    fault = (
        f"{len(bad)} lines of {name} are not valid JSON and were left out, the first is line {bad[0]}" if bad else None
    )
    warning = "; ".join(part for part in (decoded.warning, fault) if part) or None
    return _with_warning(extract(values), warning)


def _with_warning(extracted: Extracted, warning: str | None) -> Extracted:
    # JSON may write a zero as an escape; no text holds one, and a space keeps the offsets.
    both = "; ".join(part for part in (warning, extracted.warning) if part)
    return replace(extracted, text=extracted.text.replace("\0", " "), warning=both or None)


def _loads(text: str) -> Any:
    # A lone surrogate written as an escape is valid JSON but no text: it could be stored nowhere.
    value = json.loads(text)
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("half of a surrogate pair") from error
    return value


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} in line {error.lineno}, column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _not_json(name: str, why: str) -> RagstoneError:
    return RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}")
