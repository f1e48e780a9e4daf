"""Does a question ask for several things at once? Cheap signs that decide whether it is worth taking apart."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.domain.cleaning import tidy
from services.shared.contracts.search import Verdict
from services.shared.contracts.writing import SUB_QUESTIONS_MAX

LONG_CHARS = 60
"""From here on a question may hold more than one thing that is not said with "and"; as for retrieval's depth."""

WEAK = 0.5
"""A verdict below this does not expect an answer from what was found."""

_ASKS = (
    r"(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would"
    r"|should|may|wer|wen|wem|wessen|was|wann|wo|wohin|woher|welche[rsnm]?|warum|wieso|wie|wieviel|womit|wof[uü]r"
    r"|ist|sind|war|waren|hat|haben|kann|k[oö]nnen|gibt|darf|muss|soll|wird|qui|que|quand|o[uù]|pourquoi|comment"
    r"|combien|quels?|quelles?)"
)
_SEVERAL = re.compile(
    r"\?.*\w.*\?"  # two questions
    r"|(?:,|;)?\s(?:and|or|und|oder|et|ou)\s+(?:also\s+|then\s+|auch\s+)?" + _ASKS + r"\b"
    r"|;\s*" + _ASKS + r"\b"
    r"|\b(?:compare[ds]?|comparison|contrast|differ(?:s|ed|ent|ence|ences)?|distinguish|versus|vs\.?|both|as well as"
    r"|in contrast|respectively|pros and cons|advantages and disadvantages|similarit(?:y|ies)|in common"
    r"|vergleiche?n?|unterschiede?n?|unterscheiden|unterscheidet|sowohl|jeweils|beide[nrsm]?|gemeinsam"
    r"|vor- und nachteile|compar(?:er|ez|aison)|diff[eé]rences?)\b"
    r"|\b(?:first|zuerst)\b.*\b(?:then|dann|danach)\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Parts:
    """What came of taking a question apart; no sub-questions where it is searched as it is."""

    sub_questions: tuple[str, ...] = ()
    by: str = "none"
    degraded: tuple[str, ...] = ()
    ms: float = 0.0


WHOLE = Parts()
"""A question that nobody took apart."""


def has_parts(question: str) -> bool:
    """Do its words say that it asks for several things?"""
    return _SEVERAL.search(question) is not None


def may_have_parts(question: str, verdict: Verdict) -> bool:
    """Is it a long question whose passages are near it, but do not seem to answer it?

    A poor gate is no sign: then there is nothing near it, and its parts will not be nearer.
    """
    return len(question) > LONG_CHARS and verdict.gate == "good" and verdict.answerable < WEAK


def sound_parts(question: str, proposed: Sequence[str], max_chars: int) -> tuple[str, ...]:
    """The proposed sub-questions that add something: tidy, not blank, not the question itself, each once."""
    told = {_said(question)}
    kept: list[str] = []
    for one in map(tidy, proposed):
        if len(one) <= max_chars and _said(one) and _said(one) not in told:
            told.add(_said(one))
            kept.append(one)
    return tuple(kept[:SUB_QUESTIONS_MAX])


def _said(question: str) -> str:
    return " ".join(re.findall(r"\w+", question.casefold()))
