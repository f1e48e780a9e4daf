"""What stands at the edges of page after page: running headers and footers, and page numbers."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from services.ingestor.domain.page_layout import Line, Segment, lines_of

EDGE = 0.14
"""Share of the page's height, at its top and at its foot, in which running lines stand: 4 cm of an A4 page."""

EDGE_LINES = 3
"""Lines from each end of a page that may be running ones."""

REPEATED = 0.4
"""Share of the pages on which a line repeats. Headers of left and right pages differ, so each is on half of them."""

FEWEST = 3
"""A line on two pages may be said twice; one on three, at the same edge each time, is not read but printed."""

_DIGITS = re.compile(r"\d+")
_NUMBER_AT_AN_END = re.compile(r"^\W{0,3}(\d{1,5})\b|\b(\d{1,5})\W{0,3}$")
_ONLY_A_NUMBER = re.compile(
    r"\W{0,3}(?:page|p\.|seite|página|pagina|pág\.)?\s?(\d{1,5})(?:\s?(?:/|\||of|von|de|sur|di)\s?\d{1,5})?\W{0,3}",
    re.IGNORECASE,
)
_RUNNING_MAX = 120
"""Characters of the longest line that is one because a page number stands at its end."""


@dataclass(frozen=True)
class Page:
    """A page as it was found: its number from 1 on, and its text by place."""

    number: int
    segments: Sequence[Segment]
    """What runs along the page."""
    aside: Sequence[Segment] = ()
    """What runs across it or aslant: a watermark, a label of an axis."""
    is_picture: bool = False
    """Whether it holds a picture and no text."""
    height: float = 0.0


@dataclass
class _Edges:
    """Lines at the edges of one page."""

    found: list[tuple[Literal["top", "foot"], int, Line]] = field(default_factory=list)


def without_running_lines(pages: Sequence[Page]) -> list[Sequence[Segment]]:
    """The segments of each page without what repeats at the edges of most pages, and without page numbers."""
    edges = [_edges(page) for page in pages]
    repeated = _repeated(edges)
    numbered = _numbered(pages, edges)
    kept: list[Sequence[Segment]] = []
    for n, page in enumerate(pages):
        dropped: set[int] = set()
        for side, depth, line in edges[n].found:
            if (side, _shape(line)) in repeated or (n, side, depth) in numbered:
                dropped.update(id(cell) for cell in line.cells)
        kept.append([segment for segment in page.segments if id(segment) not in dropped])
    return kept


def repeated_aside(pages: Sequence[Page]) -> set[str]:
    """Texts across or aslant that stand on most pages: watermarks."""
    counts = Counter(text for page in pages for text in {segment.text for segment in page.aside})
    return {text for text, count in counts.items() if count >= max(FEWEST, REPEATED * len(pages))}


def _edges(page: Page) -> _Edges:
    edges = _Edges()
    if not page.segments:
        return edges
    lines = lines_of(page.segments)
    upper, lower = max(line.main.top for line in lines), min(line.main.bottom for line in lines)
    band = EDGE * (page.height or upper - lower)
    for depth, line in enumerate(lines[:EDGE_LINES]):
        if line.main.bottom >= upper - band:
            edges.found.append(("top", depth, line))
    for depth, line in enumerate(reversed(lines[-EDGE_LINES:])):
        if line.main.top <= lower + band:
            edges.found.append(("foot", depth, line))
    return edges


def _shape(line: Line) -> str:
    return _DIGITS.sub("#", " ".join(line.text.split()).casefold())


def _repeated(edges: Sequence[_Edges]) -> set[tuple[str, str]]:
    counts = Counter(key for page in edges for key in {(side, _shape(line)) for side, _, line in page.found})
    return {key for key, count in counts.items() if count >= max(FEWEST, REPEATED * len(edges)) and key[1]}


def _numbered(pages: Sequence[Page], edges: Sequence[_Edges]) -> set[tuple[int, str, int]]:
    """Lines that hold the page's number: those whose number grows with the page on at least half of the pages.

    A page by itself has one when a line is nothing but its number.
    """
    by_step: dict[tuple[str, int], set[tuple[int, str, int]]] = defaultdict(set)
    for n, page in enumerate(edges):
        for side, depth, line in page.found:
            text = " ".join(line.text.split())
            only = _ONLY_A_NUMBER.fullmatch(text)
            for number in _numbers(text, only):
                step = number - pages[n].number
                if only and len(pages) == 1 and step == 0:
                    return {(n, side, depth)}
                if len(text) <= _RUNNING_MAX:
                    by_step[side, step].add((n, side, depth))
    found: set[tuple[int, str, int]] = set()
    for places in by_step.values():
        if len(pages) > 1 and len({place[0] for place in places}) >= max(2, 0.5 * len(pages)):
            found |= places
    return found


def _numbers(text: str, only: re.Match[str] | None) -> list[int]:
    if only:
        return [int(only[1])]
    return [int(found[1] or found[2]) for found in _NUMBER_AT_AN_END.finditer(text)]
