"""Where a text may be cut, best places first: blocks, lines, sentences, clauses, words, and last any character."""

import re
from collections.abc import Iterator

from services.ingestor.domain.graphemes import between_characters, inside_character

CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003fffd]"
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_LINE_END = re.compile(r"\n+")
_SENTENCE_END = re.compile(r"[.!?…]+[\"'’”)\]]*\s+|[。！？；｡]+[」』”’）]*\s*|[।۔؟։።]+\s*")
_CLAUSE_END = re.compile(r"[,;:]\s+|[，、：]\s*|\s[–—]\s")
_WORD_END = re.compile(r"\s+")
_CELL_END = re.compile(r"(?<!\\)\|[ \t]*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Fig|Eq|vs|al|cf|ca|approx|e\.g|i\.e|z\.B|bzw|etc|Inc|Ltd|Jr))\.\s+$"
)

PARAGRAPH, LINE, SENTENCE, CLAUSE, WORD, CHARACTER = range(6)

_PLACES = ((_PARAGRAPH_END, PARAGRAPH), (_LINE_END, LINE), (_SENTENCE_END, SENTENCE), (_CLAUSE_END, CLAUSE))

CJK_WORDS = 3.75
"""A Chinese or Japanese character in words. An embedder for English tells such texts apart only when they are short.
Chosen by trial for all-MiniLM-L6-v2; another embedder may want larger pieces."""

UNSPACED_WORDS = 0.3
"""A Thai, Lao, Burmese or Khmer character as a share of a word."""

LONG_WORD = 12
"""Letters after which a run without spaces counts as more than one word."""


def words(text: str) -> float:
    """Size of a text in words, for any script: runs between spaces, with long and unspaced runs weighed."""
    runs = text.split()
    total = float(len(runs))
    if text.isascii():
        return total + sum(len(run) / LONG_WORD - 1 for run in runs if len(run) > LONG_WORD)
    for run in runs:
        if run.isascii():
            total += max(0.0, len(run) / LONG_WORD - 1)
            continue
        cjk = len(CJK.findall(run))
        unspaced = len(_UNSPACED.findall(run))
        rest = len(run) - cjk - unspaced
        total += CJK_WORDS * cjk + UNSPACED_WORDS * unspaced
        total += max(1.0 if rest == len(run) else 0.0, rest / LONG_WORD) - 1
    return total


def best_cut(text: str, start: int, end: int, ideal: int) -> int:
    """The best place near ``ideal`` to cut text[start:end] in two, both parts not blank.

    The place is the end of the most meaningful unit inside a window around the ideal; it lies after the
    white space that ends the unit, so that the parts together are the whole.
    """
    reach = max(2, ideal - start)
    low = max(start + 1, ideal - reach // 2)
    high = min(end - 1, ideal + reach // 4)
    for pattern, unit in _PLACES:
        ends = _ends(pattern, text, low, high)
        found = [at for at in ends if unit != SENTENCE or not _abbreviated(text, start, at)]
        if found:
            return min(found, key=lambda at: abs(at - ideal))
    # Words from a wider window, because a cut inside a word is worse than an uneven one.
    spaces = list(_ends(_WORD_END, text, start + 1, min(end - 1, ideal + reach)))
    if spaces:
        return min(spaces, key=lambda at: abs(at - ideal))
    return between_characters(text, start, end, ideal)


def row_cut(text: str, start: int, end: int, ideal: int) -> int | None:
    """The line boundary of text[start:end] nearest to the ideal; None when there is no second line."""
    found = list(_ends(_LINE_END, text, start + 1, end - 1))
    return min(found, key=lambda at: abs(at - ideal)) if found else None


def cell_cut(text: str, start: int, end: int, ideal: int) -> int | None:
    """The end of a table's cell nearest to the ideal, in a row that is too long by itself; None in a lone cell."""
    found = list(_ends(_CELL_END, text, start + 1, end - 1))
    return min(found, key=lambda at: abs(at - ideal)) if found else None


def _ends(pattern: re.Pattern[str], text: str, low: int, high: int) -> Iterator[int]:
    # A little before the window, because a unit's end is a run whose beginning may lie outside of it.
    for found in pattern.finditer(text, max(0, low - 4), high + 1):
        if low <= found.end() <= high and not inside_character(text, found.end()):
            yield found.end()


def _abbreviated(text: str, start: int, at: int) -> bool:
    return _ABBREVIATION.search(text, max(start, at - 12), at) is not None
