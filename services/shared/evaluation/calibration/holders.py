"""Which passages hold an answer: the one that it was taken from, near-copies, and neighbours that overlap with it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

Key = TypeVar("Key")

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
GRAM = 3
COPIED = 0.6
"""Share of an answer's runs of three words that a passage repeats when it holds the answer."""
TOLD = 0.8
"""Share of the longer words of an answer, or of a question, that a passage holds which tells it in other words."""
SHORT = 4
"""Words of fewer letters are left out of that share, unless they hold a digit."""


def tokens(text: str) -> list[str]:
    """Words in small letters; of scripts without spaces, characters."""
    return _TOKEN.findall(text.casefold())


def holds(text: str, answer: str, facts: Sequence[Sequence[str]], question: str) -> bool:
    """Does the passage hold the answer: word for word, told in another order, or the facts that were asked for?"""
    wanted, there = tokens(answer), tokens(text)
    if not wanted:
        return False
    size = min(GRAM, len(wanted))
    grams, present = _grams(wanted, size), _grams(there, size)
    if len(grams & present) >= COPIED * len(grams):
        return True
    said = " ".join(there)
    if not all(any(" ".join(tokens(wording)) in said for wording in fact) for fact in facts):
        return False
    return _told(wanted, there) or (bool(facts) and _told(tokens(question), there))


def _told(wanted: Sequence[str], there: Sequence[str]) -> bool:
    words = {word for word in wanted if len(word) >= SHORT or any(char.isdigit() for char in word)}
    return bool(words) and len(words.intersection(there)) >= TOLD * len(words)


def holders(answers: Sequence[str], passages: Iterable[tuple[Key, str]]) -> list[list[Key]]:
    """For each answer, the keys of the passages that repeat it word for word, or nearly so.

    One walk over the passages, however many answers there are.
    """
    wanted: dict[tuple[str, ...], list[int]] = defaultdict(list)
    needed: list[float] = []
    for n, answer in enumerate(answers):
        words = tokens(answer)
        grams = _grams(words, min(GRAM, len(words))) if words else set()
        needed.append(COPIED * len(grams) if grams else float("inf"))
        for gram in grams:
            wanted[gram].append(n)
    sizes = {len(gram) for gram in wanted}
    found: list[list[Key]] = [[] for _ in answers]
    for key, text in passages:
        words = tokens(text)
        shared = Counter(n for size in sizes for gram in _grams(words, size) for n in wanted.get(gram, ()))
        for n, number in shared.items():
            if number >= needed[n]:
                found[n].append(key)
    return found


def _grams(words: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)}
