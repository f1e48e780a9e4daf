"""Reads a rendered report as a browser would: its elements with their attributes, and its text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Element:
    """``text`` is what stands directly inside or deeper."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    inside: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """``elements`` in the order in which they open."""

    VOID = frozenset({"meta", "input", "br", "hr", "img", "link"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html)
        self.close()
        assert self._open == [], f"not closed: {[one.tag for one in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, inside=[one.tag for one in self._open])
        self.elements.append(element)
        if tag not in self.VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> too many"
        assert self._open.pop().tag == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str) -> list[Element]:
        """Elements of that name."""
        return [one for one in self.elements if one.tag == tag]
