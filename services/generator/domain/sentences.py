"""Cuts a passage into sentences with exact offsets; understands the Markdown that passages keep.

A list item and a table row end where their line or block ends, a fenced code block is one unit, headings and
a table's header are no sentences. List and quotation markers stay outside of the spans.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["prose", "row", "code"]


@dataclass(frozen=True)
class Sentence:
    """``text[start:end]`` of the text that was cut, without surrounding white space.

    ``block`` numbers the paragraph, item, table or code block, from 0: sentences of one block were written
    in one breath. ``header`` holds the column names of a table's row, else it is empty; ``header_at`` is where
    they stand. ``mark`` is "-" or "1." where the sentence begins an item of a list.
    """

    start: int
    end: int
    kind: Kind
    block: int
    header: tuple[str, ...] = ()
    header_at: tuple[int, int] = (0, 0)
    mark: str = ""


@dataclass
class _Block:
    kind: Kind
    start: int
    end: int
    header: tuple[str, ...] = ()
    header_at: tuple[int, int] = (0, 0)


_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[-*+•][ \t]+)?(`{3,}|~{3,})")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-{2,})[ \t\r]*$")
_MARKER = re.compile(r"[ \t]*(?:(?:>|[-*+•‣▪]|\d{1,9}[.)])(?:[ \t]+|$)|>)(?:\[[ xX]\][ \t]+)?")
_ITEM = re.compile(r"[ \t>]*(?:([-*+•‣▪])|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?$")
_RULER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t\r]*$")
_EMPTY_FIRST = re.compile(r"[ \t]*\|[ \t]*\|")

_CLOSERS = "\"'”’»›)\\]」』）】*_`"
_END = re.compile(rf"[.!?…]+[{_CLOSERS}]*(?=\s|$)|[。！？｡।؟۔]+[{_CLOSERS}]*")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]+$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_ORDINAL_NEXT = re.compile(
    r"(?:jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[kc]t|nov|de[zc]|jahrhundert|century)\w*", re.IGNORECASE
)
_ABBREVIATIONS_LIST = (
    "dr mr mrs ms mx prof st vs resp approx ca cf al dept est fig figs vol ed eds rev gen col sgt capt lt hon"
    " jr sr messrs mt ft bzw usw ggf evtl vgl inkl exkl str hr fr nr abs bd etc inc ltd co corp no nos p pp sec"
    " jan feb mar apr jun jul aug sep sept oct nov dec"
)
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_LIST.split())
_BEFORE_A_NUMBER_LIST = "no nos p pp sec fig figs vol nr abs bd art jan feb mar apr jun jul aug sep oct nov dec"
_BEFORE_A_NUMBER = frozenset(_BEFORE_A_NUMBER_LIST.split())
_MAY_END_LIST = "etc inc ltd co corp jr sr al usw"
_MAY_END = frozenset(_MAY_END_LIST.split())
_OPENERS_LIST = (
    "the a an he she it they we you i this that these those in on at when while after before since there here"
    " his her its their our my your for from by with as if but and however although both each every some most"
    " all many no not one two what who where why how der die das ein eine er sie es wir"
)
_OPENERS = frozenset(_OPENERS_LIST.split())


def split(text: str, *, after: int = 0) -> list[Sentence]:
    """Sentences of ``text`` in order; those that begin before ``after`` (a repeated table header) are left out."""
    found: list[Sentence] = []
    for number, block in enumerate(_blocks(text)):
        spans = _cut(text, block.start, block.end) if block.kind == "prose" else [(block.start, block.end)]
        for start, end in spans:
            if start >= after and re.search(r"\w", text[start:end]):
                mark = _mark(text, start) if start == block.start else ""
                found.append(Sentence(start, end, block.kind, number, block.header, block.header_at, mark))
    return found


def _mark(text: str, start: int) -> str:
    """What kind of list item begins here, if any."""
    item = _ITEM.fullmatch(text, text.rfind("\n", 0, start) + 1, start)
    return "" if item is None else "-" if item[1] else "1."


def _blocks(text: str) -> Iterator[_Block]:
    """Paragraphs, items, rows and code blocks, each trimmed of white space and markers."""
    lines = [(match.start(), match.end()) for match in re.finditer(r"[^\n]+|(?<=\n)(?=\n)|^(?=\n)", text)]
    paragraph: _Block | None = None
    at = 0
    while at < len(lines):
        start, end = lines[at]
        line = text[start:end]
        following = text[slice(*lines[at + 1])] if at + 1 < len(lines) else ""
        if _FENCE.match(line):
            if paragraph:
                yield paragraph
            paragraph, at, block = None, *_code(text, lines, at)
            yield block
        elif "|" in line and "|" in following and _RULER.fullmatch(following):
            if paragraph:
                yield paragraph
            paragraph = None
            head = _row(text, start, end)
            header = tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
            at += 2
            while at < len(lines) and "|" in text[slice(*lines[at])]:
                row = _row(text, *lines[at], empty_first=True)
                row.header, row.header_at = header, (head.start, head.end)
                yield row
                at += 1
        else:
            finished, paragraph = _line(text, start, end, following, paragraph)
            yield from finished
            at += 1
    if paragraph:
        yield paragraph


def _line(
    text: str, start: int, end: int, following: str, paragraph: _Block | None
) -> tuple[list[_Block], _Block | None]:
    """What an ordinary line finishes, and the paragraph that is open after it."""
    line = text[start:end]
    before = [paragraph] if paragraph else []
    stripped = line.strip()
    if not stripped or _HEADING.match(line) or (_UNDERLINE.fullmatch(line) and not re.search(r"\w", line)):
        return before, None
    if not paragraph and not _MARKER.match(line) and _UNDERLINE.fullmatch(following):
        return [], None
    if stripped.startswith("|") and stripped.endswith("|") and len(stripped) > 1:
        return [*before, _row(text, start, end)], None
    content = start
    quoted = re.match(r"[ \t]*>", line) is not None
    while marker := _MARKER.match(text, content, end):
        content = marker.end()
    content += len(text[content:end]) - len(text[content:end].lstrip())
    block = _Block("prose", content, start + len(line.rstrip()))
    if paragraph and (content == start + len(line) - len(line.lstrip()) or (quoted and _inside_quote(text, paragraph))):
        paragraph.end = block.end
        return [], paragraph
    return before, block if block.start < block.end else None


def _inside_quote(text: str, paragraph: _Block) -> bool:
    """Whether the open paragraph began on a quoted line, so that this quoted line goes on with it."""
    line_start = text.rfind("\n", 0, paragraph.start) + 1
    return text[line_start : paragraph.start].strip() == ">"


def _code(text: str, lines: list[tuple[int, int]], at: int) -> tuple[int, _Block]:
    """The fenced block that opens on line ``at``, and the line after it; an unclosed one runs to the end."""
    opening = _FENCE.match(text[slice(*lines[at])])
    assert opening is not None
    fence, start = opening[1], lines[at][0] + opening.start(1)
    closing = re.compile(rf"[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t\r]*$")
    for last in range(at + 1, len(lines)):
        if closing.fullmatch(text[slice(*lines[last])]):
            return last + 1, _Block("code", start, lines[last][0] + len(text[slice(*lines[last])].rstrip()))
    return len(lines), _Block("code", start, len(text.rstrip()))


def _row(text: str, start: int, end: int, *, empty_first: bool = False) -> _Block:
    """A table row from its first cell to its last, without the outer bars.

    ``empty_first``: an empty first cell keeps its bar, or the others would move under their neighbours' names.
    """
    line = text[start:end]
    left = len(line) - len(line.lstrip(" \t|"))
    if empty_first and (first := _EMPTY_FIRST.match(line)):
        left = first.end() - 1
    right = len(line.rstrip(" \t|"))
    return _Block("row", start + left, start + max(left, right))


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for match in _END.finditer(text, start, end):
        if match.end() < end and not _ends_here(text, begin, match, end):
            continue
        yield begin, match.end()
        begin = match.end()
        while begin < end and (text[begin].isspace() or (text[begin] == ">" and text[begin - 1] == "\n")):
            begin += 1
    if begin < end:
        yield begin, end


def _ends_here(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    mark = match.group()
    following = text[match.end() : end].lstrip()
    following_word = re.match(r"\w*", following)
    word_after = following_word.group() if following_word else ""
    if mark[0] in "。！？｡।؟۔":
        return True
    if mark[0] in "!?…" or len(mark.rstrip(_CLOSERS.replace("\\", ""))) > 1:
        return not following[:1].islower()
    before = _LAST_WORD.search(text, begin, match.start())
    word = before.group() if before else ""
    if word.isdigit() and len(word) <= 2:
        return not _ORDINAL_NEXT.fullmatch(word_after)
    bare = word.casefold().strip("*_`")
    if _INITIALS.fullmatch(word):
        return word_after.casefold() in _OPENERS and word_after[:1].isupper() and bare not in ("e.g", "i.e", "z.b")
    if len(word) == 1 and word.isalpha() and word.isupper():
        return word == "I" or (word_after.casefold() in _OPENERS and word_after[:1].isupper())
    if bare in _BEFORE_A_NUMBER:
        return not word_after[:1].isdigit()
    if bare in _MAY_END:
        return word_after[:1].isupper()
    return bare not in _ABBREVIATIONS
