"""Keeps the final passages from saying one thing five times, or all coming from one document."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.retriever.domain.hits import Drop
from services.shared.contracts.ids import ChunkId, DocumentId

TOP_K_LIMIT = 10
"""Above this a caller wants the ranking itself, for paging or measuring, and gets it untouched."""

SAME_SHARE = 0.9
"""Share of common shingles (Jaccard) from which two texts count as one. Hand-set."""

SHINGLE = 5
"""Letters a shingle; letters, not words, so that scripts without spaces work too."""

COMPARABLE = 0.8
"""A passage is comparable with another at this share of its fused score. Being found by one list instead of
two halves the score; ten ranks within one list cost a seventh. Hand-set."""

DOCUMENT_SHARE = 0.6
"""Largest share of the final passages from one document: three of five."""

_TURNING = frozenset({"not", "no", "never", "without", "none", "neither", "nor", "cannot", "nicht", "kein", "pas"})
_WORD = re.compile(r"[\w'’]+")


@dataclass(frozen=True)
class Ranked:
    """A candidate in fused order."""

    chunk_id: ChunkId
    document_id: DocumentId
    text: str
    score: float


def diversify(ranked: Sequence[Ranked], top_k: int) -> tuple[list[ChunkId], list[Drop]]:
    """The ``top_k`` candidates to show, in their order, and those passed over for a later one.

    A near-copy of an earlier passage makes room, and so does a document's fourth passage of five when a
    comparable passage of another document waits. Never returns fewer than the candidates allow.
    """
    if top_k > TOP_K_LIMIT or len(ranked) <= top_k:
        return [one.chunk_id for one in ranked[:top_k]], []
    kept: list[int] = []
    passed: dict[int, str] = {}
    prints = [_fingerprint(one.text) for one in ranked]
    for place, one in enumerate(ranked):
        if len(kept) == top_k:
            break
        copied = next((other for other in kept if _near_identical(prints[place], prints[other])), None)
        if copied is not None:
            passed[place] = f"near_duplicate of {ranked[copied].chunk_id}"
        elif _crowds(ranked, place, kept, top_k):
            passed[place] = f"document {one.document_id} has enough passages"
        else:
            kept.append(place)
    final = sorted([*kept, *sorted(passed)[: top_k - len(kept)]])
    drops = [Drop(ranked[place].chunk_id, "diversity", why) for place, why in passed.items() if place not in final]
    return [ranked[place].chunk_id for place in final], drops


def _crowds(ranked: Sequence[Ranked], place: int, kept: Sequence[int], top_k: int) -> bool:
    document, score = ranked[place].document_id, ranked[place].score
    limit = max(1, math.ceil(DOCUMENT_SHARE * top_k))
    if sum(ranked[other].document_id == document for other in kept) < limit:
        return False
    return any(later.document_id != document and later.score >= COMPARABLE * score for later in ranked[place + 1 :])


@dataclass(frozen=True)
class _Fingerprint:
    shingles: frozenset[str]
    words: frozenset[str]


def _fingerprint(text: str) -> _Fingerprint:
    words = _WORD.findall(text.casefold())
    joined = " ".join(words)
    shingles = frozenset(joined[at : at + SHINGLE] for at in range(max(1, len(joined) - SHINGLE + 1)))
    return _Fingerprint(shingles=shingles, words=frozenset(words))


def _near_identical(left: _Fingerprint, right: _Fingerprint) -> bool:
    """Texts that differ in a number or a negation say different things, however alike they look."""
    if any(word in _TURNING or any(map(str.isdigit, word)) or "n't" in word for word in left.words ^ right.words):
        return False
    common = len(left.shingles & right.shingles)
    return common >= SAME_SHARE * (len(left.shingles) + len(right.shingles) - common)
