"""What does a clause say of the words in it: that it is so, that it is not, or neither? A small reading of English.

The commonest denials of its neighbours are known too.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from services.shared.evaluation.reviewers.wording import Word


class Reading(StrEnum):
    """How a text speaks of some of its words."""

    AFFIRMED = "affirmed"
    DENIED = "denied"
    CONTRASTED = "contrasted"
    """Named as what it is not: instead of it, rather than it, any except it."""
    OPEN = "open"
    """Not said to be so: a guess, one of two, the end of a range, a bound."""


_DENIALS_LIST = (
    "not nobody nothing none neither nor no without hardly lacks nicht kein keine keinen keinem keiner nie"
    " ohne pas jamais nunca jamas niet geen nooit zonder"
)
_DENIALS = frozenset(_DENIALS_LIST.split())
_NEAR_LIST = "no without neither nor none lacks kein keine keinen keinem keiner ohne geen zonder"
_NEAR = frozenset(_NEAR_LIST.split())
"""Those that deny only the words right behind them."""
NEAR, FAR = 4, 14
"""How many words a denial reaches."""
GUESS = 6
"""How many words a guess or a choice reaches."""

_NO_DENIAL_LIST = (
    "only just merely solely until before more less fewer later earlier least doubt doubts disputes denies"
)
_NO_DENIAL = frozenset(_NO_DENIAL_LIST.split())
"""Not only, no more than, not until, nobody doubts: what follows is affirmed."""
_CONTRASTS = {"instead": "of", "rather": "than"}
_EXCEPTIONS = frozenset({"except", "excluding", "unlike"})
_BE = frozenset(["is", "are", "was", "were"])
_UNTRUE = frozenset(["false", "untrue", "wrong", "incorrect"])
_NOT_THIS = frozenset(["1", "among", "it", "true", "right", "correct"])
"""With a not before, what is said of something to deny it: Dutch is not one she speaks."""
_GUESSES = frozenset(["whether", "perhaps", "maybe", "possibly", "allegedly", "supposedly"])
_MODALS = frozenset(["may", "might", "could"])
_BOUNDS = frozenset({("at", "least"), ("more", "than"), ("less", "than"), ("fewer", "than")})
_RANGE = frozenset({"to", "or"})

_RELATIVES = frozenset(["whose", "which", "who"])
_ENDS_LIST = (
    "but although though however whereas while yet because since until if when so which who he she it they we i this"
    " that and as aber sondern weil mais sino"
)
_ENDS = frozenset(_ENDS_LIST.split())
_TURNS_LIST = "but although though however whereas while yet because until aber sondern weil mais sino"
_TURNS = frozenset(_TURNS_LIST.split())
_CLAUSE_END = re.compile(r"[.;:!?|\n()]|\s-+\s")


def denies(wording: Sequence[str]) -> bool:
    """Whether a denial stands among the words."""
    return any(word in _DENIALS for word in wording)


def reading(among: Sequence[Word], at: int, length: int) -> Reading:
    """How the words from ``at`` on are spoken of, ``length`` of them."""
    if _is_open(among, at, length):
        return Reading.OPEN
    if _is_contrasted(among, at):
        return Reading.CONTRASTED
    return Reading.DENIED if denied(among, at) or _denied_behind(among, at + length) else Reading.AFFIRMED


def denied(among: Sequence[Word], at: int, reach: int = FAR) -> bool:
    """Whether the word at ``at`` stands behind a denial of the same clause.

    A clause ends at a full stop, colon, bracket or dash, at a turning word such as but, and at a comma before a
    word that begins a new one. No and without reach four words, and so does whatever is denied of "a batch whose
    sums do not"; another denied verb reaches the rest of its clause.
    """
    for here in _before(among, at, reach):
        text, follower = among[here].text, among[here + 1].text
        if text in _EXCEPTIONS and _is_denied_near(among, here):
            return False
        if text not in _DENIALS or follower in _NO_DENIAL:
            continue
        if at - here <= NEAR or (text not in _NEAR and not _is_relative(among, here)):
            return True
    return False


def _before(among: Sequence[Word], at: int, reach: int) -> Iterator[int]:
    """The places before ``at`` in the same clause, the nearest first."""
    for here in range(at - 1, max(-1, at - 1 - reach), -1):
        follower = among[here + 1]
        if _CLAUSE_END.search(follower.gap) or follower.text in _TURNS:
            return
        if "," in follower.gap and (follower.text in _ENDS or among[here].text in ("no", "yes")):
            return
        yield here


def _is_relative(among: Sequence[Word], at: int) -> bool:
    return any(among[here].text in _RELATIVES for here in _before(among, at, GUESS))


def _is_denied_near(among: Sequence[Word], at: int) -> bool:
    return any(among[here].text in _DENIALS for here in _before(among, at, NEAR))


def _is_contrasted(among: Sequence[Word], at: int) -> bool:
    for here in _before(among, at, NEAR):
        if "," in among[here + 1].gap:
            return False
        text = among[here].text
        if text in _EXCEPTIONS or (text in _CONTRASTS and among[here + 1].text == _CONTRASTS[text]):
            return not _is_denied_near(among, here)
    return False


def _denied_behind(among: Sequence[Word], end: int) -> bool:
    """Whether what ends before ``end`` is called false, or not one of something."""
    behind: list[str] = []
    for word in among[end : end + 3]:
        if _CLAUSE_END.search(word.gap):
            break
        behind.append(word.text)
    if len(behind) < 2 or behind[0] not in _BE:
        return False
    return behind[1] in _UNTRUE or (behind[1] in _DENIALS and behind[-1] in _NOT_THIS)


def _is_open(among: Sequence[Word], at: int, length: int) -> bool:
    return _is_guessed(among, at, length) or (
        among[at].is_number and (_is_of_a_range(among, at, length) or _is_a_bound(among, at))
    )


def _is_guessed(among: Sequence[Word], at: int, length: int) -> bool:
    for here in _before(among, at, GUESS):
        text, follower = among[here].text, among[here + 1].text
        if text in _GUESSES or (text in _MODALS and follower == "have"):
            return True
        if text == "either" and any(word.text == "or" for word in among[here + 1 : at + length + GUESS]):
            return True
    return False


def _is_of_a_range(among: Sequence[Word], at: int, length: int) -> bool:
    """Whether it is the 13 weeks or the 10 of "10 to 13 weeks", which is no statement of either.

    The two ends of a change ("from 9400 to 3150") are said when no unit follows them; years of a stay always are,
    and so is 60 of "60 seconds or 1 minute", which is one length in two units.
    """
    for first, to, second in ((at - 2, at - 1, at), (at - 3, at - 1, at), (at, at + length, at + length + 1)):
        if first < 0 or second >= len(among) or among[to].text not in _RANGE:
            continue
        start, end = among[first], among[second]
        if not (start.is_number and end.is_number):
            continue
        if to - first > 1 and (second + 1 >= len(among) or among[first + 1].text != among[second + 1].text):
            continue
        is_change = first > 0 and among[first - 1].text == "from" and (length == 1 or to - first > 1)
        return not (is_change or (_is_year(start) and _is_year(end)))
    return False


def _is_year(word: Word) -> bool:
    return bool(re.fullmatch(r"[12]\d{3}", word.text))


def _is_a_bound(among: Sequence[Word], at: int) -> bool:
    """At least six is not six; no more than six may be."""
    return at >= 2 and (among[at - 2].text, among[at - 1].text) in _BOUNDS and not _is_denied_near(among, at - 2)
