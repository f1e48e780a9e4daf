"""When do two passages say the same? By their letters, their words and, where letters leave a doubt, their vectors."""

import math
import re
from collections.abc import Sequence
from functools import cached_property

SAME_SHARE = 0.9
"""Share of common shingles (Jaccard) from which two texts count as one. Hand-set."""

CONTAINED_SHARE = 0.95
"""Share of the shorter text's shingles from which the longer one says all that it says. Hand-set."""

DOUBTFUL_SHARE = 0.5
"""From this share on, vectors decide: texts that share half of their shingles may be one text in two wordings."""

SAME_COSINE = 0.97
"""Cosine similarity of the vectors from which a doubtful pair counts as one. Hand-set."""

SHARED_WORDS = 0.4
"""Below this share of the shorter text's words, shingles cannot reach ``DOUBTFUL_SHARE``."""

LONG_WORD = 15
"""Mean letters a word from which a text is of a script without spaces."""

SHINGLE = 5
"""Letters a shingle; letters, not words, so that scripts without spaces work too."""

# fmt: off
_TURNING = frozenset({
    "not", "no", "never", "without", "none", "neither", "nor", "cannot", "except", "only", "nicht", "kein", "keine",
    "nie", "ohne", "pas", "jamais", "sans", "aucun", "sin", "nunca", "non", "senza", "ikke", "inte", "geen", "niet",
})
# fmt: on
_WORD = re.compile(r"[\w'’]+")


class Print:
    """What is compared of a text. The shingles, which cost most, are cut when two texts share words enough."""

    def __init__(self, text: str) -> None:
        words = _WORD.findall(text.casefold())
        self.words = frozenset(words)
        self._joined = " ".join(words)
        self._spaceless = len(self._joined) > LONG_WORD * len(words)

    @cached_property
    def shingles(self) -> frozenset[str]:
        """Case and punctuation aside."""
        joined = self._joined
        return frozenset(joined[at : at + SHINGLE] for at in range(max(1, len(joined) - SHINGLE + 1)))

    def strange_to(self, other: "Print") -> bool:
        """Do the words alone tell that the two have little in common? Never of scripts without spaces."""
        if self._spaceless or other._spaceless:
            return False
        return len(self.words & other.words) < SHARED_WORDS * min(len(self.words), len(other.words))


def turned(left: Print, right: Print) -> bool:
    """Do they differ in a number or a negation? Then they say different things, however alike they look."""
    return any(
        word in _TURNING or any(map(str.isdigit, word)) or "n't" in word or "n’t" in word
        for word in left.words ^ right.words
    )


def same_text(left: Print, right: Print) -> bool:
    """Nearly all letters in common, and neither a number nor a negation more or less."""
    return not left.strange_to(right) and _jaccard(left, right) >= SAME_SHARE and not turned(left, right)


def says_all_of(longer: Print, shorter: Print) -> bool:
    """Does the longer text hold the whole of the shorter one?"""
    if longer.strange_to(shorter):
        return False
    common = len(longer.shingles & shorter.shingles)
    return len(longer.shingles) >= len(shorter.shingles) and common >= CONTAINED_SHARE * len(shorter.shingles)


def doubtful(left: Print, right: Print) -> bool:
    """Alike, not the same by letters, and nothing turned: their vectors can tell."""
    if left.strange_to(right):
        return False
    return DOUBTFUL_SHARE <= _jaccard(left, right) < SAME_SHARE and not turned(left, right)


def same_meaning(left: Sequence[float], right: Sequence[float]) -> bool:
    """By the vectors of a doubtful pair."""
    product = math.fsum(a * b for a, b in zip(left, right, strict=True))
    lengths = math.sqrt(math.fsum(a * a for a in left) * math.fsum(b * b for b in right))
    return lengths > 0 and product >= SAME_COSINE * lengths


def _jaccard(left: Print, right: Print) -> float:
    common = len(left.shingles & right.shingles)
    return common / (len(left.shingles) + len(right.shingles) - common)
