"""Searches made of a passage's own rare words: for content in languages whose sentences the rules cannot ask about."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from services.shared.evaluation.calibration.holders import tokens

WORDS = 5
"""Words of a search; people type about as many."""
LEAST_WORDS = 8
"""A shorter sentence would be asked whole."""
CHARACTERS = (8, 24)
"""A clause of a script without spaces, asked as it stands."""
_SENTENCE = re.compile(r"[^.!?。！？؟\n]+[.!?。！？؟]?")
_CLAUSE = re.compile(r"[^\s、，。,.;:!?！？「」『』()（）]+")


def searches(passages: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """For each passage that gives one: its place, the search, and the sentence that it is made of.

    The sentence is the one whose words are rarest among the passages; its rarest words come in their order.
    """
    holding = Counter(word for text in passages for word in set(tokens(text)))
    for place, text in enumerate(passages):
        best: tuple[float, str, str] | None = None
        for sentence in (found[0].strip() for found in _SENTENCE.finditer(text)):
            made = _of_sentence(sentence, holding)
            if made is not None and (best is None or made[0] > best[0]):
                best = (*made, sentence)
        if best is not None:
            yield place, best[1], best[2]


def _of_sentence(sentence: str, holding: Counter[str]) -> tuple[float, str] | None:
    words = tokens(sentence)
    rarity = {word: math.log(1 + holding.total() / holding[word]) for word in set(words) if holding[word]}
    if not any(char.isalpha() for char in sentence):
        return None
    if sum(len(word) == 1 for word in words) > len(words) / 2:
        clauses = [found[0] for found in _CLAUSE.finditer(sentence)]
        fit = [clause for clause in clauses if CHARACTERS[0] <= len(clause) <= CHARACTERS[1]]
        return (sum(rarity.values()) / len(words), max(fit, key=len)) if fit else None
    if len(rarity) < LEAST_WORDS:
        return None
    chosen = sorted(rarity, key=lambda word: (-rarity[word], word))[:WORDS]
    ordered = [word for word in dict.fromkeys(words) if word in chosen]
    return sum(rarity[word] for word in chosen) / WORDS, " ".join(ordered)
