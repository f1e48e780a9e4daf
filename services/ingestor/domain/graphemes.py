"""What a reader sees as one character: no cut may fall inside of it.

After Unicode's grapheme clusters (UAX 29), a little more careful: what may belong together is kept together.
"""

import re
from unicodedata import category

CLUSTER_MAX = 100
"""Code points. Whatever goes on longer is no character (Unicode's stream-safe texts have at most 30 marks in a row)."""

_EXTENDS = re.compile("[\u200c\u200d\uff9e\uff9f\u0e33\u0eb3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
"""What clings to the character before it and is no mark: joiners, Thai and Lao am, skin tones, tags of flags."""

_CONJOINS = re.compile("[\u200d\u0600-\u0605\u06dd\u070f\u0d4e\u08e2]")
"""What holds the character after it: joiners, and signs that enclose a number or begin a letter."""

_SWALLOWS = re.compile("[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2\u1b44]")
"""Signs of Indic scripts that swallow a vowel, and join the consonant before to the one after, also over marks."""

_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
_JAMO_FIRST = re.compile("[\u1100-\u115f\ua960-\ua97c]")
_AFTER_FIRST = re.compile("[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3]")
_JAMO_LATER = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb]")
_HANGUL = re.compile("[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb]")


def inside_character(text: str, at: int, start: int = 0) -> bool:
    """Would a cut before ``text[at]`` split a character? ``start`` is a place known to be between two."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isspace():
        return (before, after) == ("\r", "\n")
    if before < "\u0300" and after < "\u0300":
        return False
    if category(after)[0] == "M" or _EXTENDS.match(after) or _CONJOINS.match(before):
        return not after.isspace()
    if _AFTER_FIRST.match(after):
        return _JAMO_FIRST.match(before) is not None
    if _JAMO_LATER.match(after):
        return _HANGUL.match(before) is not None
    if _FLAG.match(after):
        return _flags_before(text, at, start) % 2 == 1
    return "\u0900" <= after < "\u1c00" and _swallowed_before(text, at, start)


def between_characters(text: str, start: int, end: int, ideal: int) -> int:
    """The place inside of text[start:end] nearest to the ideal that splits no character."""
    ideal = max(start + 1, min(ideal, end - 1))
    for step in range(CLUSTER_MAX):
        for at in (ideal - step, ideal + step):
            if start < at < end and not inside_character(text, at, start):
                return at
    return ideal


def _swallowed_before(text: str, at: int, start: int) -> bool:
    while at > start and (category(text[at - 1])[0] == "M" or _EXTENDS.match(text[at - 1])):
        at -= 1
        if _SWALLOWS.match(text[at]):
            return True
    return False


def _flags_before(text: str, at: int, start: int) -> int:
    """A flag is a pair of letters of its own alphabet; a row of flags has no other sign of where one ends."""
    first = at
    while first > start and _FLAG.match(text[first - 1]):
        first -= 1
    return at - first
