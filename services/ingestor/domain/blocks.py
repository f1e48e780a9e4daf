"""The blocks of a text and the section each stands in: what the chunker may keep whole."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from services.ingestor.domain.plain_text import plain

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

SECTION_JOINT = " > "
HEADING_MAX = 200
"""Longest heading, characters; a longer one is a paragraph that somebody underlined or marked by mistake."""

_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?![ \t]*\n))*")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, table, code block or heading: text[start:end], without white space around it."""

    start: int
    end: int
    kind: Literal["text", "code", "table", "heading"]
    section: str
    """Headings above it, joined by " > "; empty above the first. A heading's own words are the last of it."""
    rows: int
    """Where a table's first row after its header begins; ``start`` for everything else."""
    level: int = 0
    """Of a heading, 1 to 6; 0 for everything else."""


@dataclass(frozen=True, slots=True)
class _Piece:
    first_line: int
    end_line: int
    kind: Literal["text", "code", "table", "heading"]
    level: int = 0
    heading: str = ""


def markdown_blocks(text: str) -> list[Block]:
    """The blocks of a Markdown text, in order; together they hold everything but white space."""
    lines = _line_starts(text)
    blocks: list[Block] = []
    path: list[tuple[int, str]] = []
    section = ""
    for piece in _with_gaps(_pieces(text), len(lines) - 1):
        if piece.kind == "heading":
            path = [step for step in path if step[0] < piece.level]
            path.append((piece.level, piece.heading))
            section = SECTION_JOINT.join(heading for _, heading in path if heading)
        start, end = _trimmed(text, lines[piece.first_line], lines[piece.end_line])
        if start < end:
            rows = lines[piece.first_line + 2] if piece.kind == "table" else start
            blocks.append(Block(start, end, piece.kind, section, min(rows, end), piece.level))
    return blocks


def paragraph_blocks(text: str) -> list[Block]:
    """The blocks of a plain text: paragraphs between blank lines."""
    return [
        Block(*_trimmed(text, found.start(), found.end()), "text", "", found.start())
        for found in _PARAGRAPH.finditer(text)
    ]


def h1_of(blocks: list[Block], text: str) -> str | None:
    """The words of the first heading, when it stands before any other text."""
    if blocks and blocks[0].kind == "heading":
        return blocks[0].section or plain(text[blocks[0].start : blocks[0].end]) or None
    return None


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Only blocks are wanted; without the inline rules the parser is several times quicker.
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    parser.block.ruler.before("table", "gather", _gather)
    return parser


def _pieces(text: str) -> list[_Piece]:
    found: list[_Piece] = []
    # The parser would take a carriage return for a line end, and the lines would not be ours any more.
    rest = _parser().parse(text.replace("\r", " "), {"found": found})
    return [*found, *_pieces_of(rest)]


def _gather(state: "StateBlock", _start: int, _end: int, silent: bool) -> bool:
    """A rule that fits nothing, asked before each block: it takes what is ready. A million tokens kept to the end
    would cost Python's garbage collector more time than they cost the parser."""
    if not silent and state.level == 0 and state.tokens:
        state.env["found"] += _pieces_of(state.tokens)
        state.tokens.clear()
    return False


def _pieces_of(tokens: Sequence["Token"]) -> Iterator[_Piece]:
    for n, token in enumerate(tokens):
        if token.map is None or token.level > 1:
            continue
        first, end = token.map
        if token.level == 1:
            if token.type == "list_item_open":
                yield _Piece(first, end, "text")
        elif token.type == "heading_open":
            yield _headed(first, end, int(token.tag[1:]), tokens[n + 1].content)
        elif token.type == "table_open":
            yield _Piece(first, end, "table")
        elif token.type in ("fence", "code_block"):
            yield _Piece(first, end, "code")
        elif token.type in ("paragraph_open", "html_block", "blockquote_open", "hr"):
            yield _Piece(first, end, "text")


def _headed(first: int, end: int, level: int, content: str) -> _Piece:
    """A heading; but lines of text above a rule, as of front matter that nobody could read, are no heading."""
    heading = " ".join(plain(content).split())
    if len(heading) > HEADING_MAX or "\n" in content:
        return _Piece(first, end, "text")
    return _Piece(first, end, "heading", level, heading)


def _with_gaps(pieces: list[_Piece], line_count: int) -> Iterator[_Piece]:
    """The pieces, and as text whatever lines the parser gave to none (link definitions, for example)."""
    at = 0
    for piece in pieces:
        if piece.first_line > at:
            yield _Piece(at, piece.first_line, "text")
        first = max(piece.first_line, at)
        if piece.end_line > first:
            yield piece if first == piece.first_line else _Piece(first, piece.end_line, "text")
            at = piece.end_line
    if at < line_count:
        yield _Piece(at, line_count, "text")


def _line_starts(text: str) -> list[int]:
    """Where each line begins, and the end of the text as a last entry (twice, for a table cut short)."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blank lines around it; the first line keeps its indentation only inside code."""
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return (begin, start + len(piece.rstrip())) if piece.strip() else (start, start)


def start_of(block: Block) -> int:
    """Where a block begins, for looking blocks up."""
    return block.start


def block_at(blocks: list[Block], position: int) -> Block | None:
    """The block that holds this position."""
    n = bisect_right(blocks, position, key=start_of) - 1
    return blocks[n] if n >= 0 and position < blocks[n].end else None
