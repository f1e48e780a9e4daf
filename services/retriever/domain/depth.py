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
    """How much of the lists is worth reading, and what led to the number."""

    per_list: int
    """Hits of each list that are shown and may be judged: 5, 7 or 10, and never fewer than are asked for."""
    judged: int
    """Fused chunks that the critic judges: two lists' worth."""
    candidates: int
    """Fused chunks whose text is read: those judged, and as many as are asked for."""
    score: int
    signals: tuple[str, ...]


def choose_depth(question: str, top_k: int) -> Depth:
    """Score the question: one point over 30 characters, two over 60, one for each marker of several parts.

    Three points or more read 10 hits of each list, one or two 7, none 5; never fewer than ``top_k``. Fusion looks
    further down, because ranks cost nothing: what depth decides is how many texts the later stages work on.
    """
    folded = question.casefold()
    length = 2 if len(question) > LONGER else 1 if len(question) > LONG else 0
    signals = tuple(name for name, pattern in _PATTERNS.items() if pattern.search(folded))
    score = length + len(signals)
    wanted = 10 if score >= 3 else 7 if score >= 1 else 5
    per_list = max(top_k, wanted)
    judged = 2 * wanted
    return Depth(per_list=per_list, judged=judged, candidates=max(top_k, judged), score=score, signals=signals)
