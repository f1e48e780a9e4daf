"""A text that is put together piece by piece, with the place in the original of each piece."""

import re
from collections.abc import Sequence

from services.ingestor.domain.blocks import markdown_blocks
from services.ingestor.domain.documents import Extracted
from services.shared.contracts.places import PLACE_MAX, Place

DEEPEST_HEADING = 6

_RULE = re.compile(r"[ \t]*(?:=+|-+)[ \t]*")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_INDENT = re.compile(r"(?: {4}|\t)[ \t]*")


class Stretches:
    """Pieces of text in order. A place holds until the next one; the same one twice is said once."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self.places: list[Place] = []

    def add(self, piece: str, place: str | None = None) -> None:
        """Append a piece; with ``place``, that is where it stands in the original."""
        if place is not None:
            label = place[:PLACE_MAX]
            if not self.places or self.places[-1].label != label:
                self.places.append(Place(start=self._length, label=label))
        self._pieces.append(piece)
        self._length += len(piece)

    def add_document(self, inner: Extracted, place: str, depth: int) -> None:
        """Append a whole document as a part of this Markdown text, ``depth`` levels of headings down.

        Its own places stand behind that of the part: "attachment prices.xlsx, sheet Prices, row 12".
        """
        starts = [one.start for one in inner.places if one.start < len(inner.text)]
        labels = [f"{place}, {one.label}" for one in inner.places]
        if not starts or starts[0] > 0:
            starts, labels = [0, *starts], [place, *labels]
        shifts = _lowered_headings(inner.text, depth) if inner.markdown else []
        for n, start in enumerate(starts):
            end = starts[n + 1] if n + 1 < len(starts) else len(inner.text)
            piece = inner.text[start:end]
            if inner.markdown:
                while shifts and shifts[-1][0] < end:
                    at, marks = shifts.pop()
                    at += len(piece) - (end - start)
                    piece = piece[: at - start] + marks + piece[at - start :]
            else:
                piece = as_markdown(piece)
            self.add(piece, labels[n])
        self.gap()

    def gap(self) -> None:
        """A blank line, so that what comes next is a block of its own."""
        if self._pieces and not self._pieces[-1].endswith("\n\n"):
            self.add("\n" if self._pieces[-1].endswith("\n") else "\n\n")

    @property
    def text(self) -> str:
        """The whole text so far."""
        return "".join(self._pieces)


def as_markdown(text: str) -> str:
    """Plain text that Markdown takes for paragraphs: no line of it opens a heading, code or a rule by chance."""
    lines = []
    for line in text.split("\n"):
        if _RULE.fullmatch(line):
            # Under a paragraph, a row of dashes would make a heading of it.
            line = "\\" + line.strip()
        elif line.startswith("#") or _FENCE.match(line):
            line = "\\" + line.lstrip()
        elif found := _INDENT.match(line):
            line = "   " + line[found.end() :]
        lines.append(line)
    return "\n".join(lines)


def _lowered_headings(text: str, depth: int) -> list[tuple[int, str]]:
    """Where a heading's marks begin, and those to put before them; the last ones first."""
    found = []
    for block in markdown_blocks(text):
        if block.kind == "heading" and text[block.start] == "#":
            level = len(text[block.start : block.start + DEEPEST_HEADING]) - len(
                text[block.start : block.start + DEEPEST_HEADING].lstrip("#")
            )
            found.append((block.start, "#" * (min(DEEPEST_HEADING, level + depth) - level)))
    return found[::-1]


def joined(warnings: Sequence[str | None]) -> str | None:
    """Several things to tell a document's owner as one; None without any."""
    return "; ".join(dict.fromkeys(one for one in warnings if one)) or None
