"""How many hits to take from each list: a wide question needs more than a narrow one."""

import re
from dataclasses import dataclass

LONG, LONGER = 30, 60
"""Code points above which a question is likely to ask for more than one fact (from the personal-notes system)."""

_MARKERS = {
    "and": r"\band\b|&",
    "or": r"\bor\b",
    "compare": r"\bcompar(?:e|es|ed|ing|ison|isons)\b",
    "versus": r"\b(?:versus|vs)\b",
    "difference": r"\bdiffer(?:s|ed|ent|ence|ences)?\b",
    "both": r"\bboth\b",
    "between": r"\bbetween\b",
    "also": r"\balso\b|\bas well as\b",
    "each": r"\b(?:each|respectively)\b",
    "last time": r"\b(?:last|previous) time\b",
    "two questions": r"[?？].*[?？]",
}
_PATTERNS = {name: re.compile(pattern, re.DOTALL) for name, pattern in _MARKERS.items()}


@dataclass(frozen=True)
class Depth:
    """How many hits of each list are fused, how many are taken, and what led to the number."""

    fused: int
    per_list: int
    score: int
    signals: tuple[str, ...]


def choose_depth(question: str, top_k: int) -> Depth:
    """Score the question: one point over 30 characters, two over 60, one for each marker of several parts.

    Three points or more fuse 10 hits of each list, one or two 7, none 5. Never fewer than ``top_k`` are taken.
    """
    folded = question.casefold()
    length = 2 if len(question) > LONGER else 1 if len(question) > LONG else 0
    signals = tuple(name for name, pattern in _PATTERNS.items() if pattern.search(folded))
    score = length + len(signals)
    wanted = 10 if score >= 3 else 7 if score >= 1 else 5
    return Depth(fused=wanted, per_list=max(top_k, wanted), score=score, signals=signals)
