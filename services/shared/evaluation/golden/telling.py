"""Which sentence of a stretch a right answer to a question would say: told by shared words and by what is asked for."""

import re
from collections.abc import Sequence

from services.shared.evaluation.golden.sentences import Sentence
from services.shared.evaluation.golden.wordings import DATE, NUMBER_WORDS
from services.shared.evaluation.golden.words import content_words

_DATED = re.compile(DATE)
_COUNTED = re.compile(rf"\d|\b(?:{'|'.join(NUMBER_WORDS)})\b")
_REASON = re.compile(r"\b(?:because|since|reasons?|so that|in order to|after|to [a-z]+)\b")
_ASKED_FOR = (
    (re.compile(r"(?:since )?when (?!would|should|do)", re.IGNORECASE), _DATED),
    (re.compile(r"(?:by |for |to )?how (?:many|much|long|often|big|old|far|large)\b", re.IGNORECASE), _COUNTED),
    (re.compile(r"why\b", re.IGNORECASE), _REASON),
    (re.compile(r"(?:what|who) (?:is|was|are|were)\b", re.IGNORECASE), re.compile(r"\b(?:is|was|are|were)\b")),
    (re.compile(r"where\b", re.IGNORECASE), re.compile(r"\b(?:in|at|from|near) [A-Z]")),
)
"""How a question begins, and what a sentence then holds that answers it."""
_POINTS = re.compile(r"(?:It|This|That|These|Those|They|There|Such)\b")
"""A sentence that begins so speaks of the one before it."""
_NEEDED = (_DATED, _COUNTED, _REASON)
"""Without one of these a sentence cannot answer, however many words it shares."""
_DENIES = re.compile(r"\b(?:not|no|never|cannot)\b|n't\b")
_YES_OR_NO = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may)\b", re.IGNORECASE
)
_FITS, _BEGINS, _DENIED = 0.5, 0.2, 0.3
"""Weights beside the shared words'. Chosen on the sample site."""


def most_telling(question: str, sentences: Sequence[Sentence], weights: dict[str, float], least: float) -> str | None:
    """The sentence that answers best; None where none shares ``least`` of the words' weight or holds what is asked for.

    A denial is taken last unless yes or no is asked: an answer that does not deny would be taken for wrong by it.
    """
    holds = next((holds for begins, holds in _ASKED_FOR if begins.match(question)), None)
    either = _YES_OR_NO.match(question) is not None
    whole = sum(weights.values()) or 1.0
    scored = []
    for n, one in enumerate(sentences):
        there = set(content_words(one.plain))
        shared = sum(weight for word, weight in weights.items() if word in there) / whole
        # A date is no count.
        fits = (
            holds is not None
            and holds.search(_DATED.sub("", one.plain) if holds is _COUNTED else one.plain) is not None
        )
        if shared < least or _POINTS.match(one.plain) or (not fits and holds in _NEEDED):
            continue
        denied = not either and _DENIES.search(one.plain) is not None
        scored.append((shared + _FITS * fits + _BEGINS * (n == 0) - _DENIED * denied, -n, one.plain))
    return max(scored)[2] if scored else None
