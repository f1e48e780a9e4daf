"""A question as a reader hears it: without invisible signs, odd spacing or letters in costume."""

import re
import unicodedata

_SPACED = re.compile(r"(?<!\w)\w(?:[\s._*|·-]+\w(?!\w)){3,}")
"""Four and more letters that stand apart, as in "i g n o r e" or "I.g.n.o.r.e"."""

_LOOKALIKE = str.maketrans("аеорсухіјѕ" + "АВЕКМНОРСТХ" + "αορν", "aeopcyxijs" + "ABEKMHOPCTX" + "aopv")
"""Cyrillic and Greek letters that pass for Latin ones, within words that are Latin otherwise."""

_WORD = re.compile(r"\w+")
_LATIN, _GREEK_OR_CYRILLIC = re.compile(r"[A-Za-z]"), re.compile(r"[\u0370-\u04ff]")


def plain(text: str) -> str:
    """Compatible forms made one (full-width, bold and circled letters), format signs out.

    Zero-width signs and soft hyphens vanish, letters typed apart are joined, and a Latin word with Cyrillic
    letters in it is Latin.
    """
    shown = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    latin = _WORD.sub(lambda match: _in_latin(match.group()), shown)
    spaced = " ".join(latin.replace("’", "'").replace("‘", "'").split())
    return _SPACED.sub(lambda match: re.sub(r"[\s._*|·-]+", "", match.group()), spaced)


def _in_latin(word: str) -> str:
    mixed = _LATIN.search(word) and _GREEK_OR_CYRILLIC.search(word)
    return word.translate(_LOOKALIKE) if mixed else word


def folded(text: str) -> str:
    """The same for comparing words: no case and no accents, so that "Gehälter" begins like "Gehalt"."""
    bare = unicodedata.normalize("NFKD", plain(text).casefold())
    return "".join(char for char in bare if not unicodedata.combining(char))
