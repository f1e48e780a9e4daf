"""All the words of an HTML page as Markdown, for what has no navigation: chapters, e-mails, and pages of no article."""

import re
from html.parser import HTMLParser
from typing import Any, TypeAlias

HtmlElement: TypeAlias = Any
"""lxml.html's; lxml has no types of its own."""

_BLOCKS = frozenset(
    [
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"),
        *("html", "legend", "li", "main", "nav", "ol", "option", "p", "pre", "section", "select", "summary", "table"),
        *("tbody", "td", "textarea", "tfoot", "th", "thead", "tr", "ul"),
    ]
)
_TIGHT = frozenset({"li", "dt", "dd", "tr", "option"})
"""Blocks that begin a line and not a paragraph."""

CELLS_MAX = 1_000_000
"""Cells of a table, all rows as wide as its widest; a larger one is read as lines."""

_UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "svg", "iframe", "object", "math"})
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f\v\u00a0]+")
_GAPS = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")
_TICKS = re.compile(r"`{3,}")


def whole(tree: HtmlElement) -> str:
    """Headings, lists, code and tables of the page as Markdown. Without recursion, so that depth is no danger."""
    from lxml import etree  # type: ignore[import-untyped]

    body = tree.find("body")
    writer = _Writer()
    walk = etree.iterwalk(tree if body is None else body, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if not writer.start(element):
                walk.skip_subtree()
        else:
            writer.end(element)
    return _GAPS.sub("\n\n", "".join(writer.pieces)).strip()


def words_without_tree(page: str) -> str:
    """The words of a page that no tree can hold, such as one of fifty thousand elements within each other."""
    reader = _Words()
    reader.feed(page)
    reader.close()
    return _GAPS.sub("\n\n", "".join(reader.pieces)).strip()


class _Writer:
    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._lists: list[int | None] = []
        """For each open list the number of its next item; None where items have no numbers."""

    def start(self, element: HtmlElement) -> bool:
        """Writes what stands before the element's content; False when the content is not to be read."""
        tag = element.tag if isinstance(element.tag, str) else ""
        if not tag or tag in _UNSEEN or element.get("hidden") is not None or _HIDDEN.search(element.get("style", "")):
            return False
        if tag == "br":
            self.pieces.append("\n")
        elif tag == "pre":
            self.pieces.append(_fenced(str(element.xpath("string()"))))
            return False
        elif tag == "table" and (rows := _data_table(element)):
            self.pieces.append(_pipe_table(rows))
            return False
        elif tag in _BLOCKS:
            self._break(tag)
            self.pieces.append(self._mark(tag))
        if element.text:
            self._say(element.text)
        return True

    def end(self, element: HtmlElement) -> None:
        """Writes what stands behind the element."""
        tag = element.tag if isinstance(element.tag, str) else ""
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        if tag in _BLOCKS:
            self._break(tag)
        if element.tail:
            self._say(element.tail)

    def _break(self, tag: str) -> None:
        """Ends the line; also the paragraph, but for items and for lists within lists."""
        tight = tag in _TIGHT or (tag in ("ul", "ol") and len(self._lists) > 0)
        while self.pieces and not self.pieces[-1]:
            self.pieces.pop()
        end = self.pieces[-1][-2:] if self.pieces else "\n\n"
        if end != "\n\n" and not (tight and end.endswith("\n")):
            self.pieces.append("\n" if tight or end.endswith("\n") else "\n\n")

    def _mark(self, tag: str) -> str:
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            return "#" * int(tag[1]) + " "
        if tag in ("ul", "ol"):
            self._lists.append(1 if tag == "ol" else None)
        if tag != "li":
            return ""
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        indent = "  " * min(10, max(0, len(self._lists) - 1))
        return indent + (f"{number}. " if number is not None else "- ")

    def _say(self, words: str) -> None:
        words = _SPACE.sub(" ", words)
        # After a new line or a mark, a blank would only indent.
        if self.pieces and self.pieces[-1][-1:] in ("\n", " "):
            words = words.lstrip(" ")
        if words:
            self.pieces.append(words)


def _data_table(table: HtmlElement) -> list[list[str]]:
    """The cells of a table that holds data; nothing for one that only lays out a page."""
    if table.find(".//table") is not None:
        return []
    rows = []
    for row in table.iter("tr"):
        cells = []
        for cell in row.iterchildren("td", "th"):
            if cell.find(".//pre") is not None or cell.find(".//h2") is not None:
                return []
            cells.append(_SPACE.sub(" ", str(cell.xpath("string()"))).strip().replace("|", "\\|"))
        if any(cells):
            rows.append(cells)
    wide = max((len(cells) for cells in rows), default=0)
    filled = [sum(1 for cell in cells if cell) for cells in rows]
    data = wide > 1 and sum(1 for count in filled if count > 1) > 1
    return rows if data and wide * len(rows) <= CELLS_MAX else []


def _pipe_table(rows: list[list[str]]) -> str:
    wide = max(len(cells) for cells in rows)
    lines = [f"| {' | '.join(cells + [''] * (wide - len(cells)))} |" for cells in rows]
    return "\n\n" + "\n".join([lines[0], "|" + "---|" * wide, *lines[1:]]) + "\n\n"


def _fenced(code: str) -> str:
    ticks = "`" * max([3, *(len(found) + 1 for found in _TICKS.findall(code))])
    code = code.replace("\r\n", "\n").strip("\n")
    return f"\n\n{ticks}\n{code}\n{ticks}\n\n" if code.strip() else ""


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unseen = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "head") and not self._unseen:
            self._unseen = tag
        elif tag in _BLOCKS or tag == "br":
            self.pieces.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._unseen:
            self._unseen = ""
        elif tag in _BLOCKS:
            self.pieces.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.pieces.append(_SPACE.sub(" ", data))
