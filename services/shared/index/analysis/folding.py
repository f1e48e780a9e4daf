"""One spelling of what looks the same: width, ligatures, case, quotes, hyphens, vowel points, digits, accents."""

import re
import unicodedata

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_ALIKE = {ord(c): "'" for c in "‘’‛ʼ＇`´"} | {ord(c): "-" for c in "‐‑‒–−"} | _INVISIBLE

# Points and the stretching stroke are written or left out at will; forms of alef, yeh and kaf by habit and keyboard.
_ARABIC_POINTS = "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
_HEBREW_POINTS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
_POINTS = re.compile(f"[{_ARABIC_POINTS}{_HEBREW_POINTS}\u0300-\u036f]+")
_LETTERS = dict(zip(map(ord, "أإآٱىیکё"), "ااااييكе", strict=True))
_DIGITS = {
    code: str(unicodedata.digit(chr(code)))
    for first in (0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50)
    for code in range(first, first + 10)
}

_ACCENTS = re.compile("[\u0300-\u036f]+")
_UNDIVIDED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})


def fold(text: str) -> str:
    """The spelling that a stemmer takes: accents on letters stay, everything else is one."""
    if text.isascii():
        return text.replace("`", "'").lower()
    folded = unicodedata.normalize("NFKC", text).translate(_ALIKE).casefold()
    # Once more: a folded letter may have fallen apart, and a mark that no letter took up is none.
    composed = unicodedata.normalize("NFKC", folded).translate(_LETTERS | _DIGITS)
    return _POINTS.sub("", composed)


def without_accents(term: str) -> str:
    """A folded term as somebody types it who has no accents at hand; only Latin letters are changed."""
    if term.isascii() or term[0] > "\u024f":
        return term
    return _ACCENTS.sub("", unicodedata.normalize("NFD", term.translate(_UNDIVIDED)))
