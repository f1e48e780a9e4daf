"""From what was typed, and what was said before, to the question that is searched for and written to."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.domain.addressing import addresses_assistant
from services.gateway.domain.cleaning import clean_question, name_subject, tidy
from services.gateway.domain.declining import declined_topic
from services.gateway.domain.history import earlier, whole_question
from services.shared.contracts.answers import Turn
from services.shared.contracts.profile import Profile


@dataclass(frozen=True)
class Understood:
    """A question as it is taken."""

    question: str
    rewritten: str | None
    """The whole question, where a follow-up was made whole from the conversation."""


@dataclass(frozen=True)
class Refused:
    """Why a question is declined without a search, and what is said instead."""

    text: str
    why: str


def understood(
    raw: str, history: Sequence[Turn] | None, profile: Profile, *, question_max_chars: int, history_max_chars: int
) -> Understood:
    """The question itself, or a follow-up made whole.

    Raises: RagstoneError (question_empty, question_too_long; invalid_request for a history that is too long).
    """
    alone = clean_question(raw, profile, question_max_chars)
    turns = earlier(history or (), history_max_chars, question_max_chars)
    whole = whole_question(tidy(raw), turns, profile.subject)
    if whole is None or len(whole) > question_max_chars:
        return Understood(alone, None)
    named = whole if profile.subject is None else name_subject(whole, profile.subject)
    return Understood(named, named)


def refusal(raw: str, question: str, profile: Profile) -> Refused | None:
    """Is it spoken to the assistant itself, or of a topic that the owner declines?

    Both as typed and as understood: a name written out must not hide what was asked, nor a follow-up its topic.
    """
    for said in dict.fromkeys((tidy(raw), question)):
        topic = declined_topic(said, profile.decline)
        if topic is not None:
            return Refused(topic.text or profile.texts.declined, f"topic: {topic.topic}")
        if addresses_assistant(said, profile.subject):
            return Refused(profile.texts.declined, "spoken to the assistant")
    return None
