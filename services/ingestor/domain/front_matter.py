"""Front matter of Markdown files: where it ends, and what its keys mean to Ragstone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from services.ingestor.domain.storable import storable_text, storable_value
from services.shared.contracts.documents import TAGS_MAX, TITLE_MAX, TYPE_MAX

NEGATIVES_HEADING = "## Not the case"

SENTENCE_MAX = 2000
PAIR_WORDS = 3
"""So many words make "key: value" a sentence with a colon in it."""

_BLOCK = re.compile(r"\A---[ \t]*\n(?P<yaml>.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_ONE_LINE_LIST = re.compile(
    r"^(?P<key>[ \t]*[^\s:#\[\]{}\"'][^:#\n]*:[ \t]+)\[(?P<items>[^\[\]{}\n]*)\](?P<rest>[ \t]*(?: #.*)?)$",
    re.MULTILINE,
)
_ITEM = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,]*?)\s*(?:,|$)""")
_PLAIN_ITEM = re.compile(r"[\w.][\w .\-]*")
_KNOWN = frozenset({"title", "type", "tags", "source", "not"})


@dataclass(frozen=True)
class FrontMatter:
    """What a document says of itself. Keys that Ragstone does not know are kept as metadata."""

    title: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    source: str | None = None
    negatives: list[str] = field(default_factory=list)
    no_sentences: list[str] = field(default_factory=list)
    """What stands under ``not`` and says nothing: numbers, yes and no, lists, single pairs of words."""
    metadata: dict[str, Any] = field(default_factory=dict)


def split(text: str) -> tuple[str | None, str]:
    """The YAML between the leading ``---`` lines, and the rest; None when the text has no front matter."""
    found = _BLOCK.match(text)
    return (found["yaml"], text[found.end() :]) if found else (None, text)


def with_quoted_items(source: str) -> str:
    """The YAML with the items of its one-line lists quoted, such as ``[How?]``, whose mark YAML takes for its own."""
    return _ONE_LINE_LIST.sub(lambda found: f"{found['key']}[{_quoted(found['items'])}]{found['rest']}", source)


def interpret(mapping: Mapping[Any, Any]) -> FrontMatter:
    """Reads the known keys forgivingly: a lone string is a list of one, a date becomes its ISO form."""
    values = {str(key): value for key, value in mapping.items()}
    tags = _lines(values.get("tags"), commas=True)
    denied = [(one, _sentence(one)) for one in _listed(values.get("not"))]
    return FrontMatter(
        title=_line(values.get("title"), TITLE_MAX),
        type=_line(values.get("type"), TYPE_MAX),
        tags=tags[:TAGS_MAX] if "tags" in values else None,
        source=_line(values.get("source"), 2000),
        negatives=[sentence for _, sentence in denied if sentence],
        no_sentences=[_shown(one) for one, sentence in denied if not sentence and one is not None and one != ""],
        metadata={key: plain_value(value) for key, value in values.items() if key not in _KNOWN},
    )


def with_negatives(body: str, negatives: list[str]) -> tuple[str, int | None, list[tuple[int, int]]]:
    """The body with the sentences that are not so under a heading of their own at its end.

    Returns the text, where the body ends (None without negatives), and the offsets of each sentence.
    """
    if not negatives:
        return body, None, []
    text = body.rstrip() + "\n\n" if body.strip() else ""
    body_end = len(text)
    text += NEGATIVES_HEADING + "\n"
    spans = []
    for sentence in negatives:
        text += "\n"
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence + "\n"
    return text, body_end, spans


def warning_of(no_sentences: list[str], name: str) -> str | None:
    """What to tell the owner of entries of ``not`` that are no sentences; None without any."""
    if not no_sentences:
        return None
    shown = ", ".join(no_sentences[:3]) + (", …" if len(no_sentences) > 3 else "")
    return f"not: of {name} holds what is no sentence and was left out ({shown}); write whole sentences in quotes"


def plain_value(value: Any) -> Any:
    """A YAML value in JSON's types: dates become ISO text, keys become strings."""
    if value is None or isinstance(value, bool | int | float | str):
        return storable_value(value)
    if isinstance(value, Mapping):
        return {storable_text(str(key)): plain_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(inner) for inner in value]
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _quoted(items: str) -> str:
    found = [item for item in _ITEM.findall(items) if item]
    return ", ".join(
        item if item[0] in "\"'" or _PLAIN_ITEM.fullmatch(item) else "'" + item.replace("'", "''") + "'"
        for item in found
    )


def _line(value: Any, longest: int) -> str | None:
    if value is None or isinstance(value, Mapping | list):
        return None
    text = " ".join(str(plain_value(value)).split())
    return text[:longest] or None


def _lines(value: Any, *, commas: bool = False) -> list[str]:
    if isinstance(value, str) and commas:
        value = value.split(",")
    return [line for line in (_line(one, SENTENCE_MAX) for one in _listed(value)) if line]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _sentence(value: Any) -> str | None:
    """The owner's sentence; one with a colon in it, which YAML takes for a key and its value, as it was written."""
    text: str | None = value if isinstance(value, str) else None
    if isinstance(value, Mapping) and len(value) == 1:
        ((key, inner),) = value.items()
        spoken = f"{key}: {plain_value(inner)}" if isinstance(inner, str | int | float) else ""
        text = spoken if len(spoken.split()) >= PAIR_WORDS else None
    line = _line(text, SENTENCE_MAX)
    return line if line and any(letter.isalpha() for letter in line) else None


def _shown(value: Any) -> str:
    return " ".join(str(plain_value(value)).split())[:40]
