"""Values that every database can store: without what YAML and JSON can write down and no text holds."""

import math
from collections.abc import Mapping
from typing import Any

_REFUSED = dict.fromkeys([0, *range(0xD800, 0xE000)])


def storable_text(text: str) -> str:
    """The text without zero characters and lone halves of surrogate pairs."""
    return text if text.isascii() and "\0" not in text else text.translate(_REFUSED)


def storable_line(text: str | None) -> str | None:
    """Like ``storable_text``; None stays "not said"."""
    return None if text is None else storable_text(text)


def storable_lines(texts: list[str] | None) -> list[str] | None:
    """Like ``storable_text`` for each; None stays "not said"."""
    return None if texts is None else [storable_text(text) for text in texts]


def storable_value(value: Any) -> Any:
    """A JSON value with storable texts and keys; numbers that are none (NaN, infinities) become null."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {storable_text(str(key)): storable_value(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [storable_value(inner) for inner in value]
    return value
