"""Tables on a page that is known only as lines: rows whose cells stand under each other."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.ingestor.domain.letters import is_right_to_left
from services.ingestor.domain.markdown_pieces import pipe_table
from services.ingestor.domain.page_layout import Line, Segment

ROWS = 3
"""Fewest rows: two lines with a gap in them are a letter's head or a signature."""

FILL = 0.5
"""Share of the cells that hold something in a table; gaps that stand under each other by chance hold less."""

_MARK = re.compile(r"(?:[•‣◦▪●○■–—*·-]|\(?[\w]{1,3}[.)])")


@dataclass(frozen=True)
class Table:
    """Rows of cells as a Markdown table, the first one as its header."""

    text: str
    size: float


def tables_among(block: Sequence[Line]) -> Iterator[Line | Table]:
    """The lines of a block, with those that make up a table as that table."""
    run: list[Line] = []
    for line in [*block, None]:
        if line is not None and len(line.cells) > 1 and (not run or _follows(run[-1], line)):
            run.append(line)
            continue
        yield from _table(run)
        run = []
        if line is not None:
            if len(line.cells) > 1:
                run = [line]
            else:
                yield line


def _follows(before: Line, line: Line) -> bool:
    size = max(before.main.size, line.main.size)
    return before.main.middle - line.main.middle < 3 * size


def _table(run: list[Line]) -> Iterator[Line | Table]:
    columns = _columns(run) if len(run) >= ROWS else []
    rows = [_row(line, columns) for line in run] if len(columns) > 1 else []
    if is_right_to_left("".join(cell for row in rows for cell in row)):
        rows = [row[::-1] for row in rows]
    filled = sum(bool(cell) for row in rows for cell in row)
    if not rows or filled < FILL * len(rows) * len(columns) or _is_list(rows):
        yield from run
        return
    # Titles over groups of columns are no header: the row under them names the columns.
    first = 0
    while len(rows) - first > ROWS and sum(map(bool, rows[first])) < FILL * len(columns):
        first += 1
    yield from run[:first]
    yield Table(pipe_table(rows[first:]), run[first].main.size)


def _columns(run: list[Line]) -> list[tuple[float, float]]:
    """The columns' edges, by the rows with the usual number of cells; a heading over two columns joins none."""
    usual = Counter(len(line.cells) for line in run).most_common(1)[0][0]
    spans = sorted((cell.left, cell.right) for line in run if len(line.cells) == usual for cell in line.cells)
    columns: list[tuple[float, float]] = []
    for left, right in spans:
        if columns and left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _row(line: Line, columns: list[tuple[float, float]]) -> list[str]:
    cells = [""] * len(columns)
    for cell in line.cells:
        n = max(range(len(columns)), key=lambda column: _overlap(cell, columns[column]))
        cells[n] = f"{cells[n]} {cell.text}".strip()
    return cells


def _overlap(cell: Segment, column: tuple[float, float]) -> float:
    return min(cell.right, column[1]) - max(cell.left, column[0])


def _is_list(rows: list[list[str]]) -> bool:
    """A list's marks stand apart from its words, like a first column."""
    return len(rows[0]) == 2 and all(_MARK.fullmatch(row[0]) or not row[0] for row in rows)
