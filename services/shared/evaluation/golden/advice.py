"""Questions of a reader who has to do something: how do I, what should I do if."""

import re
from collections.abc import Iterator

from services.shared.evaluation.golden.amounts import Asked
from services.shared.evaluation.golden.subjects import is_clear
from services.shared.evaluation.golden.verbs import is_base

_BY_DOING = re.compile(
    r"^You can (?:also )?(?P<what>[a-z]+ [^,;:()]+?) by (?P<how>(?!(?:some|any|no|every)thing)[a-z]+ing .+)$"
)
_TO_DO = re.compile(r"^(?:In order to|To) (?P<what>[a-z]+ [^,;:()]+), (?P<how>.+)$")
_IF = re.compile(r"^If (?P<what>you(?:'re|'ve|'d)? [^,;:()]+), (?:then )?(?P<how>.+)$")
_YOU = re.compile(r"\b(?:you|you're|you've|you'll|you'd|yourself|yours)\b")
_HAPPENS = re.compile(
    r"you (?:get|receive|lose|keep)\b|you(?:'ll| will)(?: not)? (?:receive|get|resume|have|lose|keep|see|be(?! able))\b"
)
_ASKED_YOU = re.compile(
    r"\b(?:can|do|did|should|must|may|will|are|were|have|would|could|if) you\b|\bif you'", re.IGNORECASE
)
_AS_I = (
    (re.compile(r"\byou're\b"), "I'm"),
    (re.compile(r"\byou've\b"), "I've"),
    (re.compile(r"\byou'd\b"), "I'd"),
    (re.compile(r"\bare you\b"), "am I"),
    (re.compile(r"\bAre you\b"), "Am I"),
    (re.compile(r"\bwere you\b"), "was I"),
    (re.compile(r"\byou are\b"), "I am"),
    (re.compile(r"\byou were\b"), "I was"),
    (re.compile(r"\byou\b"), "I"),
)
_WHAT_WORDS = 14
"""Words of the condition or aim; a longer one is no visitor's question."""


def hows(sentence: str) -> Iterator[Asked]:
    """How a reader does what the sentence tells how to do."""
    if found := _BY_DOING.match(sentence.rstrip(".")):
        yield from _how("can", found["what"])
    elif (found := _TO_DO.match(sentence.rstrip("."))) and _tells(found["how"]):
        yield from _how("do", found["what"])


def what_ifs(sentence: str) -> Iterator[Asked]:
    """What a reader should do, or may do, in a case that the sentence names."""
    found = _IF.match(sentence.rstrip("."))
    if found is None or not _fits(found["what"]) or not _tells(found["how"]):
        return
    if _HAPPENS.match(found["how"]):
        yield f"What happens if {found['what']}?", ()
        return
    may = re.match(r"you (?:can|could)\b", found["how"])
    yield f"What {'can' if may else 'should'} you do if {found['what']}?", ()


def as_visitor(question: str) -> str:
    """``you`` as the visitor says it: ``I`` where it is the subject; unchanged where that cannot be told."""
    if not _YOU.search(question):
        return re.sub(r"\byour\b", "my", question)
    subjects = len(_ASKED_YOU.findall(question))
    if len(_YOU.findall(question)) != subjects or not subjects:
        return question
    for pattern, word in _AS_I:
        question = pattern.sub(word, question)
    return re.sub(r"\byour\b", "my", question)


def _how(aux: str, what: str) -> Iterator[Asked]:
    verb = what.split()[0]
    if _fits(what) and is_base(verb) and verb not in ("be", "learn", "help", "ensure", "avoid", "make", "see", "know"):
        yield f"How {aux} you {what}?", ()


def _fits(what: str) -> bool:
    words = what.split()
    return 2 < len(words) <= _WHAT_WORDS and is_clear(what) and words[-1].lower() not in ("to", "for", "of", "with")


def _tells(how: str) -> bool:
    """Does the clause tell the reader what to do?"""
    words = how.lower().split()
    if len(words) < 4 or not is_clear(how):
        return False
    if words[0] in ("you", "you'll", "please"):
        return words[1] not in ("may", "might")
    return is_base(words[0]) and words[0] not in ("let", "have", "be")
