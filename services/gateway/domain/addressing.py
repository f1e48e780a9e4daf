"""Is it the assistant itself that is spoken to, and not the documents that are asked?

The patterns are narrow: a question that is declined by mistake is worse than one that is searched for in vain.
"""

import re

from services.shared.contracts.profile import Subject

_MACHINE = (
    r"(?:(?:ai|a\.i\.|artificial intelligence)(?: (?:assistant|agent|model|chatbot|bot))?|(?:chat)?bot|robot"
    r"|human(?: being)?|person|machine|computer|(?:large )?language model|llm|chatgpt|gpt)"
)
_ENDS = r"(?=\s*(?:$|[^\w\s'’-])|\s+(?:or|and|not|too|here|then)\b)"
"""Nothing more is said of it: "are you a person?", not "are you a person who likes maps?"."""

_ABOUT_ITSELF = re.compile(
    r"\bare you (?:really |actually |just |even )?(?:an? )?(?:real |actual )?" + _MACHINE + _ENDS + r"|\bwho are you\b"
    r"|\byour (?:system |initial |hidden |secret |original )*(?:prompts?|instructions|rules)\b"
    r"|\b(?:ignore|forget|disregard)(?:\W+\w+){0,3}?\W+(?:previous|prior|above|earlier|your|all)(?:\W+\w+){0,3}?"
    r"\W+instructions?\b"
    r"|\b(?:pretend (?:to be|(?:that )?you(?: are|['’]re))|role-?\s?play as)\b"
    r"|^(?:please |now |then |from now on,? |you (?:must|will|should) |(?:can|could|will) you (?:please )?)*"
    r"(?:act|speak) as\b"
    r"|[.?!,;:] (?:please |now |then |and )*(?:act|speak) as\b"
    r"|\brepeat (?:the |all (?:the )?)?(?:text|words?|everything|instructions|prompt) above\b",
    re.IGNORECASE,
)


def addresses_assistant(question: str, subject: Subject | None) -> bool:
    """Does the cleaned question ask what the assistant is, or tell it to be something else?"""
    if _ABOUT_ITSELF.search(question) is not None:
        return True
    names = [] if subject is None else [name.strip() for name in (subject.name, *subject.aliases) if name.strip()]
    if not names:
        return False
    as_subject = r"\bare you (?:really |actually )?(?:" + "|".join(map(re.escape, names)) + ")" + _ENDS
    return re.search(as_subject, question, re.IGNORECASE) is not None
