"""A follow-up becomes a whole question, from the questions that were asked before.

By rule, and rather too seldom than too often: a question that stands for itself is left alone. The conversation
is never a source of facts: only words of earlier questions go in, and a name from the last answer where a
pronoun can mean nothing else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.domain.cleaning import name_subject, tidy
from services.gateway.domain.followups import fragment_made_whole
from services.gateway.domain.mentions import names
from services.gateway.domain.pronouns import pronoun_made_whole
from services.shared.contracts.answers import Turn
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.profile import Subject

_TAG = re.compile(r"<[^<>]{0,300}>")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^()\s]*\)")
_MARKS = re.compile(r"\[\d+\]|[*`#>|]+|(?<!\w)_+|_+(?!\w)")

_SOCIAL = re.compile(
    r"(?:hi|hello|hey|thanks?(?: you)?(?: very much| so much| a lot)?|thx|ok(?:ay)?|yes|no|yep|nope|great|cool|nice"
    r"|perfect|good|bye|goodbye|please|danke(?: schön)?|vielen dank|hallo|ja|nein|gut|super|tschüss|bitte)[\s!.,]*",
    re.IGNORECASE,
)
"""Courtesies, which ask nothing."""


@dataclass(frozen=True)
class _Said:
    """An earlier question, whole, with the names that its answer held beside those of the question."""

    question: str
    answered: list[str]


def earlier(history: Sequence[Turn], max_chars: int, question_max_chars: int) -> list[Turn]:
    """The turns that can be built on, as plain text: markup, markers and control characters out, blank ones too.

    Raises: RagstoneError (invalid_request) when the whole conversation is longer than ``max_chars``.
    """
    length = sum(len(turn.question) + len(turn.answer) for turn in history)
    if length > max_chars:
        detail = f"history: it has {length} characters and may have {max_chars}; send the last exchanges only."
        raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
    turns = [Turn(question=_plain(turn.question), answer=_plain(turn.answer)) for turn in history]
    return [turn for turn in turns if _asks(turn.question) and len(turn.question) <= question_max_chars]


def whole_question(question: str, turns: Sequence[Turn], subject: Subject | None) -> str | None:
    """The whole question that a tidied follow-up means after these turns; None when it stands for itself.

    Each turn's question is made whole by those before it first, so that a chain of follow-ups holds together.
    """
    said: _Said | None = None
    for turn in turns:
        asked = _made_whole(turn.question, said, subject) or turn.question
        named = asked if subject is None else name_subject(asked, subject)
        known = set(names(named, subject))
        said = _Said(named, [name for name in names(turn.answer, subject) if name not in known])
    return _made_whole(question, said, subject)


def _made_whole(question: str, said: _Said | None, subject: Subject | None) -> str | None:
    if said is None or _SOCIAL.fullmatch(question):
        return None
    fragment = fragment_made_whole(question, said.question, said.answered, subject)
    return fragment or pronoun_made_whole(question, said.question, said.answered, subject)


def _plain(text: str) -> str:
    return tidy(_MARKS.sub(" ", _LINK.sub(r"\1", _TAG.sub(" ", text))))


def _asks(question: str) -> bool:
    return any(char.isalnum() for char in question) and not _SOCIAL.fullmatch(question)
