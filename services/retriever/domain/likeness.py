"""When do two passages say the same? Word for word alone; and when do they speak of the same? By their vectors."""

import math
import re
from collections.abc import Sequence
from functools import cached_property

SAME_SHARE = 0.9
"""Share of common shingles (Jaccard) from which two texts count as one. Hand-set."""

DOUBTFUL_SHARE = 0.5
"""From this share on, vectors are asked whether two passages speak of the same in other words."""

SAME_COSINE = 0.97
"""Cosine similarity of the vectors from which a doubtful pair speaks of the same. Hand-set."""

SHARED_WORDS = 0.4
"""Below this share of the shorter text's words, shingles cannot reach ``DOUBTFUL_SHARE``."""

LONG_WORD = 15
"""Mean letters a word from which a text is of a script without spaces."""

SHINGLE = 5
"""Letters a shingle; letters, not words, so that scripts without spaces work too."""

_ARTICLES = frozenset(
    ["a", "an", "the", "der", "die", "das", "ein", "eine", "le", "la", "les", "un", "une", "el", "los"]
)
"""Copies may differ in them and in no other word: "and" and "or", "by" and "for" say different things."""

_SIGNS = frozenset("+#%€$£¥<>=@^~°±≤≥−&")
_FIGURE = re.compile(r"[-+−±<>≤≥]?\s?[$€£¥]?\d[\d.,]*\s?[%°$€£¥]?")
_WORD = re.compile(r"[\w'’]+")


class Print:
    """What is compared of a text. The shingles, which cost most, are cut when two texts share words enough."""

    def __init__(self, text: str) -> None:
        words = _WORD.findall(text.casefold())
        self.words = frozenset(words)
        self.telling = tuple(word for word in words if word not in _ARTICLES)
        self.figures = tuple(re.sub(r"\s", "", figure) for figure in _FIGURE.findall(text))
        self.signs = tuple(sign for sign in text if sign in _SIGNS)
        self._joined = " ".join(words)
        self._spaceless = len(self._joined) > LONG_WORD * len(words)

    @cached_property
    def shingles(self) -> frozenset[str]:
        """Stretches of five letters, case and punctuation aside."""
        joined = self._joined
        return frozenset(joined[at : at + SHINGLE] for at in range(max(1, len(joined) - SHINGLE + 1)))

    def strange_to(self, other: "Print") -> bool:
        """Do the words alone tell that the two have little in common? Never of scripts without spaces."""
        if self._spaceless or other._spaceless:
            return False
        return len(self.words & other.words) < SHARED_WORDS * min(len(self.words), len(other.words))


def same_text(left: Print, right: Print) -> bool:
    """Do they say the same, word for word? Nearly all letters in common, the same words that carry meaning in the same
    order, and the same figures and signs: "permitted" and "prohibited" are one word apart."""
    if left.telling != right.telling or left.figures != right.figures or left.signs != right.signs:
        return False
    return _jaccard(left, right) >= SAME_SHARE


def doubtful(left: Print, right: Print) -> bool:
    """Alike and not word for word the same: their vectors can tell whether they speak of the same.

    Never with other figures: two readings of one meter are two facts."""
    if left.figures != right.figures:
        return False
    return not left.strange_to(right) and _jaccard(left, right) >= DOUBTFUL_SHARE and not same_text(left, right)


def same_subject(left: Sequence[float], right: Sequence[float]) -> bool:
    """By the vectors of a doubtful pair. They may still say opposite things of it."""
    product = math.fsum(a * b for a, b in zip(left, right, strict=True))
    lengths = math.sqrt(math.fsum(a * a for a in left) * math.fsum(b * b for b in right))
    return lengths > 0 and product >= SAME_COSINE * lengths


def _jaccard(left: Print, right: Print) -> float:
    common = len(left.shingles & right.shingles)
    return common / (len(left.shingles) + len(right.shingles) - common)
