"""The smallest part of a source that still supports a sentence: whole clauses, byte for byte."""

import re
from collections.abc import Iterator

from services.generator.domain import terms
from services.generator.domain.facts import faults
from services.generator.domain.sentences import split

LEAST_WORDS = 3
"""A shorter quotation says nothing to a reader."""
MOST_CLAUSES = 16
"""More are quoted whole: a list of names is no sentence to be cut."""

_BOUNDARY = re.compile(r"(?<=[,;:])\s+|\s+[—–]\s+|\s+(?=\((?=\w))|(?<=\))\s+")
_LEADING = re.compile(r"(?:and|or|und|oder)\s+|[\s—–-]+")
_TRAILING = re.compile(r"[\s,;:—–-]+$")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))


def smallest(claim: str, text: str, start: int, end: int, known: str = "") -> tuple[int, int]:
    """The shortest run of clauses of ``text[start:end]`` with every word and fact that the claim has from there.

    ``known`` names what needs no source. The whole of it is returned where no shorter run will do.
    """
    cuts = list(_clauses(text, start, end))
    if len(cuts) < 2 or len(cuts) > MOST_CLAUSES:
        return start, end
    wanted = set(terms.words(claim)) & set(terms.words(text[start:end]))
    runs = [(cuts[at][0], cuts[to][1]) for at in range(len(cuts)) for to in range(at, len(cuts))]
    for first, last in sorted(runs, key=lambda run: (run[1] - run[0], run[0])):
        first, last = _trimmed(text, first, last)
        quote = text[first:last]
        if len(re.findall(r"\w+", quote)) < LEAST_WORDS or not wanted <= set(terms.words(quote)):
            continue
        if _is_whole(quote) and not faults(claim, quote, known):
            return first, last
    return start, end


def _clauses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Neighbouring pieces of the text, cut at sentences' ends and at the marks between clauses."""
    for sentence in split(text[start:end]):
        begin, stop = start + sentence.start, start + sentence.end
        if sentence.kind != "prose":
            yield begin, stop
            continue
        for boundary in _BOUNDARY.finditer(text, begin, stop):
            if boundary.start() > begin:
                yield begin, boundary.start()
                begin = boundary.end()
        if begin < stop:
            yield begin, stop


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    if leading := _LEADING.match(text, start, end):
        start = leading.end()
    trailing = _TRAILING.search(text[start:end])
    return start, start + trailing.start() if trailing else end


def _is_whole(quote: str) -> bool:
    """Whether no bracket, quotation, emphasis or code was cut in two."""
    paired = all(quote.count(left) == quote.count(right) for left, right in _PAIRS)
    return paired and not any(quote.count(mark) % 2 for mark in ("**", "`", '"', "__"))
