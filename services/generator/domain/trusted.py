"""What of a passage may be believed: all but the paragraphs in which somebody speaks to the assistant."""

import re

from services.generator.domain.orders import planted
from services.generator.domain.sentences import Sentence, split

LEFT_OUT = "[…]"

_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(?P<atx>[^\n]+)|^(?P<line>[^\n]+)(?=\n[ ]{0,3}(?:=+|-{2,})[ \t]*$)", re.M)


def sentences(text: str, *, after: int = 0) -> list[Sentence]:
    """Sentences from ``after`` on, without the paragraphs and list items that hold a planted instruction.

    The sentences around such an instruction are usually what it wants to have said.
    """
    found = split(text, after=after)
    planted_blocks = _planted_blocks(text, found)
    return [one for one in found if one.block not in planted_blocks]


def without_planted(text: str) -> str:
    """``text`` with each such paragraph, and each such heading, replaced by a mark that something is missing."""
    found = split(text)
    blocks = _planted_blocks(text, found)
    for block in sorted(blocks, reverse=True):
        inside = [one for one in found if one.block == block]
        text = text[: inside[0].start] + LEFT_OUT + text[inside[-1].end :]
    return _HEADING.sub(lambda found: LEFT_OUT if planted(found["atx"] or found["line"]) else found.group(), text)


def trusted_heading(title: str, section: str) -> str:
    """The title and the headings below it, those that are orders left out, joined by " > "."""
    path = [part for part in section.split(" > ") if part]
    if title and path[:1] != [title]:
        path.insert(0, title)
    path = [part for part in path if not planted(part)]
    # An order may be split over two headings, or hold the sign that parts them.
    return "" if planted(" ".join(path)) else " > ".join(path)


def _planted_blocks(text: str, found: list[Sentence]) -> set[int]:
    return {one.block for one in found if planted(text[one.start : one.end])}
