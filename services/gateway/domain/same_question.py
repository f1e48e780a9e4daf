"""Do two questions ask for the same? What embeddings overlook: other names and numbers, a word in place of another.

Embeddings hold "the opening pressure" and "the closing pressure" for almost the same. These rules say no where words
tell two questions apart; what they let through is left to the similarity. They err on the side of keeping questions
apart: a question that is listed twice costs its reader a glance, one that hides behind another is never seen.
"""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

SAME_FROM = 0.75
"""Similarity from which two questions that the rules let through ask for the same: ``benchmarks/same_questions.py``."""

ALIKE_FROM = 0.55
"""Share of words in common, in the same order, from which one question is taken for the other with words exchanged."""

LONGEST_ENDING = 3
SHORTEST_STEM = 4
"""Two words are forms of one when they begin with the same letters, so many at least, and end in few others."""

_WORD = re.compile(r"[^\W_]+(?:[-'.,/:][^\W_]+)*[+#%]*")
_EDGE = " \t\n?!.,;:¿¡？！。…"
_ASKED = {
    **dict.fromkeys(("who", "whom", "whose", "wer", "wem", "wen"), "who"),
    **dict.fromkeys(("where", "wo", "wohin", "woher"), "where"),
    **dict.fromkeys(("why", "warum", "wieso", "weshalb"), "why"),
    **dict.fromkeys(("when", "wann"), "when"),
}
"""What the first question word asks for; others, such as what and which, leave it open."""
_HOW = {
    **dict.fromkeys(("many", "viele", "vielen"), "number"),
    **dict.fromkeys(("much", "viel"), "amount"),
    **dict.fromkeys(("long", "lange"), "length"),
    **dict.fromkeys(("often", "oft"), "frequency"),
    **dict.fromkeys(("old", "alt"), "age"),
    **dict.fromkeys(("far", "weit"), "distance"),
}
_TIMES = frozenset(("time", "date", "day", "year", "month", "uhr", "datum", "jahr", "tag"))
_OPPOSITES = [
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("open opens opened opening", "close closes closed closing shut shuts"),
        ("start starts started starting begin", "stop stops stopped stopping end ends ended"),
        ("maximum max highest most largest longest", "minimum min lowest least smallest shortest"),
        ("inlet input incoming", "outlet output outgoing"),
        ("import imports importing", "export exports exporting"),
        ("enable enabled activate", "disable disabled deactivate"),
        ("buy buying purchase", "sell sells selling"),
        ("join joined joining hire hired", "leave left leaving quit resign"),
        ("north northern", "south southern"),
        ("east eastern", "west western"),
        ("before", "after"),
        ("first earliest oldest", "last latest newest"),
        ("upper top", "lower bottom"),
        ("inside indoor indoors", "outside outdoor outdoors"),
        ("install installing", "uninstall uninstalling remove removing"),
        ("advantage advantages strengths", "disadvantage disadvantages weaknesses"),
        ("öffnen öffnet öffnung", "schließen schließt schließung"),
        ("maximal maximale höchste", "minimal minimale niedrigste"),
    )
]
_FRAME = frozenset(
    word
    for line in (
        "a about am an and any are as at be been being by can could did do does doing for from had has have having",
        "he her hers him his how i if in into is it its me mine my of on or our ours please shall she should so",
        "some tell than that the their them there these they this those to us was we were what when where which",
        "who whom whose why will with would you your yours know say ever also then now just exactly actually work",
        "works worked working experience able possible allowed",
        "der die das den dem des ein eine einen einem einer und oder ist sind war hat haben kann können wie was",
        "wer wo wann warum welche welcher welches sie er es ihr ihre ihren sein seine mit von zu zum zur im am auf",
        "für bei nach",
    )
    for word in line.split()
)
"""Words that build a sentence and name nothing."""


def wording(question: str) -> str:
    """The question without what does not matter: case, spaces, signs at its end. Equal wordings are one question."""
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split()).strip(_EDGE)


def wording_key(question: str) -> str:
    """Names a wording: SHA-256 of it, in hex."""
    return hashlib.sha256(wording(question).encode()).hexdigest()


def may_be_same(one: str, other: str, subject: Collection[str] = ()) -> bool:
    """May the two ask for the same? ``subject``: names of whom the content is about, which everybody leaves out."""
    ones, others = _words(one), _words(other)
    left, right = [word.casefold() for word in ones], [word.casefold() for word in others]
    known = {part.casefold() for name in subject for part in _words(name)}
    if {word for word in left if _is_number(word)} != {word for word in right if _is_number(word)}:
        return False
    if not _named(ones, right, known) or not _named(others, left, known):
        return False
    if _opposite(left, right) or _opposite(right, left):
        return False
    asked = {_asked_for(left), _asked_for(right)} - {None}
    return len(asked) < 2 and not _one_in_place_of_another(left, right, known)


def nearest_by_words(question: str, others: Sequence[str], most: int) -> list[int]:
    """Which of the others to compare first, by the share of words in common; at most so many, by their places."""
    mine = {word.casefold() for word in _words(question)} - _FRAME

    def shared(place: int) -> float:
        theirs = {word.casefold() for word in _words(others[place])} - _FRAME
        return len(mine & theirs) / (len(mine | theirs) or 1)

    return sorted(range(len(others)), key=lambda place: (-shared(place), place))[:most]


def _words(text: str) -> list[str]:
    found = _WORD.findall(unicodedata.normalize("NFKC", text).replace("’", "'"))
    return [word.removesuffix("'s") for word in found]


def _is_number(word: str) -> bool:
    return any(char.isdigit() for char in word)


def _named(words: Sequence[str], theirs: Sequence[str], known: Collection[str]) -> bool:
    """Does every name of the one question stand in the other as well? The first word is capital in any case."""
    names = [
        word.casefold()
        for place, word in enumerate(words)
        if (place and word[0].isupper() and word != "I") or any(char.isupper() for char in word[1:])
    ]
    return all(name in known or name in _FRAME or any(_forms_of_one(name, word) for word in theirs) for name in names)


def _opposite(left: Sequence[str], right: Sequence[str]) -> bool:
    """Does the one ask for one end, such as opening, and the other for the other end alone, such as closing?"""
    ones, others = set(left), set(right)
    return any(ones & one and others & other and not ones & other and not others & one for one, other in _OPPOSITES)


def _asked_for(words: Sequence[str]) -> str | None:
    """When, where, how many, …; None for what leaves it open."""
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word in _ASKED:
            return _ASKED[word]
        if word in ("how", "wie"):
            return _HOW.get(following)
        if word in ("what", "which", "welche", "welcher", "welches"):
            return "when" if following in _TIMES else None
    return None


def _one_in_place_of_another(left: Sequence[str], right: Sequence[str], known: Collection[str]) -> bool:
    """Is one question the other with words of its own in the place of others?"""
    one, other = _without(left, known), _without(right, known)
    matched = SequenceMatcher(None, one, other, autojunk=False)
    if matched.ratio() < ALIKE_FROM:
        return False
    steps = [step for step in matched.get_opcodes() if step[0] != "equal"]
    swapped = False
    for _, begin, end, start, stop in steps:
        mine = [word for word in one[begin:end] if word not in _FRAME]
        theirs = [word for word in other[start:stop] if word not in _FRAME]
        own = [word for word in mine if not any(_forms_of_one(word, their) for their in theirs)]
        their_own = [word for word in theirs if not any(_forms_of_one(word, my) for my in mine)]
        if bool(own) != bool(their_own):
            # Something is said in one of them alone: no exchange, and not the same sentence.
            return False
        swapped = swapped or bool(own)
    return swapped


def _without(words: Sequence[str], known: Collection[str]) -> list[str]:
    return [word for word in words if word not in known]


def _forms_of_one(one: str, other: str) -> bool:
    """Such as pressure and pressures, work and worked."""
    if one == other:
        return True
    if _is_number(one) or _is_number(other) or not one.isalpha() or not other.isalpha():
        return False
    same = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    same = min(len(one), len(other)) if same is None else same
    return same >= SHORTEST_STEM and len(one) - same <= LONGEST_ENDING and len(other) - same <= LONGEST_ENDING
