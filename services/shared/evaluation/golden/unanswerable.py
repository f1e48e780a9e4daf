"""Questions that the documents do not answer: near ones, about a name or code that occurs nowhere, and far ones."""

import hashlib
import re
from collections.abc import Iterator

from services.shared.contracts.golden import Behaviour
from services.shared.contracts.ids import DocumentId
from services.shared.evaluation.golden.drafts import Draft
from services.shared.evaluation.golden.off_topics import NAMES, OFF_TOPICS, WORDS
from services.shared.evaluation.golden.wordings import NUMBER_WORDS
from services.shared.evaluation.golden.words import WORD, Corpus, content_words

NAME_WORDS = 3

NEAR = "near_miss"
FAR = "off_topic"

_CODE = re.compile(r"\b(?P<head>[A-Z]{1,6}-?)(?P<digits>\d{2,6})\b")
_SEVERAL = re.compile(r",|&|\b(?:and|or|nor|not|both|either|neither|other|between|versus|vs)\b")
"""The question is about more than one thing."""
_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(NUMBER_WORDS)})\b")
_ACRONYM = re.compile(r"\b[A-Z]{3,6}\b(?!-?\d)")
_NAME = re.compile(r"[A-Z][\w'-]*(?: (?:& )?[A-Z][\w'-]*)*")
_BEFORE_NAME = re.compile(r"(?:[a-z]|[a-z],) $")
_NO_SWAP = re.compile(r"\b(?:the|a|an|by|are|were|do|have|Are|Were|Do|Have) $")
_DOER = re.compile(r"(?:\b(?:did|does|has|had|would|can|will)|^(?:Did|Does|Has|Had|Would|Can|Will|Who is|Who was)) $")
_LETTERS = "BKLMNPQRVWXZ"


def near_miss(draft: Draft, corpus: Corpus) -> Draft | None:
    """The question about a name or code that no document holds; None when it has none to put in its place.

    None also where the rest of it leads to something that the documents hold: a system that corrects the name and
    answers would be as right as one that abstains, and of several things it may know some.
    """
    if ": " in draft.text or "(" in draft.text:
        # The question as it stands needs its title; with another name in it, it would be about two things.
        return None
    for before, swapped in _swaps(draft.text, corpus):
        rest = draft.text.replace(before, " ")
        if swapped != draft.text and not _SEVERAL.search(rest) and not _leads_elsewhere(before, rest, corpus):
            return Draft(swapped, NEAR, draft.document_id, tags=(NEAR,), behaviour=Behaviour.ABSTAIN)
    return None


def _leads_elsewhere(name: str, rest: str, corpus: Corpus) -> bool:
    """Does the question without its name hold another name or number, or words that stand together in a document?"""
    if _NUMBER.search(rest):
        return True
    words = [word for word in WORD.findall(rest)[1:] if not corpus.is_widespread(word)]
    if any(word[0].isupper() and word != "I" for word in words):
        return True
    telling = [word for word in content_words(rest) if not corpus.is_widespread(word)]
    return _CODE.fullmatch(name) is None and len(telling) > 1 and corpus.documents_with(telling) > 0


def off_topic(corpus: Corpus) -> list[Draft]:
    """General questions whose words no document holds together."""
    return [
        Draft(text, FAR, DocumentId(""), tags=(FAR,), behaviour=Behaviour.ABSTAIN)
        for text in OFF_TOPICS
        if not corpus.documents_with(content_words(text))
    ]


def _swaps(text: str, corpus: Corpus) -> Iterator[tuple[str, str]]:
    """What is taken out, and the question with something else in its place."""
    pick = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
    if found := _CODE.search(text):
        yield from _put(text, found, _other_digits(found["head"], found["digits"], pick, corpus))
    for found in _NAME.finditer(text):
        before, words = text[: found.start()], found[0].split()
        if words[0].startswith("I") and words[0][1:2] in ("", "'"):
            continue
        if not _BEFORE_NAME.search(before) or _NO_SWAP.search(before) or len(words) > NAME_WORDS:
            continue
        yield from _put(text, found, _other_name(found[0], _DOER.search(before) is not None, pick, corpus))
    # Elsewhere a changed letter looks like a slip, and a system may well answer what was meant.
    if text.endswith(" stand for?") and (found := _ACRONYM.search(text)):
        yield from _put(text, found, _other_letters(found[0], pick, corpus))


def _put(text: str, found: re.Match[str], word: str | None) -> Iterator[tuple[str, str]]:
    if word is not None:
        # Everywhere: a question that names the thing twice must not be half right.
        yield found[0], re.sub(rf"\b{re.escape(found[0])}(?!\w)", word, text)


def _other_digits(head: str, digits: str, pick: int, corpus: Corpus) -> str | None:
    size = 10 ** len(digits)
    tries = (f"{(int(digits) + pick % 89 + 11 * n) % size:0{len(digits)}}" for n in range(1, 30))
    return next((head + one for one in tries if not corpus.knows(head + one) and not corpus.knows(one)), None)


def _other_letters(letters: str, pick: int, corpus: Corpus) -> str | None:
    at = pick % len(letters)
    tries = (letters[:at] + _LETTERS[(pick + n) % len(_LETTERS)] + letters[at + 1 :] for n in range(len(_LETTERS)))
    return next((one for one in tries if not corpus.knows(one)), None)


def _other_name(name: str, doer: bool, pick: int, corpus: Corpus) -> str | None:
    """An invented one of the same shape: words that are no names stay, so that a firm stays one of its kind."""
    own = name.endswith("'s")
    words = name.removesuffix("'s").split()
    foreign = [word for word in words if word != "&" and not corpus.is_common(word) and not word.isupper()]
    if not foreign:
        return None
    person = doer and len(foreign) == 2 and len(words) == 2
    pool = NAMES if person else WORDS
    tries = [pool[(pick + n) % len(pool)] for n in range(len(pool))]
    chosen = next((one for one in tries if not any(corpus.knows(word) for word in one.split())), None)
    if chosen is None:
        return None
    kept = [word for word in words if word in (foreign[0], "&") or word not in foreign]
    shape = " ".join(chosen if word == foreign[0] else word for word in kept if word != "&")
    return shape + ("'s" if own else "")
