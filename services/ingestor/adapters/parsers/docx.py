"""Word files (.docx): paragraphs, lists and tables in their order, with notes and comments after what they belong to.

Read by lxml and not by python-docx or mammoth; docs/files.md says what those lose. No tag's namespace is compared,
because strict and transitional files differ in it.
"""

import zipfile
from collections.abc import Iterator

from services.ingestor.adapters.archives import checked_archive
from services.ingestor.adapters.parsers.docx_styles import Paragraphs, attribute, value_of
from services.ingestor.adapters.parsers.xml_parts import XmlElement, part, target, tree, unreadable
from services.ingestor.domain.documents import Extracted
from services.ingestor.domain.letters import resolved
from services.ingestor.domain.markdown_pieces import paragraph, pipe_table
from services.shared.contracts.documents import TITLE_MAX

COLUMNS_MAX = 64
"""Columns that one cell may span; Word itself allows 63."""

_UNSEEN = frozenset(
    ["del", "moveFrom", "instrText", "delText", "Fallback", "pPr", "rPr", "tblPr", "sectPr", "sdtPr", "txbxContent"]
)
"""Deleted text, codes of fields, properties, and what a picture or older Word stands for."""

_SAID = {"tab": " ", "ptab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}


def parse(data: bytes, name: str) -> Extracted:
    """The document's text as Markdown. Headers, footers and pictures are left out.

    Raises UNREADABLE_DOCUMENT when it is no Word file or a damaged one.
    """
    archive = checked_archive(data, name)
    document = _Document(archive, name)
    text = document.text()
    return Extracted(text=text, markdown=True, title=document.title(text))


class _Document:
    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._path = self._main_part()
        self._related = self._relations(self._path)
        self._paragraphs = Paragraphs()
        if (styles := self._tree("styles")) is not None:
            self._paragraphs.read_styles(styles)
        if (lists := self._tree("numbering")) is not None:
            self._paragraphs.read_lists(lists)
        self._notes = {kind: self._read_notes(kind) for kind in _NOTES.values()}

    def text(self) -> str:
        data = part(self._archive, self._path)
        body = tree(data, self._name).find("{*}body") if data else None
        if body is None:
            raise unreadable(self._name, "it is no Word file, whatever its name says; send it under its real extension")
        blocks: list[str] = []
        depth = -1
        for block in self._blocks(body):
            words = block.lstrip(" ")
            if not words.startswith("- "):
                if depth >= 0:
                    blocks[-1] += "\n"
                depth = -1
                blocks.append(block + "\n\n")
                continue
            # An item two levels below the one above it, or below none, would be code in Markdown.
            depth = min((len(block) - len(words)) // 2, depth + 1)
            blocks.append("  " * depth + words + "\n")
        return "".join(blocks).rstrip() + "\n" if blocks else ""

    def title(self, text: str) -> str | None:
        """The title that the file states, when its text begins with it too; else the first heading of its beginning."""
        data = part(self._archive, "docProps/core.xml")
        found = tree(data, self._name).find("{*}title") if data else None
        words = " ".join((found.text or "").split()) if found is not None else ""
        if words and words.casefold() in " ".join(text[:3000].split()).casefold():
            return words[:TITLE_MAX]
        heading = next((line for line in text[:1000].split("\n") if line.startswith("#")), "")
        return heading.lstrip("# ")[:TITLE_MAX] or None

    def _main_part(self) -> str:
        for kind, path in self._relations("").items():
            if kind == "officeDocument":
                return path
        return "word/document.xml"

    def _relations(self, path: str) -> dict[str, str]:
        """Parts that belong to a part, by the last word of their kind."""
        folder, _, file = path.rpartition("/")
        data = part(self._archive, f"{folder}/_rels/{file}.rels" if path else "_rels/.rels")
        if not data:
            return {}
        return {
            attribute(one, "Type").rsplit("/", 1)[-1]: target(path, attribute(one, "Target").lstrip("/"))
            if not attribute(one, "Target").startswith("/")
            else attribute(one, "Target").lstrip("/")
            for one in tree(data, self._name)
            if isinstance(one.tag, str) and attribute(one, "TargetMode") != "External"
        }

    def _tree(self, kind: str) -> XmlElement | None:
        data = part(self._archive, self._related.get(kind, ""))
        return tree(data, self._name) if data else None

    def _read_notes(self, kind: str) -> dict[str, str]:
        root = self._tree(kind)
        notes: dict[str, str] = {}
        for note in root if root is not None else ():
            if not isinstance(note.tag, str) or attribute(note, "type") in ("separator", "continuationSeparator"):
                continue
            words = " ".join(" ".join(_words(one)[0].split()) for one in note.iter("{*}p")).strip()
            author = attribute(note, "author")
            who = f"Comment by {author}" if author else "Comment" if kind == "comments" else "Note"
            if words:
                notes[attribute(note, "id")] = f"[{who}: {words}]"
        return notes

    def _blocks(self, parent: XmlElement) -> Iterator[str]:
        """Paragraphs and tables; those that a content control or a tracked insertion wraps stand there themselves."""
        for element in parent:
            tag = _tag(element)
            if tag == "p":
                yield from self._paragraph(element)
            elif tag == "tbl":
                table = pipe_table(self._rows(element))
                if table:
                    yield table
                yield from self._said_beside(element)
            elif tag not in _UNSEEN:
                yield from self._blocks(element)

    def _paragraph(self, element: XmlElement) -> Iterator[str]:
        mark, number = self._paragraphs.lead(element)
        words, boxes = _words(element)
        words = words.strip()
        if words and mark.startswith("#"):
            yield mark + number + paragraph(" ".join(words.split()))
        elif words:
            lines = paragraph(words).split("\n")
            yield mark + number + ("\n" + " " * len(mark)).join(line.strip() for line in lines if line.strip())
        yield from self._said_beside(element)
        for box in boxes:
            yield from self._blocks(box)

    def _said_beside(self, element: XmlElement) -> Iterator[str]:
        """Notes and comments whose marks stand in a paragraph or table."""
        for reference in element.iter(*(f"{{*}}{tag}" for tag in _NOTES)):
            note = self._notes[_NOTES[_tag(reference)]].get(attribute(reference, "id"))
            if note:
                yield note

    def _rows(self, table: XmlElement) -> list[list[str]]:
        """The cells by column. What is merged downwards is repeated in each row, so that a row says all by itself."""
        rows: list[list[str]] = []
        for row in _rows_of(table):
            cells: list[str] = []
            cells += [""] * _count(row.find("{*}trPr/{*}gridBefore"))
            for cell in _cells_of(row):
                properties = cell.find("{*}tcPr")
                span = max(1, _count(properties.find("{*}gridSpan")) if properties is not None else 1)
                merged = properties.find("{*}vMerge") if properties is not None else None
                goes_on = merged is not None and value_of(merged) != "restart"
                above = rows[-1][len(cells)] if goes_on and rows and len(cells) < len(rows[-1]) else ""
                cells += [above or self._cell(cell)] + [""] * (span - 1)
            rows.append(cells)
        return rows

    def _cell(self, cell: XmlElement) -> str:
        """A cell's words on one line; a table in it as ``a, b; c, d``. The XML reader bounds how deep that goes."""
        pieces: list[str] = []
        for element in cell:
            tag = _tag(element)
            if tag == "p":
                number = self._paragraphs.lead(element)[1]
                words, boxes = _words(element)
                pieces.append(number + " ".join(words.split()))
                pieces += [self._cell(box) for box in boxes]
            elif tag == "tbl":
                rows = (", ".join(value for value in row if value) for row in self._rows(element))
                pieces.append("; ".join(row for row in rows if row))
            elif tag not in _UNSEEN:
                pieces.append(self._cell(element))
        return " ".join(piece for piece in pieces if piece.strip())


def _tag(element: XmlElement) -> str:
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def _count(element: XmlElement | None) -> int:
    said = value_of(element)
    return min(int(said), COLUMNS_MAX) if said.isdigit() and len(said) < 6 else 0


def _rows_of(table: XmlElement) -> Iterator[XmlElement]:
    for element in table:
        if _tag(element) == "tr":
            yield element
        elif _tag(element) not in _UNSEEN:
            yield from _rows_of(element)


def _cells_of(row: XmlElement) -> Iterator[XmlElement]:
    for element in row:
        if _tag(element) == "tc":
            yield element
        elif _tag(element) not in _UNSEEN:
            yield from _cells_of(element)


def _words(paragraph: XmlElement) -> tuple[str, list[XmlElement]]:
    """A paragraph's words, and the text boxes anchored in it."""
    pieces: list[str] = []
    boxes: list[XmlElement] = []
    pending = [paragraph]
    while pending:
        element = pending.pop()
        tag = _tag(element)
        if tag == "txbxContent":
            boxes.append(element)
        elif tag == "t":
            pieces.append(element.text or "")
        elif tag in _SAID:
            pieces.append(_SAID[tag])
        elif tag not in _UNSEEN:
            pending.extend(reversed(element))
    return resolved("".join(pieces)), boxes
