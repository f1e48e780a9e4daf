"""JSON and NDJSON files: objects with a text as sections, anything else as lines of values."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.json_text import extract
from services.ingestor.domain.stretches import joined
from services.shared.contracts.errors import ErrorCode, RagstoneError

DIGITS_MAX = 4_000
"""Digits of a number; Python refuses to make one of more than 4,300."""


def parse_json(data: bytes, name: str) -> Extracted:
    """One JSON value. Raises UNREADABLE_DOCUMENT with the place where it stops being JSON."""
    decoded = decode(data, name)
    if not decoded.text.strip():
        return Extracted(text="", markdown=False)
    try:
        value, repeated = _loads(decoded.text)
    except (ValueError, RecursionError) as error:
        if _is_lines(decoded.text):
            return parse_ndjson(data, name)
        raise _not_json(name, f"it is not valid JSON ({_why(error)}); correct it, or send it as .txt") from error
    return _with_warning(extract(value), joined([decoded.warning, _repetition(name, repeated)]))


def parse_ndjson(data: bytes, name: str) -> Extracted:
    """One JSON value a line; lines that are none are left out with a warning, unless all are."""
    decoded = decode(data, name)
    values: list[Any] = []
    bad: list[int] = []
    repeated: list[str] = []
    for n, line in enumerate(decoded.text.split("\n"), start=1):
        if line.strip():
            try:
                value, twice = _loads(line)
                values.append(value)
                repeated += twice
            except (ValueError, RecursionError):
                bad.append(n)
    if bad and not values:
        raise _not_json(name, f"none of its {len(bad)} lines is valid JSON; send it as .txt if it is text")
    fault = (
        f"{len(bad)} lines of {name} are not valid JSON and were left out, the first is line {bad[0]}" if bad else None
    )
    return _with_warning(extract(values), joined([decoded.warning, fault, _repetition(name, repeated)]))


def _with_warning(extracted: Extracted, warning: str | None) -> Extracted:
    # JSON may write a zero as an escape; no text holds one, and a space keeps the offsets.
    text = extracted.text.replace("\0", " ")
    return replace(extracted, text=text, warning=joined([warning, extracted.warning]))


def _is_lines(text: str) -> bool:
    """Is each line a value of its own, whatever the file is called? The first two tell."""
    lines = [line for line in text.split("\n", 50) if line.strip()][:2]
    try:
        return len(lines) == 2 and all(isinstance(json.loads(line), dict | list) for line in lines)
    except (ValueError, RecursionError):
        return False


def _loads(text: str) -> tuple[Any, list[str]]:
    """The value, and the keys that an object in it holds twice; such a key keeps all its values, as a list."""
    repeated: list[str] = []

    def every_value(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            for key in (key for key, count in counts.items() if count > 1):
                found[key] = [value for other, value in pairs if other == key]
                repeated.append(key)
        return found

    value = json.loads(text, object_pairs_hook=every_value, parse_constant=str, parse_int=_whole_number)
    # A lone surrogate written as an escape is valid JSON but no text: it could be stored nowhere.
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("half of a surrogate pair") from error
    return value, repeated


def _whole_number(digits: str) -> int | str:
    """The number; one of more digits than Python counts with keeps them as text."""
    return int(digits) if len(digits) <= DIGITS_MAX else digits


def _repetition(name: str, repeated: list[str]) -> str | None:
    if not repeated:
        return None
    return f"{name} holds objects with a key twice ({repeated[0][:40]!r}); all its values were read"


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} in line {error.lineno}, column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _not_json(name: str, why: str) -> RagstoneError:
    return RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{name} cannot be read: {why}")
