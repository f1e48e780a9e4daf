"""Jupyter notebooks: words as they are, code fenced, outputs in short; read as the JSON that they are."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from services.ingestor.adapters.parsers.decode import decode
from services.ingestor.adapters.parsers.xml_parts import unreadable
from services.ingestor.domain.blocks import h1_of, markdown_blocks
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.storable import storable_text
from services.ingestor.domain.stretches import Stretches, joined

OUTPUT_LINES = 20
OUTPUT_CHARACTERS = 2_000
"""An output that is longer is cut: a notebook prints tables and logs that nobody asks for."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_TICKS = re.compile(r"`{3,}")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def parse(data: bytes, name: str) -> Extracted:
    """The cells in order, each with its number as its place."""
    decoded = decode(data, name)
    try:
        notebook = json.loads(decoded.text) if decoded.text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise unreadable(name, f"it is no notebook, because it is not valid JSON ({str(error)[:100]})") from error
    if not isinstance(notebook, Mapping):
        raise unreadable(name, "it is JSON but no notebook; send it as .json")
    language = _language(notebook)
    out, cut = Stretches(), 0
    for n, cell in enumerate(_cells(notebook), start=1):
        for piece in _pieces(cell, language):
            shown = _short(piece) if piece.startswith("Output:") else piece
            cut += shown != piece
            out.add(shown.strip("\n") + "\n", f"cell {n}")
            out.gap()
    text = out.text
    note = f"{cut} outputs of {name} were longer than {OUTPUT_LINES} lines and were cut" if cut else None
    return Extracted(
        text=text,
        markdown=True,
        title=h1_of(markdown_blocks(text[:2000]), text),
        warning=joined([decoded.warning, note]),
        places=out.places,
    )


def _language(notebook: Mapping[str, Any]) -> str:
    about = notebook.get("metadata")
    for key, inner in (("language_info", "name"), ("kernelspec", "language")):
        section = about.get(key) if isinstance(about, Mapping) else None
        said = section.get(inner) if isinstance(section, Mapping) else None
        if isinstance(said, str) and re.fullmatch(r"[\w+#.-]{1,30}", said):
            return said
    return ""


def _cells(notebook: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The cells; those of the notebooks before 2015 lie in work sheets."""
    holders = [notebook, *_mappings(notebook.get("worksheets"))]
    for holder in holders:
        yield from _mappings(holder.get("cells"))


def _pieces(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    source = _text(cell.get("source", cell.get("input")))
    if cell.get("cell_type") == "code":
        if source.strip():
            yield _fenced(source, language)
        for output in _mappings(cell.get("outputs")):
            said = _COLOURS.sub("", _output(output))
            if said.strip():
                yield f"Output:\n\n{_fenced(said, '')}"
    elif cell.get("cell_type") == "heading":
        level = cell.get("level")
        yield f"{'#' * (level if isinstance(level, int) and 0 < level < 7 else 1)} {' '.join(source.split())}"
    elif source.strip():
        yield source + _closing(source)


def _output(output: Mapping[str, Any]) -> str:
    """Printed text, a plain result, or the last line of an error; pictures and pages say nothing here."""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    data = output.get("data")
    return _text(data.get("text/plain") if isinstance(data, Mapping) else output.get("text"))


def _short(piece: str) -> str:
    lines = piece.split("\n")
    fence = lines[2]
    kept = "\n".join(lines[3:-1][:OUTPUT_LINES])[:OUTPUT_CHARACTERS]
    return piece if len(kept) == len("\n".join(lines[3:-1])) else "\n".join([*lines[:3], kept, "…", fence])


def _fenced(code: str, language: str) -> str:
    ticks = "`" * max([3, *(len(found) + 1 for found in _TICKS.findall(code))])
    code = code.strip("\n")
    return f"{ticks}{language}\n{code}\n{ticks}"


def _closing(source: str) -> str:
    """The fence that a cell forgot to close; it would swallow the cells that follow."""
    opened = ""
    for mark in _FENCE.findall(source):
        if not opened:
            opened = mark
        elif mark[0] == opened[0] and len(mark) >= len(opened):
            opened = ""
    return f"\n{opened}" if opened else ""


def _text(value: Any) -> str:
    """A text, which a notebook may write as a list of lines."""
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    return storable_text(value.replace("\r\n", "\n").replace("\r", "\n")) if isinstance(value, str) else ""


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    yield from (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else ()
