"""JSON as text: objects with a ``text`` become sections, anything else becomes ``path: value`` lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.front_matter import interpret, plain_value, warning_of, with_negatives

_DESCRIPTION = frozenset({"id", "_id", "title", "text", "type", "tags", "source", "metadata", "not", "origin"})
_PAIRS_IN_BLOCK = 20
"""Lines of a flattened value between two blank lines, so that chunks end at a line."""


def extract(value: Any) -> Extracted:
    """What a JSON value says, as text."""
    if isinstance(value, Mapping) and isinstance(value.get("text"), str):
        return _one(value)
    if _is_list_of_records(value):
        described = [interpret({"not": record.get("not")}) for record in value]
        denied = [sentence for one in described for sentence in one.negatives]
        text, body_end, negatives = with_negatives(_sections(value), denied)
        warning = warning_of([shown for one in described for shown in one.no_sentences], "a record")
        return Extracted(text=text, markdown=True, warning=warning, negatives=negatives, body_end=body_end)
    return Extracted(text=_blocks(list(flat_lines(value))), markdown=False)


def _is_list_of_records(value: Any) -> bool:
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        return False
    return any(isinstance(item.get("text"), str) for item in value)


def flat_lines(value: Any) -> Iterator[str]:
    """``path: value`` for every leaf, in order; without recursion, so that depth is no danger."""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, Mapping):
            pending += [(f"{path}.{key}" if path else str(key), inner) for key, inner in reversed(list(node.items()))]
        elif isinstance(node, list):
            pending += [(f"{path}[{n}]", node[n]) for n in range(len(node) - 1, -1, -1)]
        elif node is not None and node != "":
            shown = str(node).lower() if isinstance(node, bool) else str(node)
            yield f"{path}: {shown}" if path else shown


def _one(record: Mapping[str, Any]) -> Extracted:
    """A single object describes the document: title, type, tags and source are its own."""
    described = interpret({key: record[key] for key in record if key in _DESCRIPTION - {"text", "id", "_id"}})
    body = "\n\n".join(part for part in (_clean(record["text"]), _others(record)) if part)
    text, body_end, negatives = with_negatives(body, described.negatives)
    given = record.get("metadata")
    return Extracted(
        text=text,
        markdown=True,
        title=described.title,
        type=described.type,
        tags=described.tags,
        source=described.source,
        metadata={str(key): plain_value(inner) for key, inner in given.items()} if isinstance(given, Mapping) else {},
        warning=warning_of(described.no_sentences, "the object"),
        negatives=negatives,
        body_end=body_end,
    )


def _sections(records: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for n, record in enumerate(records, start=1):
        named = record.get("title") or record.get("id") or record.get("_id") or f"Item {n}"
        body = record.get("text")
        texts = (_clean(body) if isinstance(body, str) else "", _others(record))
        parts.append("\n\n".join((f"# {' '.join(str(named).split())}", *(text for text in texts if text))))
    return "\n\n".join(parts) + "\n"


def _others(record: Mapping[str, Any]) -> str:
    """The fields beside the text and the description: they may hold what somebody asks for."""
    return "\n".join(flat_lines({key: record[key] for key in record if key not in _DESCRIPTION}))


def _blocks(lines: list[str]) -> str:
    groups = [lines[at : at + _PAIRS_IN_BLOCK] for at in range(0, len(lines), _PAIRS_IN_BLOCK)]
    return "\n\n".join("\n".join(group) for group in groups)


def _clean(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
