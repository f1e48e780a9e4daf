"""Cutting a document into chunks of about 150 words that an embedder can read whole.

Chunks follow the text's own structure: sections, then blocks, then sentences. They do not overlap, they
keep exact offsets, and together they hold the whole text except white space and heading lines, whose words
each chunk carries in its section.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from services.ingestor.domain.blocks import Block, block_at, markdown_blocks, paragraph_blocks
from services.ingestor.domain.cutting import CJK, best_cut, row_cut, words
from services.ingestor.domain.documents import Chunk, ChunkKind, Extracted
from services.ingestor.domain.plain_text import plain
from services.shared.contracts.places import places_within

CountTokens = Callable[[Sequence[str]], list[int]]

NEGATIVE_SECTION = "Not the case"

TOLERANCE = 1.2
"""A block may be this many times the wanted size before it is cut."""

CODE_TOLERANCE = 4.0
"""Code is cut only when it is this many times the wanted size, or longer than the embedder reads."""

CONTEXT_SHARE = 0.4
"""Largest part of the embedder's limit that title, section and table header may take."""

_MARKS_ONLY = re.compile(r"[\s\-*_=|:~`#>+.]*")


@dataclass(frozen=True)
class Limits:
    """How large a chunk should be, and how large it may be."""

    words: int
    """Wanted size in words."""
    max_tokens: int
    """What the embedder reads, special tokens included; counts title, section and text."""


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    section: str
    kind: ChunkKind = "fact"


def cut(
    extracted: Extracted, title: str, limits: Limits, count_tokens: CountTokens, kind: ChunkKind = "fact"
) -> list[Chunk]:
    """The chunks of a document, by their place in its text; ``kind`` is that of the document as a whole."""
    text = extracted.text
    body = text if extracted.body_end is None else text[: extracted.body_end]
    blocks = markdown_blocks(body) if extracted.markdown else paragraph_blocks(body)
    said = [block for block in blocks if not _MARKS_ONLY.fullmatch(text, block.start, block.end)]
    if said and not extracted.negatives and all(block.kind == "heading" for block in said):
        blocks = [replace(block, kind="text", section="") for block in blocks]
    spans = [replace(span, kind=kind) for span in _pack(text, blocks, limits.words)]
    spans += [_Span(start, end, NEGATIVE_SECTION, "negative") for start, end in extracted.negatives]
    writer = _Writer(extracted, blocks, title, limits, count_tokens)
    return writer.write([span for span in spans if not _MARKS_ONLY.fullmatch(text, span.start, span.end)])


def _pack(text: str, blocks: Sequence[Block], wanted: int) -> list[_Span]:
    """Neighbouring blocks of one section together, up to the wanted size; large blocks cut."""
    spans: list[_Span] = []
    held: list[Block] = []
    held_words = 0.0

    def flush() -> None:
        nonlocal held_words
        if held:
            spans.append(_Span(held[0].start, held[-1].end, held[0].section))
        held.clear()
        held_words = 0.0

    for block in blocks:
        if block.kind == "heading":
            flush()
            continue
        size = words(text[block.start : block.end])
        if held_words + size > wanted:
            flush()
        if size > wanted * (CODE_TOLERANCE if block.kind == "code" else TOLERANCE):
            spans += _split_table(text, block, wanted) if block.kind == "table" else _split(text, block, wanted, size)
        else:
            held.append(block)
            held_words += size
    flush()
    return spans


def _split(text: str, block: Block, wanted: int, size: float) -> list[_Span]:
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
        spans += _trimmed(text, _Span(start, at, block.section), block.kind)
        start = at
    return spans + _trimmed(text, _Span(start, block.end, block.section), block.kind)


def _split_table(text: str, table: Block, wanted: int) -> list[_Span]:
    """Groups of whole rows; the header counts in each, because each repeats it."""
    header = words(text[table.start : table.rows])
    spans = []
    start, size, at = table.start, header, table.rows
    while at < table.end:
        line_end = text.find("\n", at, table.end)
        row_end = table.end if line_end < 0 else line_end + 1
        row = words(text[at:row_end])
        if size + row > wanted and at > max(start, table.rows):
            spans += _trimmed(text, _Span(start, at, table.section), "table")
            start, size = at, header
        size += row
        at = row_end
    return spans + _trimmed(text, _Span(start, table.end, table.section), "table")


def _trimmed(text: str, span: _Span, kind: str) -> list[_Span]:
    """The span without white space around it (code keeps its first line's indentation); nothing if blank."""
    piece = text[span.start : span.end]
    if not piece.strip():
        return []
    blank = len(piece) - len(piece.lstrip())
    if kind == "code":
        blank = piece.rfind("\n", 0, blank) + 1
    return [replace(span, start=span.start + blank, end=span.start + len(piece.rstrip()))]


def _start(block: Block) -> int:
    return block.start


class _Writer:
    """Gives spans their texts, and halves those that the embedder could not read whole."""

    def __init__(
        self, extracted: Extracted, blocks: list[Block], title: str, limits: Limits, count_tokens: CountTokens
    ) -> None:
        self._text = extracted.text
        self._places = extracted.places
        self._blocks = blocks
        self._title = title
        self._markdown = extracted.markdown
        self._limit = limits.max_tokens
        self._count = count_tokens
        self._contexts: dict[str, str] = {}
        self._leads: dict[int, str] = {}

    def write(self, spans: Sequence[_Span]) -> list[Chunk]:
        """The chunks of these spans, cut further where they are too long."""
        fitting: list[tuple[_Span, str, str]] = []
        pending = list(spans)
        while pending:
            drafts = [(span, *self._texts(span)) for span in pending]
            pending = []
            for draft, tokens in zip(drafts, self._count([search for *_, search in drafts]), strict=True):
                span = draft[0]
                if tokens <= self._limit or span.end - span.start < 2:
                    fitting.append(draft)
                else:
                    pending += self._halves(span)
        fitting.sort(key=lambda draft: draft[0].start)
        return [
            Chunk(
                ordinal=ordinal,
                text=lead + self._text[span.start : span.end],
                lead=len(lead),
                start=span.start,
                end=span.end,
                section=span.section,
                kind=span.kind,
                search_text=search,
                places=places_within(self._places, span.start, span.end),
            )
            for ordinal, (span, lead, search) in enumerate(fitting)
        ]

    def _texts(self, span: _Span) -> tuple[str, str]:
        """The repeated table header if any, and what is embedded."""
        lead = self._lead(span.start)
        words_of_it = lead + self._text[span.start : span.end]
        readable = plain(words_of_it) if self._markdown else words_of_it
        context = self._context(span.section)
        if _foreign(context, readable):
            context = ""
        return lead, f"{context}\n{readable}" if context else readable

    def _context(self, section: str) -> str:
        """Title and section, without saying the title twice, cut to their share of the limit."""
        if section not in self._contexts:
            known = section == self._title or section.startswith(f"{self._title} > ")
            lines = [section] if known else [self._title, section]
            context = "\n".join(line for line in lines if line)
            while context and self._count([context])[0] > self._limit * CONTEXT_SHARE:
                context = context[: len(context) * 3 // 4].rstrip()
            self._contexts[section] = context
        return self._contexts[section]

    def _lead(self, start: int) -> str:
        """The header of the table that a chunk goes on with; none when it would fill the chunk by itself."""
        block = block_at(self._blocks, start)
        if block is None or block.kind != "table" or start < block.rows or block.rows == block.start:
            return ""
        if block.start not in self._leads:
            header = self._text[block.start : block.rows]
            small = self._count([plain(header)])[0] <= self._limit * CONTEXT_SHARE
            self._leads[block.start] = header if small else ""
        return self._leads[block.start]

    def _halves(self, span: _Span) -> list[_Span]:
        middle = (span.start + span.end) // 2
        first = bisect_right(self._blocks, span.start, key=_start)
        edges = [block.start for block in self._blocks[first : bisect_left(self._blocks, span.end, key=_start)]]
        block = block_at(self._blocks, span.start)
        kind = block.kind if block else "text"
        at: int | None = None
        if edges:
            at = min(edges, key=lambda edge: abs(edge - middle))
        elif block is not None and kind == "table":
            at = row_cut(self._text, max(span.start, block.rows), span.end, middle)
        elif kind == "code":
            at = row_cut(self._text, span.start, span.end, middle)
        at = at or best_cut(self._text, span.start, span.end, middle)
        return [
            *_trimmed(self._text, replace(span, end=at), kind),
            *_trimmed(self._text, replace(span, start=at), kind),
        ]


def _foreign(context: str, text: str) -> bool:
    """Is a title, such as a file's name, in another script than a text without spaces? It would drown its meaning."""
    return len(CJK.findall(text)) > len(text) / 2 and not CJK.search(context)
