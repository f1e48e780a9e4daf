"""Does a clause deny what it speaks of? A small reading of English, with the commonest denials of its neighbours."""

import re
from collections.abc import Sequence

from services.shared.evaluation.reviewers.wording import Word

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

_NO_DENIAL_LIST = "only just merely solely until more less fewer later earlier least"
_NO_DENIAL = frozenset(_NO_DENIAL_LIST.split())
"""Not only, no more than, not until: what follows is affirmed."""
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


def denied(among: Sequence[Word], at: int) -> bool:
    """Whether the word at ``at`` stands behind a denial of the same clause.

    A clause ends at a full stop, colon, bracket or dash, at a turning word such as but, and at a comma before a
    word that begins a new one. No and without reach four words, a denied verb the rest of its clause.
    """
    for distance in range(1, FAR + 1):
        here = at - distance
        if here < 0:
            return False
        follower = among[here + 1]
        if _CLAUSE_END.search(follower.gap) or follower.text in _TURNS:
            return False
        if "," in follower.gap and (follower.text in _ENDS or among[here].text in ("no", "yes")):
            return False
        text = among[here].text
        if text in _DENIALS and (distance <= NEAR or text not in _NEAR) and follower.text not in _NO_DENIAL:
            return True
    return False
