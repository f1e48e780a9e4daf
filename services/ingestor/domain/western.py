"""Does a text that was decoded as Windows-1252 read like a Western European language?

Detectors that go by byte statistics take short Western texts for Central European ones (``Le Chęne`` for
``Le Chêne``), so the commonest legacy encoding is judged first by rules that such languages keep.
"""

import re

_LETTERS = frozenset("àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿœšžßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŸŒŠŽ")
_SYMBOL_IN_WORD = re.compile(r"[^\W\d_][¡-¶¸-¿×÷ƒˆ˜‚„…†‡‰‹›‘“”•€™][^\W\d_]")
_CAPITAL_INSIDE = re.compile(r"[a-zß-ÿ][ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŸŒŠŽ]")
_C1 = re.compile("[\x80-\x9f]")

ACCENTED_SHARE = 0.25
"""Accented letters among all letters: French prose has about 0.04; Cyrillic or Greek read wrongly has nearly 1."""


def reads_as_western(text: str) -> bool:
    """True when accents are sparse, none stands where no such language puts one, and no symbol is inside a word."""
    letters = sum(char.isalpha() for char in text)
    accented = [char for char in text if char.isalpha() and char > "\x7f"]
    if letters and len(accented) / letters > ACCENTED_SHARE:
        return False
    if any(char not in _LETTERS and char not in "ªºµƒˆ" for char in accented):
        return False
    return not (_SYMBOL_IN_WORD.search(text) or _CAPITAL_INSIDE.search(text))


def holds_control_characters(text: str) -> bool:
    """C1 controls (U+0080 to U+009F) in a decoded text are the mark of a wrong encoding."""
    return _C1.search(text) is not None
