"""Letters as fonts draw them, turned into letters as people write them: ligatures, and words from right to left."""

import re
import unicodedata
from itertools import pairwise

_DRAWN = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufb4f\ufb50-\ufdfb\ufe70-\ufefc]")
"""Ligatures and the shapes that Hebrew and Arabic letters take in a word. Nothing else is normalised: ``²`` is no 2."""

_BULLETS = str.maketrans(dict.fromkeys("\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf0a8\uf06e", "•"))
"""The list marks of the fonts Symbol and Wingdings, which have no letters of their own."""

_RTL = frozenset({"R", "AL"})
_NUMBER = frozenset({"EN", "AN", "ES", "CS", "ET"})
_BRACKETS = ("()", "[]", "{}")


def resolved(text: str) -> str:
    """The text with ligatures as single letters (``ﬁ`` as ``fi``), and Arabic letters without their shapes."""
    if text.isascii():
        return text
    text = _DRAWN.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return text.translate(_BULLETS)


def runs_right_to_left(text: str) -> bool:
    """Does it hold any Hebrew or Arabic letter?"""
    # U+0590 is where Hebrew begins.
    return max(text, default="") >= "\u0590" and any(unicodedata.bidirectional(char) in _RTL for char in text)


def is_right_to_left(text: str) -> bool:
    """Are more of its letters Hebrew or Arabic than others?"""
    if text.isascii():
        return False
    classes = [unicodedata.bidirectional(char) for char in text]
    return sum(one in _RTL for one in classes) > classes.count("L")


def as_read(drawn: list[str]) -> str:
    """Letters in the order in which they stand from left to right, put into the order in which they are read.

    An item may hold several letters (a ligature, or a space before a letter), which stay as they are. This is the
    Unicode bidirectional algorithm backwards, for what printed lines hold: words of one direction, and numbers and
    words of the other among them.
    """
    if not runs_right_to_left("".join(drawn)):
        return "".join(drawn)
    rtl_line = is_right_to_left("".join(drawn))
    directions = _directions(drawn, rtl_line)
    runs: list[list[str]] = [[drawn[0]]]
    for (before, now), item in zip(pairwise(directions), drawn[1:], strict=True):
        if before == now:
            runs[-1].append(item)
        else:
            runs.append([item])
    starts = [directions[0]]
    starts += [now for before, now in pairwise(directions) if before != now]
    read = [_turned(run) if rtl else "".join(run) for run, rtl in zip(runs, starts, strict=True)]
    return _with_brackets_mended("".join(reversed(read) if rtl_line else read))


def _with_brackets_mended(line: str) -> str:
    """Brackets in pairs. What is drawn as ``)`` may be either of them: libraries mirror some of them and not others."""
    for pair in _BRACKETS:
        at = [n for n, char in enumerate(line) if char in pair]
        if len(at) % 2 == 0:
            letters = list(line)
            for n, place in enumerate(at):
                letters[place] = pair[n % 2]
            line = "".join(letters)
    return line


def _directions(drawn: list[str], rtl_line: bool) -> list[bool]:
    """For each item whether it runs from right to left; what has no direction takes that of both its neighbours."""
    strong: list[bool | None] = []
    for item in drawn:
        kind = unicodedata.bidirectional(item[-1])
        strong.append(True if kind in _RTL else False if kind == "L" or kind in _NUMBER - {"ES", "CS", "ET"} else None)
    settled: list[bool] = []
    for n, one in enumerate(strong):
        if one is not None:
            settled.append(one)
            continue
        before = next((side for side in reversed(strong[:n]) if side is not None), rtl_line)
        after = next((side for side in strong[n + 1 :] if side is not None), rtl_line)
        settled.append(before if before == after else rtl_line)
    return settled


def _turned(run: list[str]) -> str:
    """A run from right to left. Marks stand behind the letter that carries them, in either direction."""
    groups: list[str] = []
    for item in run:
        if groups and unicodedata.combining(item[-1]):
            groups[-1] += item
        else:
            groups.append(item)
    return "".join(reversed(groups))
