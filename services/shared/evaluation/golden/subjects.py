"""Which words can be what a question is about: a subject that names something, and words that point nowhere else."""

import re
from collections.abc import Sequence

from services.shared.evaluation.golden.listed import listed
from services.shared.evaluation.golden.verbs import is_base

DETERMINERS = listed(
    """
    a an the this that these those my your his her its our their each every all any some no another both many most
    several up about at more fewer less only exactly roughly nearly almost around over just
    """
)
NO_SUBJECT = listed(
    """
    within inside behind besides across along among sometimes often usually recently currently generally typically my
    this that these those it they he she we i there here his her its their our such who what which when where why
    how if while although though because as since after before until unless whether and but or so nor not no nobody
    nothing none some many most several few both either neither another other others one ones each everyone anyone
    someone to for in on at by from with without during between through under over please note see let's once
    however also then instead additionally finally first second third next last lastly yes ok even only just again
    still all
    """
)
_BAD_INSIDE = listed(
    """
    that which who whose whom when where while if because not than how what why it he she they we this these those
    there here itself themselves above below following former latter almost certainly probably definitely simply
    really
    """
)
_BAD_AFTER_THE = listed(
    """
    first second third last latter former other others following above next rest same idea problem question only
    """
)
_DEICTIC = listed(
    """
    it this these those they them he she him here there above below following previous such same latter former ones
    we us our ours itself themselves himself herself otherwise respectively
    """
)
_PREPOSITIONS = listed("of in on at for with from to by about into through during under")
_SAYING = listed(
    "say think believe know mean ensure confirm show require recommend expect indicate suggest prove state"
)
_OBJECT_HER = re.compile(r"\bher(?: (?:much|to|in|on|by|and|with|when|that|for|from|at|about)\b|[.,?]|$)")


def is_clear(words: str) -> bool:
    """Do the words say what they mean by themselves, without pointing elsewhere?"""
    if any(token.strip(",.;:()?\"'").lower() in _DEICTIC for token in words.split()):
        return False
    return not _OBJECT_HER.search(words) and not _points_with_that(words.split())


def _points_with_that(tokens: Sequence[str]) -> bool:
    """``share that identity``, but not ``a service that runs``."""
    lower = [token.lower().strip(",.?") for token in tokens]
    return any(
        word == "that"
        and n
        and (lower[n - 1] in _PREPOSITIONS or (is_base(lower[n - 1]) and lower[n - 1] not in _SAYING))
        for n, word in enumerate(lower)
    )


def is_subject(tokens: Sequence[str]) -> bool:
    """Do the words name what a sentence is about, by themselves?"""
    lower = [token.lower().strip("\"'()") for token in tokens]
    if lower == ["you"]:
        return True
    if lower[0] in NO_SUBJECT or "you" in lower or _BAD_INSIDE & set(lower) or len(tokens) > 8:
        return False
    if lower[0] == "the" and (len(lower) == 1 or lower[1] in _BAD_AFTER_THE):
        return False
    # An order, such as "Ensure your timesheet is right".
    if is_base(lower[0]) and len(lower) > 1 and lower[1] in DETERMINERS | {"to", "with", "in", "on", "for"}:
        return False
    return re.search(r"[A-Za-z]", tokens[0]) is not None and lower[-1] not in (
        "of",
        "in",
        "the",
        "a",
        "to",
        "for",
        "and",
    )


def is_plural(tokens: Sequence[str]) -> bool:
    """Told by the head: the word before the first preposition, or any two joined by and."""
    head: list[str] = []
    for token in tokens:
        word = token.lower()
        if word in ("of", "in", "at", "for", "on", "with", "from", "to"):
            break
        head.append(word)
    last = head[-1].strip(",.\"'()") if head else ""
    return (
        "and" in head
        or last in ("people", "staff", "employees")
        or (
            (last.endswith("s") and not last.endswith(("ss", "us", "is", "'s")) and not head[-1][:1].isupper())
            and len(last) > 3
            and not _is_name(tokens, last)
        )
    )


def _is_name(tokens: Sequence[str], last: str) -> bool:
    return any(token[0].isupper() and token.lower().startswith(last) for token in tokens[1:])
