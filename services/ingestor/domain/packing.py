"""Blocks to stretches of about the wanted size: neighbours of one section together, large blocks cut."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from services.ingestor.domain.blocks import SECTION_JOINT, Block
from services.ingestor.domain.cutting import best_cut, row_cut, words
from services.ingestor.domain.documents import ChunkKind
from services.ingestor.domain.plain_text import plain

TOLERANCE = 1.2
"""A block may be this many times the wanted size before it is cut."""

CODE_TOLERANCE = 4.0
"""Code is cut only when it is this many times the wanted size, or longer than the embedder reads."""

LONE_SHARE = 1 / 3
"""Headings in a row with nothing under them go with the text beside them up to this share of the wanted size."""

_MARKS_ONLY = re.compile(r"[\s\-*_=|:~`#>+.\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]*")
_MAY_BE_UNSEEN = re.compile(r"\s*(?:<|\[?!\[)")


@dataclass(frozen=True)
class Span:
    """A stretch of a document's text that is to become a chunk."""

    start: int
    end: int
    section: str
    kind: ChunkKind = "fact"


def says(text: str, start: int, end: int, *, markdown: bool) -> bool:
    """Does a reader see any words here? Not in rules and bars, nor in Markdown's comments and nameless pictures."""
    if _MARKS_ONLY.fullmatch(text, start, end):
        return False
    return not (markdown and _MAY_BE_UNSEEN.match(text, start, end)) or bool(plain(text[start:end]))


def with_lone_headings(text: str, blocks: Sequence[Block], wanted: int) -> tuple[list[Block], set[int]]:
    """The blocks, and where those headings begin that have nothing under them and go with the text beside them.

    A document of nothing but headings, and a long row of lone ones, is text: nobody else would carry the words.
    """
    said = [block for block in blocks if block.kind == "heading" or says(text, block.start, block.end, markdown=True)]
    if said and all(block.kind == "heading" for block in said):
        return [replace(block, kind="text", section="") for block in blocks], set()
    lone: set[int] = set()
    as_text: dict[int, str] = {}
    for run, above_text in _runs_of_headings(said):
        alone = _without_text(run, above_text)
        if not alone:
            continue
        part = _below_common(run[alone[0] : alone[-1] + 1])
        if sum(words(text[block.start : block.end]) for block in part) > wanted * LONE_SHARE:
            as_text |= dict.fromkeys((block.start for block in part), _common_section(part))
        else:
            lone.update(run[n].start for n in alone)
    if not as_text:
        return list(blocks), lone
    return [
        replace(block, kind="text", section=as_text[block.start]) if block.start in as_text else block
        for block in blocks
    ], lone


def pack(text: str, blocks: Sequence[Block], lone: set[int], wanted: int, *, markdown: bool) -> list[Span]:
    """The document's stretches in order; lone headings belong to the next one, or at the end to the last."""
    packer = _Packer(text, wanted, markdown)
    for block in blocks:
        if block.kind == "heading":
            packer.pass_heading(block, alone=block.start in lone)
        else:
            packer.take(block)
    return packer.finish()


def trimmed(text: str, span: Span, kind: str) -> list[Span]:
    """The span without white space around it (code keeps its first line's indentation); nothing if blank."""
    piece = text[span.start : span.end]
    if not piece.strip():
        return []
    blank = len(piece) - len(piece.lstrip())
    if kind == "code":
        blank = piece.rfind("\n", 0, blank) + 1
    return [replace(span, start=span.start + blank, end=span.start + len(piece.rstrip()))]


class _Packer:
    def __init__(self, text: str, wanted: int, markdown: bool) -> None:
        self._text = text
        self._wanted = wanted
        self._markdown = markdown
        self._spans: list[Span] = []
        self._held: list[Block] = []
        self._held_words = 0.0
        self._waiting: tuple[int, int] | None = None
        """From the first to the last of the lone headings that wait for text to go with."""

    def pass_heading(self, heading: Block, *, alone: bool) -> None:
        self._flush()
        if alone:
            self._waiting = (self._waiting[0] if self._waiting else heading.start, heading.end)

    def take(self, block: Block) -> None:
        text = self._text[block.start : block.end]
        size = words(text)
        large = size > self._wanted * (CODE_TOLERANCE if block.kind == "code" else TOLERANCE)
        # What nobody sees may stand within a chunk, but makes none.
        if (large or not self._held) and not self._said(block):
            return
        if self._held_words + size > self._wanted:
            self._flush()
        if large:
            parts = _split_table if block.kind == "table" else _split
            self._add(parts(self._text, block, self._wanted, size))
        else:
            self._held.append(block)
            self._held_words += size

    def finish(self) -> list[Span]:
        self._flush()
        if self._waiting and self._spans:
            self._spans[-1] = replace(self._spans[-1], end=self._waiting[1])
        return self._spans

    def _said(self, block: Block) -> bool:
        return says(self._text, block.start, block.end, markdown=self._markdown and block.kind != "code")

    def _flush(self) -> None:
        if self._held:
            first, last = self._held[0], self._held[-1]
            self._add([Span(first.start, last.end, first.section)])
        self._held.clear()
        self._held_words = 0.0

    def _add(self, spans: Sequence[Span]) -> None:
        if self._waiting and spans:
            spans = [replace(spans[0], start=self._waiting[0]), *spans[1:]]
            self._waiting = None
        self._spans += spans


def _split(text: str, block: Block, wanted: int, size: float) -> list[Span]:
    """Parts of like size, each ending where a sentence (or in code a line) ends."""
    spans = []
    start = block.start
    parts = max(2, -int(-size // wanted))
    for left in range(parts, 1, -1):
        ideal = start + (block.end - start) // left
        if not start < ideal < block.end:
            break
        at = row_cut(text, start, min(block.end, 2 * ideal - start), ideal) if block.kind == "code" else None
        at = at or best_cut(text, start, block.end, ideal)
        spans += trimmed(text, Span(start, at, block.section), block.kind)
        start = at
    return spans + trimmed(text, Span(start, block.end, block.section), block.kind)


def _split_table(text: str, table: Block, wanted: int, _size: float) -> list[Span]:
    """Groups of whole rows; the header counts in each, because each repeats it."""
    header = words(text[table.start : table.rows])
    spans = []
    start, size, at = table.start, header, table.rows
    while at < table.end:
        line_end = text.find("\n", at, table.end)
        row_end = table.end if line_end < 0 else line_end + 1
        row = words(text[at:row_end])
        if size + row > wanted and at > max(start, table.rows):
            spans += trimmed(text, Span(start, at, table.section), "table")
            start, size = at, header
        size += row
        at = row_end
    return spans + trimmed(text, Span(start, table.end, table.section), "table")


def _runs_of_headings(said: Sequence[Block]) -> Iterator[tuple[list[Block], bool]]:
    """Headings that follow each other, and whether a text stands under the last one."""
    run: list[Block] = []
    for block in said:
        if block.kind == "heading":
            run.append(block)
        elif run:
            yield run, True
            run = []
    if run:
        yield run, False


def _without_text(run: Sequence[Block], above_text: bool) -> list[int]:
    """Which of these headings no text stands under, at any depth; no chunk has them in its section."""
    level = run[-1].level + 1 if above_text else 0
    alone = []
    for n in range(len(run) - 1, -1, -1):
        if run[n].level < level:
            level = run[n].level
        else:
            alone.append(n)
    return alone[::-1]


def _below_common(headings: Sequence[Block]) -> Sequence[Block]:
    """Without the first ones that all of the others stand under: the section of those says them."""
    while len(headings) > 1 and headings[0].level < min(heading.level for heading in headings[1:]):
        headings = headings[1:]
    return headings


def _common_section(headings: Sequence[Block]) -> str:
    """The section that all of these headings stand in."""
    above = [heading.section.split(SECTION_JOINT)[:-1] for heading in headings]
    common: list[str] = []
    for first, last in zip(min(above), max(above), strict=False):
        if first != last:
            break
        common.append(first)
    return SECTION_JOINT.join(common)
