"""The letters of a PDF page with their places, gathered into segments: the one file that calls PDFium's C functions."""

import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from services.ingestor.domain.letters import as_read, resolved, runs_right_to_left
from services.ingestor.domain.page_layout import GUTTER, WORD_GAP, Segment

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

_HYPHEN = 0x2
"""What PDFium calls a hyphen at the end of a line."""

_ASLANT = 4
"""Letters that run neither along nor across the page: a watermark."""

_LOST = "\ufffd"

_REPLACED = 4
"""Letters in one box from which they are replacement text (ActualText) and no glyph: ligatures stand for three."""


@dataclass(slots=True)
class _Letter:
    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    spaced: bool
    """Whether a space stands before it, or a gap that PDFium takes for one."""
    really: bool = False
    """Whether the space is one of the file's own."""


def segments_of(textpage: "PdfTextPage") -> tuple[list[Segment], list[Segment]]:
    """The text that runs along the page, as it is meant to be held, and the text that runs otherwise.

    Coordinates are turned so that text runs to the right.
    """
    by_turn: dict[int, list[_Letter]] = defaultdict(list)
    for turn, letter in _letters(textpage):
        by_turn[turn].append(letter)
    if not by_turn:
        return [], []
    main = max(by_turn, key=lambda turn: len(by_turn[turn]))
    aside = [segment for turn in sorted(by_turn) if turn != main for segment in _segments(by_turn[turn])]
    return list(_segments(by_turn[main])), aside


def _letters(textpage: "PdfTextPage") -> Iterator[tuple[int, _Letter]]:
    """Every letter that is none of the white space, in PDFium's order, and how often its line is turned by 90°."""
    from ctypes import c_float

    from pypdfium2 import raw

    box, matrix = raw.FS_RECTF(), raw.FS_MATRIX()
    spaced, really, size, last_height = False, False, 0.0, -1.0
    high = 0
    for n in range(textpage.count_chars()):
        code = raw.FPDFText_GetUnicode(textpage, n)
        if code in (0x20, 0x0D, 0x0A, 0x09, 0xA0, 0x3000):
            spaced = True
            really = really or raw.FPDFText_IsGenerated(textpage, n) == 0
            continue
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        text, high = _text(raw, textpage, n, code, high), 0
        if not text or not raw.FPDFText_GetLooseCharBox(textpage, n, box):
            continue
        angle = raw.FPDFText_GetCharAngle(textpage, n) / (math.pi / 2)
        turn = round(angle) % 4 if abs(angle - round(angle)) < 0.1 else _ASLANT
        left, right, bottom, top = _turned(box.left, box.right, box.bottom, box.top, turn)
        # The size needs two calls and changes rarely; a letter of another height asks anew.
        if abs(top - bottom - last_height) > 0.01:
            raw.FPDFText_GetMatrix(textpage, n, matrix)
            stated = c_float(raw.FPDFText_GetFontSize(textpage, n)).value
            size = max(stated * math.hypot(matrix.c, matrix.d), 0.5) if stated > 0 else top - bottom
            last_height = top - bottom
        yield turn, _Letter(text, left, right, bottom, top, size, spaced, really)
        spaced = really = False


def _text(raw: Any, textpage: "PdfTextPage", n: int, code: int, high: int) -> str:
    """The letter of a code; U+FFFD for a glyph of which the font does not say what letter it is."""
    if code == _HYPHEN and raw.FPDFText_IsHyphen(textpage, n) == 1:
        return "-"
    if 0xDC00 <= code < 0xE000:
        return chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)) if high else _LOST
    if code in (0xFFFE, 0xFFFF) or code > 0x10FFFF:
        return _LOST
    if (code < 0x20 or code > 0x7E) and raw.FPDFText_HasUnicodeMapError(textpage, n) == 1:
        # The code is the glyph's number in its font, which is no letter; zero is the glyph of no letter at all.
        return _LOST if code else ""
    return "" if code < 0x20 else chr(code)


def _turned(left: float, right: float, bottom: float, top: float, turn: int) -> tuple[float, float, float, float]:
    """The box in coordinates in which the line runs to the right; PDFium counts turns clockwise."""
    if turn == 1:
        return -top, -bottom, left, right
    if turn == 2:
        return -right, -left, -top, -bottom
    if turn == 3:
        return bottom, top, -right, -left
    return left, right, bottom, top


def _segments(letters: list[_Letter]) -> Iterator[Segment]:
    """Neighbouring letters without a wide gap between them."""
    if any(len(group) >= _REPLACED for group in _boxes(letters)):
        # Glyphs whose letters are lost lie under replacement text, which says them.
        letters = [letter for letter in letters if letter.text != _LOST]
    runs: list[list[_Letter]] = []
    for letter in letters:
        if runs and _continues(runs[-1][-1], letter):
            runs[-1].append(letter)
        else:
            runs.append([letter])
    for rtl, joined in _by_direction(runs):
        yield from _right_to_left(joined) if rtl else [_segment(joined, _spaced(joined))]


def _continues(before: _Letter, letter: _Letter) -> bool:
    if not _level(before, letter):
        return False
    # A letter before its forerunner is no gap: accents and kerned letters stand so.
    gap = max(letter.left - before.right, before.left - letter.right)
    return gap < GUTTER * max(before.size, letter.size)


def _level(before: _Letter, letter: _Letter) -> bool:
    overlap = min(before.top, letter.top) - max(before.bottom, letter.bottom)
    return overlap >= 0.5 * min(before.top - before.bottom, letter.top - letter.bottom)


def _by_direction(runs: list[list[_Letter]]) -> Iterator[tuple[bool, list[_Letter]]]:
    """The runs, and whether they hold letters from right to left; such a run is joined with all that is level with it.

    Words of the other direction in it are a jump to the side, which is no gap.
    """
    open_run: tuple[bool, list[_Letter]] | None = None
    for run in runs:
        rtl = any(runs_right_to_left(letter.text) for letter in run)
        if open_run is not None and (rtl or open_run[0]) and _level(open_run[1][-1], run[0]):
            open_run = True, open_run[1] + run
            continue
        if open_run is not None:
            yield open_run
        open_run = rtl, run
    if open_run is not None:
        yield open_run


def _right_to_left(run: list[_Letter]) -> Iterator[Segment]:
    glyphs = _glyphs(run)
    if any(len(glyph.text) >= _REPLACED for glyph in glyphs):
        yield _segment(run, " ".join(_spaced(glyphs).split()))
        return
    # Put into order by place, because PDFium turns lines about that hold letters of both directions.
    glyphs.sort(key=lambda glyph: glyph.left)
    drawn: list[_Letter] = []
    for glyph in glyphs:
        if drawn and glyph.left - drawn[-1].right > GUTTER * glyph.size:
            yield _segment(drawn, " ".join(as_read(_with_gaps(drawn)).split()))
            drawn = []
        drawn.append(glyph)
    yield _segment(drawn, " ".join(as_read(_with_gaps(drawn)).split()))


def _boxes(run: list[_Letter]) -> Iterator[list[_Letter]]:
    """Letters that stand in one box: those of a ligature, or of replacement text."""
    for _, box in groupby(run, key=lambda letter: (letter.left, letter.right, letter.bottom, letter.top)):
        yield list(box)


def _glyphs(run: list[_Letter]) -> list[_Letter]:
    """One item for each glyph, and for each stretch of replacement text, which has no place of its own."""
    glyphs: list[_Letter] = []
    for letters in _boxes(run):
        text = "".join(letter.text for letter in letters)
        # PDFium turns the letters of one glyph about as well.
        text = text[::-1] if runs_right_to_left(text) else text
        glyphs.append(replace(letters[0], text=f" {text} " if len(text) >= _REPLACED else text))
    return glyphs


def _spaced(run: list[_Letter]) -> str:
    return "".join((" " if letter.spaced and n else "") + letter.text for n, letter in enumerate(run))


def _with_gaps(drawn: list[_Letter]) -> list[str]:
    """The glyphs with the file's own spaces before them, and spaces where wide gaps are."""
    items = [drawn[0].text]
    for before, glyph in pairwise(drawn):
        marked = unicodedata.combining(before.text[0]) or unicodedata.combining(glyph.text[0])
        if not marked and glyph.left - before.right > WORD_GAP * glyph.size:
            items.append(" ")
        items.append(f" {glyph.text}" if glyph.really and not marked else glyph.text)
    return items


def _segment(run: list[_Letter], text: str) -> Segment:
    largest = max(run, key=lambda letter: letter.size)
    return Segment(
        text=resolved(text),
        left=min(letter.left for letter in run),
        right=max(letter.right for letter in run),
        bottom=largest.bottom,
        top=largest.top,
        size=largest.size,
    )
