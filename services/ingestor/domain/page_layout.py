"""The reading order of a page whose pieces of text are known only by where they stand: columns, then lines."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from services.ingestor.domain.letters import is_right_to_left

GUTTER = 0.7
"""Narrowest white strip between two columns, as a share of the text's size. LaTeX leaves 1.0 at least."""

WORD_GAP = 0.15
"""Narrowest white between two words, as a share of the text's size; a space is 0.25 wide, tight lines have 0.2."""

COLUMN_LINES = 3
"""Fewest lines on each side of a gutter: two lines beside each other happen in every letter head."""

PROSE_CHARS = 15
"""Mean characters of a segment from which a column whose lines stand level with its neighbour's is prose.

Lines of newspaper columns have 25 and more, less where wide spaces cut them in two; cells of tables rarely have 15.
"""

PROSE_FILL = 0.6
"""Share of a column's lines that run over most of its width when it is prose; cells end where they end."""

EDGES_MAX = 60
"""Edges that are tried for a part of a page, those that most segments share; a wide table has 50."""

_LEVEL = 0.3
"""Two lines stand level when their middles differ by less than this share of their size."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text without a wide gap. Coordinates in points, x to the right, y upwards."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    """Font size, points."""

    @property
    def middle(self) -> float:
        """Half way between its lower and upper edge."""
        return (self.bottom + self.top) / 2


@dataclass(frozen=True, slots=True)
class Line:
    """Segments that stand level, from left to right."""

    cells: tuple[Segment, ...]

    @property
    def left(self) -> float:
        """Left edge of the first segment."""
        return self.cells[0].left

    @property
    def right(self) -> float:
        """Right edge of the segment that reaches farthest."""
        return max(cell.right for cell in self.cells)

    @property
    def main(self) -> Segment:
        """The segment with the most text: a raised number does not change a line's size or place."""
        return max(self.cells, key=lambda cell: len(cell.text))

    @property
    def text(self) -> str:
        """All segments as one line, in the order of reading; what stands close together is one word."""
        words = ""
        right_to_left = is_right_to_left("".join(cell.text for cell in self.cells))
        cells = self.cells[::-1] if right_to_left else self.cells
        for n, cell in enumerate(cells):
            before = cells[n - 1]
            gap = before.left - cell.right if right_to_left else cell.left - before.right
            words += " " + cell.text if n and gap > WORD_GAP * before.size else cell.text
        return words


def reading_order(segments: Sequence[Segment], right_to_left: bool = False) -> list[list[Line]]:
    """The blocks of a page in the order in which a person reads them, each a list of lines from top to bottom.

    A block is a column, or what stands over, under or without columns. ``right_to_left`` reads the right column first.
    """
    pending, blocks = [list(segments)], list[list[Line]]()
    while pending:
        part = pending.pop()
        split = _columns(part)
        if split is None:
            if part:
                blocks.append(lines_of(part))
            continue
        over, left, right, under = split
        columns = [right, left] if right_to_left else [left, right]
        pending += [under, *reversed(columns), over]
    return blocks


def lines_of(segments: Sequence[Segment]) -> list[Line]:
    """Segments grouped into lines, from top to bottom. A raised or lowered piece belongs to the line it touches."""
    rows: list[tuple[Segment, list[Segment]]] = []
    for segment in sorted(segments, key=lambda one: -one.middle):
        home = next((row for row in reversed(rows[-3:]) if _level(row[0], segment)), None)
        if home is None:
            rows.append((segment, [segment]))
        else:
            home[1].append(segment)
            if len(segment.text) > len(home[0].text):
                rows[rows.index(home)] = (segment, home[1])
    return [Line(tuple(sorted(cells, key=lambda cell: cell.left))) for _, cells in rows]


def _level(one: Segment, other: Segment) -> bool:
    overlap = min(one.top, other.top) - max(one.bottom, other.bottom)
    return overlap > 0.5 * min(one.top - one.bottom, other.top - other.bottom)


def _columns(part: list[Segment]) -> tuple[list[Segment], list[Segment], list[Segment], list[Segment]] | None:
    """What stands over two columns, the left one, the right one, and what stands under them; None without columns.

    Of all white strips the one with the most text beside it is taken.
    """
    if len(part) < 2 * COLUMN_LINES:
        return None
    size = median(segment.size for segment in part)
    by_height = sorted(part, key=lambda segment: -segment.middle)
    best, best_score = None, 0
    for edge in _edges(part):
        for band in _bands(by_height, edge - GUTTER * size, edge):
            left = [segment for segment in band if segment.right < edge]
            right = [segment for segment in band if segment.right >= edge]
            score = _score(left, right, size)
            if score > best_score:
                best, best_score = (band, left, right), score
    if best is None:
        return None
    band, left, right = best
    # By their places in the list and not by height: what stands exactly level with the band's ends is not of it.
    start = next(n for n, segment in enumerate(by_height) if segment is band[0])
    return by_height[:start], left, right, by_height[start + len(band) :]


def _edges(part: list[Segment]) -> list[float]:
    """Where a column may begin: left edges shared by several segments, and places just after shared right edges."""
    size = median(segment.size for segment in part)
    edges = Counter(float(round(segment.left)) for segment in part)
    edges.update(round(segment.right) + GUTTER * size + 1 for segment in part)
    return sorted(edge for edge, count in edges.most_common(EDGES_MAX) if count >= COLUMN_LINES)


def _bands(by_height: list[Segment], start: float, end: float) -> Iterator[list[Segment]]:
    """Neighbouring segments that all leave the strip from ``start`` to ``end`` white, from the top down."""
    band: list[Segment] = []
    for segment in by_height:
        if segment.right <= start + 1 or segment.left >= end - 1:
            band.append(segment)
        else:
            yield band
            band = []
    yield band


def _score(left: list[Segment], right: list[Segment], size: float) -> int:
    """How many lines stand beside each other when these are two columns; 0 when they are none."""
    if min(len(left), len(right)) < COLUMN_LINES:
        return 0
    upper, lower = min(left[0].middle, right[0].middle), max(left[-1].middle, right[-1].middle)
    left_rows = _rows([segment for segment in left if lower - size <= segment.middle <= upper + size], size)
    right_rows = _rows([segment for segment in right if lower - size <= segment.middle <= upper + size], size)
    few, many = sorted((left_rows, right_rows), key=len)
    if len(few) < COLUMN_LINES:
        return 0
    heights = sorted(row[0].middle for row in many)
    level = sum(_stands_at(row[0].middle, heights, _LEVEL * size) for row in few)
    if level > 0.5 * len(few) and not (_is_prose(left_rows) and _is_prose(right_rows)):
        return 0
    return len(left_rows) + len(right_rows)


def _rows(segments: list[Segment], size: float) -> list[list[Segment]]:
    """Segments, from the top down, grouped by their height."""
    rows: list[list[Segment]] = []
    for segment in segments:
        if rows and rows[-1][0].middle - segment.middle < _LEVEL * size:
            rows[-1].append(segment)
        else:
            rows.append([segment])
    return rows


def _stands_at(height: float, heights: list[float], within: float) -> bool:
    n = bisect_left(heights, height - within)
    return n < len(heights) and heights[n] <= height + within


def _is_prose(rows: list[list[Segment]]) -> bool:
    """Judged by the segments that share an edge: there may be more than one column on a side."""
    cells = [cell for row in rows for cell in row]
    edges = Counter((round(cell.left), 0) for cell in cells)
    edges.update((0, round(cell.right)) for cell in cells)
    left, right = edges.most_common(1)[0][0]
    column = [cell for cell in cells if (abs(cell.right - right) if right else abs(cell.left - left)) < 1.5]
    widest = max(cell.right - cell.left for cell in column)
    full = sum(cell.right - cell.left > PROSE_FILL * widest for cell in column)
    return sum(len(cell.text) for cell in column) >= PROSE_CHARS * len(column) and full >= PROSE_FILL * len(column)
