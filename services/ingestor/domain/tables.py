"""Rows of cells as Markdown tables with one line a row, or as lines of ``column: value`` where those are too wide."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from services.ingestor.domain.cutting import words
from services.ingestor.domain.stretches import Stretches

WIDE_COLUMNS = 40
WIDE_HEADER_WORDS = 60
WIDE_ROW_WORDS = 200
"""Above any of these a row is no line to read, and its header no lead that a chunk can repeat."""

PAIRS_IN_BLOCK = 12
"""Lines of a wide row between two blank lines, so that chunks end at a line."""

HEADER_CELL_MAX = 200

_DEEPEST_CUT = 8
"""How often a sheet is cut by blank rows and columns in turn."""

_BREAK = re.compile(r"\s*[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]\s*")
_BAR = re.compile(r"\\*\|")
_OPENS_A_BLOCK = re.compile(r"\s*(?:[#>*+`~=|-]|\d{1,9}[.)]\s)")
_NUMBER = re.compile(r"[-+(]?\s*[^\w\s]?\s*\d[\d.,'’\u00a0\u202f ]*(?:[eE][-+]?\d+)?\s*(?:%|[^\w\s]|[A-Z]{3})?\)?")
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[ T]\d.*)?|\d{1,2}:\d{2}(?::\d{2})?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ADDRESS = re.compile(r"\S+@\S+\.\S+|https?://\S+")
_TRUTH = frozenset({"true", "false"})


@dataclass(frozen=True)
class Row:
    """A row with its number as a spreadsheet shows it, from 1 on."""

    number: int
    cells: Sequence[str]

    @property
    def filled(self) -> int:
        """How many cells hold something."""
        return sum(1 for cell in self.cells if cell)


def cell_text(value: str) -> str:
    """What a cell says, on one line."""
    return value.strip() if value.isprintable() else _BREAK.sub(" ", value).strip()


def shown_in_table(value: str) -> str:
    """A cell in a Markdown table; a bar in it, and backslashes before that, are escaped."""
    return _BAR.sub(lambda found: "\\" * (2 * len(found[0]) - 1) + "|", value) if "|" in value else value


def looks_like_header(row: Row) -> bool:
    """Do the cells name columns? Names are words; numbers (but years), dates and addresses are data."""
    filled = [cell for cell in row.cells if cell]
    if not filled or any(len(cell) > HEADER_CELL_MAX or _is_data(cell) for cell in filled):
        return False
    return not all(_YEAR.fullmatch(cell) for cell in filled)


def _is_data(cell: str) -> bool:
    if _YEAR.fullmatch(cell):
        return False
    return bool(
        _NUMBER.fullmatch(cell) or _DATE.fullmatch(cell) or _ADDRESS.fullmatch(cell) or cell.casefold() in _TRUTH
    )


def usual_width(rows: Sequence[Row]) -> int:
    """The number of columns that most of the rows fill; blank cells at the end do not count. The larger when equal."""
    counts = Counter(_width(row) for row in rows)
    return max(counts, key=lambda width: (counts[width], width), default=0)


def _width(row: Row) -> int:
    last = len(row.cells)
    while last and not row.cells[last - 1]:
        last -= 1
    return last


def sub_tables(rows: Sequence[Row], deep: int = 0) -> Iterator[list[Row]]:
    """The tables of a sheet: what blank rows and blank columns keep apart, from top to bottom.

    A single column beside a blank one stays with its neighbour: it is more often a label than a table.
    """
    for band in _bands(rows):
        parts = _side_by_side(band) if deep < _DEEPEST_CUT else [band]
        if len(parts) == 1:
            yield parts[0]
        else:
            for part in parts:
                yield from sub_tables(part, deep + 1)


def _bands(rows: Sequence[Row]) -> Iterator[list[Row]]:
    band: list[Row] = []
    for row in rows:
        if any(row.cells):
            band.append(row)
        elif band:
            yield band
            band = []
    if band:
        yield band


def _side_by_side(band: list[Row]) -> list[list[Row]]:
    width = max(len(row.cells) for row in band)
    used = bytearray(width)
    for row in band:
        for n, cell in enumerate(row.cells):
            if cell:
                used[n] = 1
    runs = [(found.start(), found.end()) for found in re.finditer(b"\x01+", bytes(used))]
    kept: list[list[int]] = []
    parts: list[list[tuple[int, int]]] = []
    for run in runs:
        tall = sum(1 for row in band if any(row.cells[run[0] : run[1]])) > 1
        table = tall and run[1] - run[0] > 1
        if parts and not (table and kept[-1][0]):
            parts[-1].append(run)
            kept[-1][0] |= table
        else:
            parts.append([run])
            kept.append([table])
    return [[Row(row.number, [cell for a, b in part for cell in row.cells[a:b]]) for row in band] for part in parts]


class TableWriter:
    """Writes tables into a text. ``place`` names a row's place; ``level`` is that of the heading above."""

    def __init__(self, out: Stretches, place: Callable[[int], str], level: int) -> None:
        self._out = out
        self._place = place
        self._level = level
        self._header: Row | None = None
        """Of the table before: a part below a blank row that has none goes on with it."""

    def write(self, rows: Sequence[Row]) -> None:
        """One table: lines above the header as text, then the rows under their header."""
        rows = [row for row in rows if any(row.cells)]
        width = max((_width(row) for row in rows), default=0)
        rows = self._titles(rows, width)
        if not rows:
            return
        if width == 1:
            for row in rows:
                self._line(row.cells[0], row.number)
            self._out.gap()
            return
        header = rows[0] if looks_like_header(rows[0]) else None
        body = rows[1:] if header else rows
        if header is None and self._header is not None and len(self._header.cells) >= width:
            header = self._header
        self._header = header
        names = list(header.cells[:width]) if header else []
        names += [""] * (width - len(names))
        columns = [n for n in range(width) if names[n] or any(n < len(row.cells) and row.cells[n] for row in body)]
        names = [names[n] or f"column {n + 1}" for n in range(width)]
        start = header.number if header is rows[0] and header else body[0].number
        if _too_wide(names, body):
            self._records(names, body or rows)
        else:
            self._table(names, columns, body, start)

    def _titles(self, rows: Sequence[Row], width: int) -> Sequence[Row]:
        """Rows of one cell above a table of several columns are its title, or notes."""
        first = 0
        while width > 1 and first < len(rows) and rows[first].filled == 1 and _width(rows[first]) == 1:
            first += 1
        # A table whose rows are all of one cell is a list; its last row stays.
        for row in rows[:first]:
            self._line(next(cell for cell in row.cells if cell), row.number)
        if first:
            self._out.gap()
        return rows[first:]

    def _line(self, cell: str, number: int) -> None:
        self._out.add(("\\" if _OPENS_A_BLOCK.match(cell) else "") + cell + "\n", self._place(number))

    def _table(self, names: list[str], columns: list[int], body: Sequence[Row], start: int) -> None:
        self._out.add(f"{_row([names[n] for n in columns])}|{'---|' * len(columns)}\n", self._place(start))
        for row in body:
            cells = [row.cells[n] if n < len(row.cells) else "" for n in columns]
            self._out.add(_row(cells), self._place(row.number))
        self._out.gap()

    def _records(self, names: list[str], body: Sequence[Row]) -> None:
        """Each row under a heading that says its number and first cell; blank cells are left out."""
        for row in body:
            pairs = [(names[n], cell) for n, cell in enumerate(row.cells) if cell]
            key = pairs[0][1] if len(pairs[0][1]) <= HEADER_CELL_MAX / 2 else ""
            marks = "#" * min(6, self._level + 1)
            self._out.add(f"{marks} Row {row.number}{': ' + key if key else ''}\n", self._place(row.number))
            for at in range(0, len(pairs), PAIRS_IN_BLOCK):
                lines = (f"{name}: {cell}" for name, cell in pairs[at : at + PAIRS_IN_BLOCK])
                block = "\n".join(("\\" if _OPENS_A_BLOCK.match(line) else "") + line for line in lines)
                self._out.add(f"\n{block}\n")
            self._out.gap()


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(shown_in_table(cell) for cell in cells)} |\n"


def _too_wide(names: Sequence[str], body: Sequence[Row]) -> bool:
    if len(names) > WIDE_COLUMNS or words(" ".join(names)) > WIDE_HEADER_WORDS:
        return True
    sample = body[:: max(1, len(body) // 50)][:50]
    return sum(words(" ".join(row.cells)) for row in sample) > WIDE_ROW_WORDS * max(1, len(sample))
