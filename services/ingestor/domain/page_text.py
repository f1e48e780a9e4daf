"""The text of a paged document: lines become paragraphs, headings and tables, and pages one running text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

from services.ingestor.domain.letters import is_right_to_left
from services.ingestor.domain.markdown_pieces import paragraph
from services.ingestor.domain.page_furniture import Page, repeated_aside, without_running_lines
from services.ingestor.domain.page_layout import Line, reading_order
from services.ingestor.domain.page_tables import Table, tables_among
from services.shared.contracts.places import Place

HEADING = 1.15
"""How much larger than the body's letters those of a heading are; 11 pt over 10 pt is an abstract or a quotation."""

HEADING_MAX = 150
"""Characters of the longest heading."""

HEADINGS_SHARE = 0.3
"""Share of the letters above which large type is this document's way and no sign of headings."""

LOOSE = 1.35
"""How much more than the usual step from line to line parts two paragraphs."""

TAIL = 300
"""Characters before a line's end that are looked at to join it: more than a word or an address."""

_END = re.compile(r"[.!?:;。！？؟…][\"'”’»)\]]*$")
_MARK = re.compile(r"(?:[•‣◦▪●○■–—*·-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)])\s+\S")
_BULLET = re.compile("^[•‣◦▪●○■·\x80-\x9f\ue000-\uf8ff\ufffd]\\s+(?=\\S)")
"""A list's mark, or a sign that is no letter in its place: such marks come from fonts of their own."""

_LEADER = re.compile(r"(?:\s?[._·…]){4,}\s*")
"""The dots between a heading and its page in a table of contents."""

_CONTENTS = re.compile(r"(?:\s?[._·…]){4,}\s*[\divxlcm]{1,6}\.?$", re.IGNORECASE)
_HYPHENS = "-\u2010\u00ad"
_UNSPACED = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff65]")
_TORN = re.compile(r"(?:://\S*/|@|^https?://|\shttps?://)$")
"""An address that its line could not hold."""

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass
class Piece:
    """A paragraph, heading or table, in reading order."""

    kind: Literal["text", "heading", "table"]
    text: str
    size: float
    page: int
    goes_on: bool = False
    """Whether it continues the paragraph before, in the column or on the page before."""


@dataclass(frozen=True)
class Found:
    """A paged document as text. ``heading`` is its first and largest one on the first page."""

    text: str
    markdown: bool
    heading: str | None
    places: list[Place]


def text_of(pages: Sequence[Page]) -> Found:
    """The text of the pages, with "page 3" where the third one begins."""
    watermarks = repeated_aside(pages)
    pieces: list[Piece] = []
    for page, segments in zip(pages, without_running_lines(pages), strict=True):
        right_to_left = is_right_to_left("".join(segment.text for segment in segments))
        for block in reading_order(segments, right_to_left):
            pieces += _pieces(block, page.number)
        aside = [segment for segment in page.aside if segment.text not in watermarks]
        pieces += [Piece("text", segment.text.strip(), segment.size, page.number) for segment in aside]
    pieces = [piece for piece in pieces if piece.text]
    _find_headings(pieces)
    _find_continuations(pieces)
    return _joined(pieces)


def _pieces(block: list[Line], page: int) -> Iterator[Piece]:
    left, right = min(line.left for line in block), max(line.right for line in block)
    steps = [one.main.middle - other.main.middle for one, other in pairwise(block)]
    usual = median(steps) if steps else 0.0
    lines: list[Line] = []
    for part in tables_among(block):
        if isinstance(part, Table):
            yield from _paragraph(lines, page)
            lines = []
            yield Piece("table", part.text, part.size, page)
            continue
        if lines and _begins(lines, part, left, right, usual):
            yield from _paragraph(lines, page)
            lines = []
        lines.append(part)
    yield from _paragraph(lines, page)


def _begins(lines: list[Line], line: Line, left: float, right: float, usual: float) -> bool:
    """Does the line begin a new paragraph, after these lines of one?"""
    before, size = lines[-1], line.main.size
    if abs(before.main.size - size) > 0.1 * size or _MARK.match(line.text) or _BULLET.match(line.text):
        return True
    if _CONTENTS.search(before.text):
        return True
    step = before.main.middle - line.main.middle
    if step > LOOSE * usual > 0 or step > 2.5 * size:
        return True
    if is_right_to_left(line.text):
        start, start_before, edge, end_before = -line.right, -before.right, -right, left - before.left
    else:
        start, start_before, edge, end_before = line.left, before.left, left, before.right - right
    if start - start_before > 0.8 * size and start_before - edge < 0.5 * size:
        return True
    if len(lines) > 1 and start_before - start > 0.8 * size:
        return True
    missing = -end_before
    text = line.text
    if missing > max(0.12 * (right - left), 2 * size) and _END.search(before.text):
        return True
    return missing > 0.4 * (right - left) and not text[:1].islower() and before.text[-1:] not in _HYPHENS


def _paragraph(lines: list[Line], page: int) -> Iterator[Piece]:
    if lines:
        size = median(line.main.size for line in lines)
        yield Piece("text", "\n".join(line.text.strip() for line in lines), size, page)


def _find_headings(pieces: list[Piece]) -> None:
    letters: Counter[float] = Counter()
    for piece in pieces:
        letters[round(piece.size * 2) / 2] += len(piece.text)
    if not letters:
        return
    body = letters.most_common(1)[0][0]
    large = [piece for piece in pieces if piece.kind == "text" and piece.size >= HEADING * body]
    large = [piece for piece in large if len(piece.text) <= HEADING_MAX and any(c.isalpha() for c in piece.text)]
    if sum(len(piece.text) for piece in large) > HEADINGS_SHARE * sum(letters.values()):
        return
    sizes = sorted({round(piece.size) for piece in large}, reverse=True)
    for piece in large:
        piece.kind = "heading"
        piece.text = "#" * min(sizes.index(round(piece.size)) + 1, 4) + " " + " ".join(piece.text.split())


def _find_continuations(pieces: list[Piece]) -> None:
    """A sentence that breaks off at the end of a column or page goes on where the next begins in small letters."""
    for before, piece in pairwise(pieces):
        if before.kind == piece.kind == "text" and abs(before.size - piece.size) < 0.1 * piece.size:
            open_end = before.text[-1:].isalpha() or before.text[-1:] in _HYPHENS + ","
            piece.goes_on = open_end and piece.text[:1].islower() and not _MARK.match(piece.text)


def _joined(pieces: list[Piece]) -> Found:
    markdown = any(piece.kind != "text" for piece in pieces)
    known = Counter(word.lower() for piece in pieces for word in _WORD.findall(piece.text))
    text = ""
    done: list[str] = []
    length = 0
    places: list[Place] = []
    for piece in pieces:
        lines = piece.text.split("\n")
        words = piece.text if piece.kind != "text" else _run_together(lines[0], lines[1:], known)
        if piece.kind == "text":
            words = _BULLET.sub("- ", _LEADER.sub(" … ", words).rstrip())
            if markdown:
                words = paragraph(words)
        if piece.goes_on:
            text, glue = _glue(text, words, known)
            start = length + len(text) + len(glue)
            text += glue + words
        else:
            if text:
                done.append(text + "\n\n")
                length += len(done[-1])
            start, text = length, words
        if not places or places[-1].label != f"page {piece.page}":
            places.append(Place(start=start, label=f"page {piece.page}"))
    done.append(text + "\n" if text else "")
    heading = next((piece.text for piece in pieces[:8] if piece.text.startswith("# ")), "")
    return Found("".join(done), markdown, heading.lstrip("# ") or None, places)


def _run_together(first: str, rest: Iterable[str], known: Counter[str]) -> str:
    text = first
    for line in rest:
        text, glue = _glue(text, line, known)
        text += glue + line
    return text


def _glue(text: str, after: str, known: Counter[str]) -> tuple[str, str]:
    """The text without a hyphen that only ended its line, and what stands between it and the next line."""
    last, first = text[-1:], after[:1]
    if last in _HYPHENS and last:
        head = re.search(r"[^\s]*$", text[-TAIL:-1])
        tail = _WORD.match(after)
        if last == "\u00ad":
            return text[:-1], ""
        if head is None or not head[0][-1:].isalpha() or tail is None:
            return text, "" if first.isalnum() and text[-2:-1].isalnum() else " "
        return (text, "") if _keeps_hyphen(head[0], tail[0], known) else (text[:-1], "")
    if _TORN.search(text[-TAIL:]) or (last == "–" and text[-2:-1].isdigit() and first.isdigit()):
        return text, ""
    if _UNSPACED.match(last or " ") and _UNSPACED.match(first or " "):
        return text, ""
    return text, " "


def _keeps_hyphen(head: str, tail: str, known: Counter[str]) -> bool:
    """Is it one of the word's own hyphens? The document's other words say; without them it is none."""
    if not tail[:1].islower() or "-" in head:
        return True
    head = _WORD.findall(head)[-1].lower() if _WORD.findall(head) else head.lower()
    tail = tail.lower()
    return known[f"{head}-{tail}"] > known[head + tail]
