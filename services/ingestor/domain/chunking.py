"""Cutting a document into chunks of about 150 words that an embedder can read whole.

Chunks follow the text's own structure: sections, then blocks, then sentences. They do not overlap (measured with
``benchmarks/chunk_sizes.py``: it finds no more), they keep exact offsets, and together they hold the whole text except
white space, what no reader sees, and heading lines, whose words each chunk carries in its section; headings with
nothing under them stand in the chunk beside them.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from services.ingestor.domain.blocks import Block, block_at, markdown_blocks, paragraph_blocks, start_of
from services.ingestor.domain.cutting import CJK, best_cut, cell_cut, row_cut
from services.ingestor.domain.documents import Chunk, ChunkKind, Extracted
from services.ingestor.domain.packing import Span, pack, says, trimmed, with_lone_headings
from services.ingestor.domain.plain_text import plain
from services.ingestor.domain.table_leads import lead_of_part
from services.shared.contracts.places import places_within

CountTokens = Callable[[Sequence[str]], list[int]]

NEGATIVE_SECTION = "Not the case"

CONTEXT_SHARE = 0.4
"""Largest part of the embedder's limit that title, section and table header may take."""

MARKS_OF_MODELS = 8
"""Tokens that a model adds of its own, at most. Each other one stands for a character at least, and no normalisation
makes more of ASCII, so a short ASCII text needs no counting."""


@dataclass(frozen=True)
class Limits:
    """How large a chunk should be, and how large it may be."""

    words: int
    """Wanted size in words."""
    max_tokens: int
    """What the embedder reads, special tokens included; counts title, section and text."""


@dataclass(frozen=True)
class _Draft:
    span: Span
    lead: str
    search: str


def cut(
    extracted: Extracted, title: str, limits: Limits, count_tokens: CountTokens, kind: ChunkKind = "fact"
) -> list[Chunk]:
    """The chunks of a document, by their place in its text; ``kind`` is that of the document as a whole."""
    text, markdown = extracted.text, extracted.markdown
    body = text if extracted.body_end is None else text[: extracted.body_end]
    blocks = markdown_blocks(body) if markdown else paragraph_blocks(body)
    lone: set[int] = set()
    if markdown:
        blocks, lone = with_lone_headings(text, blocks, limits.words)
    spans = [replace(span, kind=kind) for span in pack(text, blocks, lone, limits.words, markdown=markdown)]
    spans += [Span(start, end, NEGATIVE_SECTION, "negative") for start, end in extracted.negatives]
    writer = _Writer(extracted, blocks, title, limits, count_tokens)
    return writer.write(spans)


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
        self._headers: dict[int, str] = {}

    def write(self, spans: Sequence[Span]) -> list[Chunk]:
        """The chunks of these spans, cut further where they are too long."""
        pending = [span for span in spans if self._says(span)]
        self._settle_contexts(span.section for span in pending)
        fitting: list[_Draft] = []
        while pending:
            drafts = [self._draft(span) for span in pending]
            pending = []
            for draft, fits in zip(drafts, self._fit([draft.search for draft in drafts], self._limit), strict=True):
                if fits or draft.span.end - draft.span.start < 2:
                    fitting.append(draft)
                else:
                    pending += self._halves(draft.span)
        fitting.sort(key=lambda draft: draft.span.start)
        return [self._chunk(ordinal, draft) for ordinal, draft in enumerate(fitting)]

    def _chunk(self, ordinal: int, draft: _Draft) -> Chunk:
        span, lead = draft.span, draft.lead
        return Chunk(
            ordinal=ordinal,
            text=lead + self._text[span.start : span.end],
            lead=len(lead),
            start=span.start,
            end=span.end,
            section=span.section,
            kind=span.kind,
            search_text=draft.search,
            places=places_within(self._places, span.start, span.end),
        )

    def _draft(self, span: Span) -> _Draft:
        """The span with the repeated table header, if any, and with what is embedded."""
        lead = self._lead(span)
        shown = lead + self._text[span.start : span.end]
        readable = (plain(shown) or shown) if self._markdown else shown
        context = self._contexts[span.section]
        if _foreign(context, readable):
            context = ""
        return _Draft(span, lead, f"{context}\n{readable}" if context else readable)

    def _settle_contexts(self, sections: Iterable[str]) -> None:
        """Title and section, without saying the title twice, cut to their share of the limit; counted all at once."""
        for section in sections:
            if section not in self._contexts:
                known = section == self._title or section.startswith(f"{self._title} > ")
                lines = [section] if known else [self._title, section]
                self._contexts[section] = "\n".join(line for line in lines if line)
        unsure = list(self._contexts)
        while unsure:
            short = self._fit([self._contexts[section] for section in unsure], self._limit * CONTEXT_SHARE)
            unsure = [section for section, fits in zip(unsure, short, strict=True) if not fits]
            for section in unsure:
                context = self._contexts[section]
                self._contexts[section] = context[: len(context) * 3 // 4].rstrip()

    def _fit(self, texts: Sequence[str], most: float) -> list[bool]:
        """Which of the texts have no more tokens than that; all that may be longer are counted at once."""
        surely = [not text or (text.isascii() and len(text) + MARKS_OF_MODELS <= most) for text in texts]
        unsure = [text for text, short in zip(texts, surely, strict=True) if not short]
        counts = iter(self._count(unsure) if unsure else ())
        return [short or next(counts) <= most for short in surely]

    def _lead(self, span: Span) -> str:
        """The header of the table that a chunk goes on with; of a part of a row, the names of its own columns."""
        block = block_at(self._blocks, span.start)
        if block is None or block.kind != "table" or span.start < block.rows or block.rows == block.start:
            return ""
        header = self._header(block)
        line = self._text.rfind("\n", 0, span.start) + 1
        whole_rows = not self._text[line : span.start].strip()
        return header if header and whole_rows else lead_of_part(self._text, block, span.start, span.end)

    def _header(self, table: Block) -> str:
        """A table's header; nothing when it would fill a chunk by itself."""
        if table.start not in self._headers:
            header = self._text[table.start : table.rows]
            (small,) = self._fit([plain(header)], self._limit * CONTEXT_SHARE)
            self._headers[table.start] = header if small else ""
        return self._headers[table.start]

    def _halves(self, span: Span) -> list[Span]:
        low, high = self._within(span)
        middle = (low + high) // 2
        edges = [block.start for block in self._begin_in(low + 1, high)]
        block = block_at(self._blocks, low)
        kind = block.kind if block else "text"
        at: int | None = None
        if edges:
            at = min(edges, key=lambda edge: abs(edge - middle))
        elif block is not None and kind == "table":
            rows = max(low, block.rows)
            at = row_cut(self._text, rows, high, middle) or cell_cut(self._text, rows, high, middle)
        elif kind == "code":
            at = row_cut(self._text, low, high, middle)
        at = at or best_cut(self._text, low, high, middle)
        halves = [replace(span, end=at), replace(span, start=at)]
        return [part for half in halves for part in trimmed(self._text, half, kind) if self._says(part)]

    def _says(self, span: Span) -> bool:
        return says(self._text, span.start, span.end, markdown=self._markdown)

    def _within(self, span: Span) -> tuple[int, int]:
        """Where a span may be cut: lone headings stay with the text that they go with, unless they are most of it."""
        at_start = block_at(self._blocks, span.start)
        held = [*([at_start] if at_start else []), *self._begin_in(span.start + 1, span.end)]
        told = [block for block in held if block.kind != "heading"]
        if not told or len(told) == len(held):
            return span.start, span.end
        low, high = max(span.start, told[0].start), min(span.end, told[-1].end)
        return (low, high) if high - low > (span.end - span.start) / 2 else (span.start, span.end)

    def _begin_in(self, start: int, end: int) -> list[Block]:
        """The blocks that begin in this stretch."""
        first = bisect_left(self._blocks, start, key=start_of)
        return self._blocks[first : bisect_left(self._blocks, end, lo=first, key=start_of)]


def _foreign(context: str, text: str) -> bool:
    """Is a title, such as a file's name, in another script than a text without spaces? It would drown its meaning."""
    return not text.isascii() and len(CJK.findall(text)) > len(text) / 2 and not CJK.search(context)
