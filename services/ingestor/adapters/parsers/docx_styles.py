"""What a Word paragraph is by its style: a heading of some rank, an item of a list with its number, or just text."""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from services.ingestor.adapters.parsers.xml_parts import XmlElement

T = TypeVar("T")

_HEADING = re.compile(r"heading (\d)")
_PLACEHOLDER = re.compile(r"%(\d)")
_DEEPEST = 6
_INHERITED = 20
"""Styles that a style is based on, one on the other; a longer chain is a circle."""


@dataclass
class _Style:
    name: str = ""
    based_on: str = ""
    level: int | None = None
    numbering: tuple[str, int] | None = None


@dataclass
class _Level:
    kind: str = "bullet"
    text: str = ""
    start: int = 1


@dataclass
class Paragraphs:
    """Styles and lists of one document; numbers count up as its paragraphs are asked for in order."""

    styles: dict[str, _Style] = field(default_factory=dict)
    lists: dict[str, dict[int, _Level]] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    _abstract: dict[str, str] = field(default_factory=dict)

    def read_styles(self, root: XmlElement) -> None:
        """Take over the styles of styles.xml."""
        for element in root.iter("{*}style"):
            based_on = value_of(element.find("{*}basedOn"))
            name = value_of(element.find("{*}name")).lower()
            properties = element.find("{*}pPr")
            style = _Style(name, based_on)
            if found := _HEADING.fullmatch(name):
                style.level = int(found[1])
            elif name == "title":
                style.level = 1
            elif properties is not None:
                style.level = _outline(properties)
            if properties is not None:
                style.numbering = _numbering(properties)
            self.styles[attribute(element, "styleId")] = style

    def read_lists(self, root: XmlElement) -> None:
        """Take over the lists of numbering.xml."""
        abstract = {
            attribute(one, "abstractNumId"): {
                int(attribute(level, "ilvl") or 0): _Level(
                    kind=value_of(level.find("{*}numFmt")) or "decimal",
                    text=value_of(level.find("{*}lvlText")),
                    start=_number(value_of(level.find("{*}start")), 1),
                )
                for level in one.iterfind("{*}lvl")
            }
            for one in root.iterfind("{*}abstractNum")
        }
        for one in root.iterfind("{*}num"):
            number, pattern = attribute(one, "numId"), value_of(one.find("{*}abstractNumId"))
            self.lists[number] = abstract.get(pattern, {})
            self._abstract[number] = pattern

    def lead(self, paragraph: XmlElement) -> tuple[str, str]:
        """What stands before the paragraph's words: the Markdown mark, and the number that Word would show."""
        properties = paragraph.find("{*}pPr")
        style = value_of(properties.find("{*}pStyle")) if properties is not None else ""
        level = self._inherited(style, lambda one: one.level)
        numbering = self._inherited(style, lambda one: one.numbering)
        if properties is not None:
            own = _outline(properties)
            level = level if own is None else own
            numbering = _numbering(properties) or numbering
        number, depth = self._counted(*numbering) if numbering else ("", 0)
        if level is not None and 1 <= level <= 9:
            return "#" * min(level, _DEEPEST) + " ", f"{number} " if number and number != "-" else ""
        return ("  " * depth + "- ", "") if number == "-" else ("", f"{number} " if number else "")

    def _inherited(self, style: str, of: Callable[[_Style], T | None]) -> T | None:
        for _ in range(_INHERITED):
            found = self.styles.get(style)
            if found is None:
                return None
            value = of(found)
            if value is not None:
                return value
            style = found.based_on
        return None

    def _counted(self, number: str, depth: int) -> tuple[str, int]:
        levels = self.lists.get(number)
        if levels is None or depth not in levels:
            return "", depth
        if levels[depth].kind in ("bullet", "none"):
            return "-" if levels[depth].kind == "bullet" else "", depth
        counts = self._counts[self._abstract.get(number, number)]
        counts[depth] = counts.get(depth, levels[depth].start - 1) + 1
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]

        def shown(found: re.Match[str]) -> str:
            at = int(found[1]) - 1
            level = levels.get(at, _Level())
            return _as(level.kind, counts.get(at, level.start))

        return _PLACEHOLDER.sub(shown, levels[depth].text).strip(), depth


def attribute(element: XmlElement, name: str) -> str:
    """An attribute whatever its namespace; transitional and strict files differ in it."""
    return next((str(value) for key, value in element.attrib.items() if key.rsplit("}", 1)[-1] == name), "")


def value_of(element: XmlElement | None) -> str:
    """The attribute ``val`` that most of Word's properties have."""
    return attribute(element, "val") if element is not None else ""


def _outline(properties: XmlElement) -> int | None:
    said = value_of(properties.find("{*}outlineLvl"))
    return int(said) + 1 if said.isdigit() else None


def _numbering(properties: XmlElement) -> tuple[str, int] | None:
    found = properties.find("{*}numPr")
    if found is None:
        return None
    return value_of(found.find("{*}numId")), _number(value_of(found.find("{*}ilvl")), 0)


def _number(said: str, otherwise: int) -> int:
    return int(said) if said.isdigit() and len(said) < 6 else otherwise


def _as(kind: str, number: int) -> str:
    if kind.endswith("Letter"):
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter.upper() if kind.startswith("upper") else letter
    if kind.endswith("Roman"):
        roman = _roman(number)
        return roman.upper() if kind.startswith("upper") else roman
    return str(number)


def _roman(number: int) -> str:
    pairs = [(1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")]
    pairs += [(10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")]
    letters = ""
    number %= 4000
    for value, letter in pairs:
        letters += letter * (number // value)
        number %= value
    return letters
