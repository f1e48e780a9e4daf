"""The words that a question is searched with: a pronoun for the subject, whose name stands in every document."""

import re

from services.gateway.domain.cleaning import own_names
from services.gateway.domain.grammar import ARTICLES, ASKING, AUXILIARIES, LINKS, OPENERS
from services.shared.contracts.profile import Subject

_ENOUGH = 2
"""Telling words that make a question without the name: "who is Juno Tarkwell" asks for nothing else."""

_SAYS_LITTLE = ASKING | AUXILIARIES | LINKS | ARTICLES | OPENERS
_OWNING = re.compile(r"['’]s?(?!\w)")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def search_wording(question: str, subject: Subject | None) -> str:
    """The question with the subject's pronoun in place of its names.

    A name that all documents hold tells none from another, and draws those up that say it most. It stays where
    little else is asked, and for a subject whose pronouns the profile does not know.
    """
    if subject is None or not subject.pronouns.subject:
        return question
    owning = subject.pronouns.possessive[0] if subject.pronouns.possessive else None
    others: list[str] = []
    said: list[str] = []
    at = 0
    for match in own_names(question, subject):
        owns = _OWNING.match(question, match.end())
        end = owns.end() if owns else match.end()
        pronoun = owning if owns else subject.pronouns.subject[0]
        others.append(question[at : match.start()])
        said += [others[-1], pronoun or question[match.start() : end]]
        at = end
    rest = question[at:]
    return "".join([*said, rest]) if _asks_enough(" ".join([*others, rest]), subject) else question


def _asks_enough(rest: str, subject: Subject) -> bool:
    """Do enough words remain that tell what is asked?"""
    little = _SAYS_LITTLE | {word.casefold() for word in (*subject.pronouns.subject, *subject.pronouns.possessive)}
    return len({word.casefold() for word in _WORD.findall(rest)} - little) >= _ENOUGH
