"""What a question asks for, as far as it can be told from its words alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.generator.domain import polarity, terms
from services.generator.domain.terms import Token

_QUESTION_WORD_LIST = "what which who whom whose when where why how"
_AUXILIARY_LIST = (
    "is are was were be been being do does did has have had can could will would shall should may might must"
)
_LITTLE_SAID = frozenset(f"{_QUESTION_WORD_LIST} {_AUXILIARY_LIST}".split())
_ASKS_FOR_A_KIND = frozenset(("what", "which", "many", "much"))
_PASSED_OVER = frozenset(("of", "kind", "type"))
_ASKS_ABOUT = frozenset(("mean", "happen"))
"""Stems that only ask about the rest: "What does LQ-3007 mean?"."""
_KIND_WORDS = 2
"""How many words after what, which or how many say what kind of thing is sought: "what church", "how many people"."""

_YES_OR_NO = re.compile(
    r"\W*(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|may|must)\b", re.IGNORECASE
)
_WANTS_ALL = re.compile(
    r"\b(?:list|all|every|each|everything|name (?:the|all|them)|names|in (?:what|which) order|step by step|steps"
    r"|what are|which (?:\w+ )?(?:are|were|do|did|have)|alle|jede[rsnm]?|welche\w* \w+ sind|schritte)\b",
    re.IGNORECASE,
)
_ENOUGH = 2
"""Telling words that make a question by themselves."""
_NUMBER_WORDS_FROM = 2
"""One is a number and a pronoun; from two on a number word is a number."""


@dataclass(frozen=True)
class Asked:
    """A question taken to pieces.

    ``text`` is what is compared with sentences: without the names of whom all the content is about, since those
    stand in every other sentence and tell none from another.
    """

    text: str
    spoken: tuple[str, ...]
    """Stems in order, without question words and auxiliaries."""
    names: tuple[str, ...]
    """Stems of names and codes, not of whom all is about; a text that answers holds them."""
    plain: tuple[str, ...]
    """Stems of the other telling words; those that only say what kind of thing is sought where nothing else tells."""
    full_names: tuple[tuple[str, str], ...]
    """Stems of names that stand side by side, such as a first name and a surname."""
    numbers: frozenset[str]
    denies: bool
    yes_or_no: bool
    wants_all: bool
    """A list of things, not one of them."""

    @classmethod
    def of(cls, question: str, subject: Sequence[str] = ()) -> "Asked":
        """Takes ``question`` to pieces; ``subject`` holds names of whom or what the content is about."""
        text = _without(question, subject)
        words = terms.tokens(text)
        kind = _kind(words)
        telling = [(at, word) for at, word in enumerate(words) if not word.stop]
        special = {at for at, word in telling if _is_special(word, first=at == 0)}
        known = {word.stem for name in subject for word in terms.tokens(name)}
        own = [(at, word) for at, word in telling if word.stem not in known]
        names = tuple(word.stem for at, word in own if at in special and not _is_number(word))
        numbers = _numbers(text)
        others = [word.stem for at, word in own if at not in special]
        return cls(
            text=text,
            spoken=tuple(word.stem for word in words if word.written.casefold() not in _LITTLE_SAID),
            names=names,
            plain=_plain(others, kind, named=bool(names or numbers)),
            full_names=_full_names(text, [word for at, word in telling if at in special]),
            numbers=numbers,
            denies=polarity.denies(text),
            yes_or_no=_YES_OR_NO.match(question) is not None,
            wants_all=_WANTS_ALL.search(question) is not None,
        )


def _without(question: str, subject: Sequence[str]) -> str:
    """The question without these names, if enough that is telling is left of it."""
    text = question
    for name in sorted(filter(None, subject), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", "", text)
    text = " ".join(text.split())
    return text if len(terms.words(text)) >= _ENOUGH else question


def _plain(stems: Sequence[str], kind: frozenset[str], *, named: bool) -> tuple[str, ...]:
    """Without what only asks. Where nothing else tells, the kind does: "How many children does she have?"."""
    telling = [stem for stem in stems if stem not in _ASKS_ABOUT]
    other = tuple(stem for stem in telling if stem not in kind)
    return other if other or named else tuple(telling)


def _kind(words: Sequence[Token]) -> frozenset[str]:
    """Stems of the words that say what kind of thing is sought."""
    for at, word in enumerate(words):
        if word.written.casefold() not in _ASKS_FOR_A_KIND:
            continue
        found: list[str] = []
        for following in words[at + 1 :]:
            if len(found) == _KIND_WORDS or (following.stop and following.written.casefold() not in _PASSED_OVER):
                break
            if not following.stop:
                found.append(following.stem)
        return frozenset(found)
    return frozenset()


def _is_special(word: Token, *, first: bool) -> bool:
    """A name, number or code; the first word has its capital letter from its place."""
    inside = any(sign.isdigit() for sign in word.written) or any(sign.isupper() for sign in word.written[1:])
    return inside or (not first and word.written[:1].isupper())


def _is_number(word: Token) -> bool:
    """Digits and their points alone: such are compared by value."""
    return not any(sign.isalpha() for sign in word.written)


def _full_names(text: str, special: Sequence[Token]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (one.stem, two.stem)
        for one, two in pairwise(special)
        if text[one.end : two.start] == " " and one.written.isalpha() and two.written[:1].isupper()
    )


def _numbers(text: str) -> frozenset[str]:
    """Numbers in digits, and from two on in words."""
    return frozenset(code for code in terms.known_codes(text) if code.isdigit() and int(code) >= _NUMBER_WORDS_FROM)
