"""How checked sentences stand beside each other: blanks, lines, list marks; and where their markers go."""

import re
from collections.abc import Sequence

_BETWEEN = re.compile(r"[ \t]*(?:\n[ \t]*){0,2}(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?")
"""All that may stand between two sentences: white space and one list mark, never words."""

_ENDING = re.compile(r"[.!?…。！？]+$")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_TABLE_ROW = re.compile(r"[ \t]*\|.*")


def between(before: str) -> str:
    """What the writer set before a sentence, if it is layout and nothing else; else a blank."""
    return before if before and _BETWEEN.fullmatch(before) else " "


def placed(before: str, text: str, *, first: bool) -> str:
    """The sentence with what stands before it; at the head of an answer only a list mark does."""
    return f"{before.lstrip() if first else before}{text}"


def with_markers(text: str, numbers: Sequence[int]) -> str:
    """The sentence with its [n] before the final punctuation, or after it where it has none.

    A block of code has them on a line of their own, since nothing may follow its closing fence, and a table in
    the last cell of its last row, since what follows that is not shown.
    """
    markers = "".join(f"[{n}]" for n in numbers)
    if _FENCE.match(text) and _FENCE.match(text.rsplit("\n", 1)[-1]):
        return f"{text}\n{markers}"
    head, line_end, last = text.rpartition("\n")
    if _TABLE_ROW.fullmatch(last):
        cells = last.rstrip().removesuffix("|").rstrip()
        return f"{head}{line_end}{cells} {markers} |"
    ending = _ENDING.search(text)
    body, end = (text[: ending.start()], ending.group()) if ending and ending.start() else (text, "")
    return f"{body.rstrip()} {markers}{end}"
