"""What python-calamine does not tell of a workbook: number formats, and how far out its cells stand."""

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field

from services.ingestor.adapters.parsers.xml_parts import XmlElement, elements, part, target, tree, unreadable
from services.ingestor.domain.number_formats import BUILT_IN, GENERAL

CELLS_MAX = 8_000_000
"""Cells of a sheet's rectangle. The library makes room for all of it, filled or not, and a single cell in the last
row and column would ask for 500 GB."""

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINKS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_CELL = re.compile(r"([A-Z]{1,20})[0-9]{1,20}")

WORKBOOK = "xl/workbook.xml"


@dataclass
class SheetFormats:
    """A sheet's number formats by row and column, both from 0 on, and its formulas that hold no value."""

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    uncomputed: int = 0


class Formats:
    """The formats of one workbook."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._styles = self._codes()
        self._paths = self._sheet_paths()

    def of(self, sheet: str) -> SheetFormats:
        """The formats of a sheet. Raises UNREADABLE_DOCUMENT when its cells span too large a rectangle."""
        found = SheetFormats()
        path = self._paths.get(sheet)
        if path is None or path not in self._archive.namelist():
            return found
        known: dict[tuple[object, ...], dict[int, str]] = {}
        last_row = last_column = row_at = -1
        for row in elements(self._archive, path, f"{_MAIN}row", self._name):
            row_at = _number(row.get("r"), row_at + 2) - 1
            cells = row.findall(f"{_MAIN}c")
            if not cells:
                continue
            columns = _columns(cells)
            last_row, last_column = max(last_row, row_at), max(last_column, columns[-1])
            if (last_row + 1) * (last_column + 1) > CELLS_MAX:
                why = f"the cells of its sheet {sheet!r} lie too far apart; remove the one that stands far out"
                raise unreadable(self._name, why)
            # Rows of a list are formatted alike: one mapping serves them all.
            styles = (*columns, *[cell.get("s") for cell in cells])
            formats = known.get(styles)
            if formats is None:
                named = zip(columns, styles[len(columns) :], strict=True)
                formats = known[styles] = {n: self._styles[style] for n, style in named if style in self._styles}
            if formats:
                found.rows[row_at] = formats
            if row.find(f"{_MAIN}c/{_MAIN}f") is not None:
                found.uncomputed += sum(1 for cell in cells if _is_uncomputed(cell))
        return found

    def _codes(self) -> dict[str, str]:
        """The format of each cell style by the number that cells name; General ones are left out."""
        data = part(self._archive, "xl/styles.xml")
        if data is None:
            return {}
        root = tree(data, self._name)
        own = {one.get("numFmtId"): one.get("formatCode", GENERAL) for one in root.iter(f"{_MAIN}numFmt")}
        styles = root.find(f"{_MAIN}cellXfs")
        codes = {}
        for n, style in enumerate(styles if styles is not None else ()):
            number = style.get("numFmtId", "0")
            code = own.get(number) or BUILT_IN.get(_number(number, 0), GENERAL)
            if code != GENERAL:
                codes[str(n)] = code
        return codes

    def _sheet_paths(self) -> dict[str, str]:
        workbook, links = part(self._archive, WORKBOOK), part(self._archive, "xl/_rels/workbook.xml.rels")
        if workbook is None or links is None:
            return {}
        paths = {
            link.get("Id"): target(WORKBOOK, link.get("Target", "")) if not _absolute(link) else link.get("Target")[1:]
            for link in tree(links, self._name)
        }
        sheets = tree(workbook, self._name).iter(f"{_MAIN}sheet")
        return {sheet.get("name", ""): paths.get(sheet.get(f"{_LINKS}id"), "") for sheet in sheets}


def _absolute(link: XmlElement) -> bool:
    return bool(link.get("Target", "").startswith("/"))


def _columns(cells: Sequence[XmlElement]) -> Sequence[int]:
    """The column of each cell, ascending; cells side by side need not be looked at one by one."""
    first, last = _column(cells[0]), _column(cells[-1])
    if first is not None and last == first + len(cells) - 1:
        return range(first, last + 1)
    columns: list[int] = []
    for cell in cells:
        said = _column(cell)
        columns.append(said if said is not None else columns[-1] + 1 if columns else 0)
    return sorted(columns)


def _column(cell: XmlElement) -> int | None:
    found = _CELL.fullmatch(cell.get("r") or "")
    if not found:
        return None
    number = 0
    for letter in found[1]:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _is_uncomputed(cell: XmlElement) -> bool:
    value = cell.find(f"{_MAIN}v")
    return cell.find(f"{_MAIN}f") is not None and (value is None or not value.text)


def _number(said: str | None, otherwise: int) -> int:
    return int(said) if said and said.isdecimal() and len(said) < 10 else otherwise
