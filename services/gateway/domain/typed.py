"""Which words are the visitor's own. What is kept of a question beyond its answer holds no others."""

import re

from services.gateway.domain.cleaning import tidy
from services.shared.contracts.answers import AskRequest
from services.shared.contracts.profile import Subject

_WORD = re.compile(r"[^\W_]+")
_OWNING = re.compile(r"['’]s\b")


def typed(asked: AskRequest, rewritten: str | None, subject: Subject | None) -> str | None:
    """The question as it was asked or made whole, in words of this visitor's questions and the subject's names.

    None where it was made whole with a word of an earlier answer: that is a document's, and has to go with it.
    """
    if rewritten is None:
        return asked.question
    names = [] if subject is None else [subject.name, *subject.aliases]
    said = [asked.question, *(turn.question for turn in asked.history or ()), *names]
    return rewritten if _words(rewritten) <= set().union(*map(_words, said)) else None


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_OWNING.sub("", tidy(text).casefold())))
