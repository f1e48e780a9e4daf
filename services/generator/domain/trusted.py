"""What of a passage may be believed: all but the paragraphs in which somebody speaks to the assistant."""

from services.generator.domain.guardrail import planted
from services.generator.domain.sentences import Sentence, split

LEFT_OUT = "[…]"


def sentences(text: str, *, after: int = 0) -> list[Sentence]:
    """Sentences from ``after`` on, without the paragraphs and list items that hold a planted instruction.

    The sentences around such an instruction are usually what it wants to have said.
    """
    found = split(text, after=after)
    planted_blocks = _planted_blocks(text, found)
    return [one for one in found if one.block not in planted_blocks]


def without_planted(text: str) -> str:
    """``text`` with each such paragraph replaced by a mark that something is missing."""
    found = split(text)
    blocks = _planted_blocks(text, found)
    for block in sorted(blocks, reverse=True):
        inside = [one for one in found if one.block == block]
        text = text[: inside[0].start] + LEFT_OUT + text[inside[-1].end :]
    return text


def _planted_blocks(text: str, found: list[Sentence]) -> set[int]:
    return {one.block for one in found if planted(text[one.start : one.end])}
