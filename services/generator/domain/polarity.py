"""What a sentence denies, and words that say the opposite of each other."""

import re
from collections.abc import Iterator
from functools import lru_cache

from services.generator.domain import terms

_NEGATOR = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|lacks?|lacked|lacking|absence of|fails? to"
    r"|failed to|unable to|instead of|rather than|refus(?:es?|ed|ing) to|nicht|nie|niemals|kein(?:e[mnrs]?)?|ohne)\b"
    r"|\b\w+n['’]t\b",
    re.IGNORECASE,
)
_SHORT_REACH = re.compile(r"lack|without|absence|instead|rather|ohne", re.IGNORECASE)
_JOINED = re.compile(r"\b(?:and|or|nor|und|oder)\b", re.IGNORECASE)
_FOUR_WORDS = re.compile(r"(?:\W*\w+){0,4}")
_NO_DENIAL = re.compile(
    r"\b(?:not (?:only|just|merely|least)|no doubt|no (?:later|more|fewer|less|earlier|longer) than"
    r"|not (?:more|less|later|fewer) than|nothing but|no (?:matter|sooner)|whether or not|if not|no\.? ?(?=\d))",
    re.IGNORECASE,
)
_SCOPE_END = re.compile(r"[.,;:|!?()—–]|\b(?:but|although|while|however|unless|because)\b", re.IGNORECASE)
_NEGATED_WORD = re.compile(r"^(?:un|non-?|in|im|ir|dis)(?P<rest>[a-z]{4,})$")

_OPPOSITES_LIST = (
    "more greater:less fewer|higher:lower|above:below|before:after|first:last|earlier:later|faster quicker:slower"
    "|larger bigger:smaller|longer:shorter|older:younger newer|oldest earliest:youngest newest latest"
    "|largest biggest:smallest|highest:lowest|longest:shortest|fastest:slowest|most:least fewest|best:worst"
    "|better:worse"
    "|maximum:minimum|increase increased increases increasing rise rises rose grew grow grows raised raises doubled"
    " :decrease decreased decreases decreasing fall falls fell drop drops dropped reduce reduced reduces shrank halved"
    " declined declines lowers lowered|opens opened open:closes closed|begins began starts started:ends ended finishes"
    "|buys bought:sells sold|wins won:loses lost|accepts accepted:rejects rejected refuses|allows allowed permits"
    " permitted:forbids forbidden prohibits prohibited bans banned|includes included including:excludes excluded"
    " excluding|succeeded succeeds:failed fails|inside:outside|indoors:outdoors|north northern:south southern"
    "|east eastern:west western|morning:evening|daily:weekly:monthly:yearly annually|positive positively:negative"
    " negatively|public publicly:private privately|free:paid|internal:external|enabled enables:disabled disables"
    "|required mandatory compulsory:optional voluntary|full-time:part-time|likes loves:dislikes hates|agrees:disagrees"
    "|safe:unsafe dangerous|present:absent|joined:left|arrives arrived arrive:departs departed departs leaves"
    "|hot:cold|summer:winter|day:night|new:old|easy:hard difficult|activates activated:inhibits inhibited suppresses"
    "|quieter:louder|rare rarely:common commonly often"
    "|founded opened:closed dissolved|remote remotely:on-site onsite"
    "|remember:forget|same:different|true:false|always:never:sometimes"
)
_GROUPS = [[set(side.split()) for side in one.split(":")] for one in _OPPOSITES_LIST.split("|")]
_SIDES: dict[str, list[tuple[int, int]]] = {}
for _at, _group in enumerate(_GROUPS):
    for _side, _members in enumerate(_group):
        for _word in _members:
            _SIDES.setdefault(_word, []).append((_at, _side))

_ALL = re.compile(
    r"\b(?:all|every|everyone|everything|each|always|entirely|completely|only|alle|immer|jede[rsnm]?)\b", re.I
)
_SOME = re.compile(
    r"\b(?:some|many|most|several|few|often|sometimes|usually|occasionally|rarely|mostly|partly|partially|a part of"
    r"|half|einige|manche|oft|manchmal)\b",
    re.I,
)
_ONLY = re.compile(r"(?<!not )\b(?:only|solely|exclusively)\b", re.I)
_ONLY_TOO = re.compile(
    r"\b(?:only|solely|exclusively|just|alone|except|sole|single|nothing but|no other|nobody else|unless|nur)\b", re.I
)


def denied(text: str) -> frozenset[str]:
    """The content words of ``text`` that stand in the reach of a denial: from it to the end of its clause."""
    return frozenset(word for start, end in _scopes(text) for word in terms.words(text[start:end]))


def asserted(text: str) -> frozenset[str]:
    """The content words outside of every denial's reach."""
    plain = text
    for start, end in _scopes(text):
        plain = plain[:start] + " " * (end - start) + plain[end:]
    return frozenset(terms.words(plain))


def denies(text: str) -> bool:
    """Whether anything in ``text`` is denied."""
    return next(_scopes(text), None) is not None


def _scopes(text: str) -> Iterator[tuple[int, int]]:
    """From behind each denying word to the end of its clause."""
    harmless = [match.span() for match in _NO_DENIAL.finditer(text)]
    for match in _NEGATOR.finditer(text):
        if any(start <= match.start() < end for start, end in harmless):
            continue
        stop = _SCOPE_END.search(text, match.end())
        end = stop.start() if stop else len(text)
        if _SHORT_REACH.match(match.group()):
            words = _FOUR_WORDS.match(text, match.end())
            end = min(end, words.end() if words else end)
        yield match.start(), end


def same_denied_otherwise(word: str, words: frozenset[str]) -> bool:
    """Whether ``words`` deny ``word`` by their form (unaffected for affected) or by an opposite (closed for open)."""
    for other in words:
        found = _NEGATED_WORD.match(other)
        if found and (found["rest"] == word or found["rest"].startswith(word)):
            return True
    return bool(_opposed_stems().get(word, set()) & words)


@lru_cache(maxsize=1)
def _opposed_stems() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for group in _GROUPS:
        for side, members in enumerate(group):
            others = {stem for at, one in enumerate(group) if at != side for word in one for stem in terms.words(word)}
            for stem in (stem for word in members for stem in terms.words(word)):
                found.setdefault(stem, set()).update(others)
    return found


def opposed(claim: str, evidence: str) -> list[tuple[str, str]]:
    """Pairs of words, the claim's and the evidence's, that say the opposite where neither text says both."""
    said, given = _plain_words(claim), _plain_words(evidence)
    found: list[tuple[str, str]] = []
    for word in sorted(said):
        for at, side in _SIDES.get(word, ()):
            group = _GROUPS[at]
            if group[side] & given or any(said & other for number, other in enumerate(group) if number != side):
                continue
            contrary = sorted({one for number, other in enumerate(group) if number != side for one in other & given})
            found.extend((word, one) for one in contrary)
    return found


def overstated(claim: str, evidence: str) -> str:
    """The word by which the claim says more than the evidence: all for some, or an added only; else nothing."""
    only = _ONLY.search(claim)
    if only and not _ONLY_TOO.search(evidence):
        return only.group().casefold()
    whole = _ALL.search(claim)
    limited = _ONLY.search(evidence) or (_SOME.search(evidence) and not _ALL.search(evidence))
    if whole and limited and not _SOME.search(claim) and not _ONLY_TOO.search(claim):
        return whole.group().casefold()
    return ""


def denied_twice(text: str) -> bool:
    """Whether one denial stands in the reach of another: "must not enter without a helmet"."""
    scopes = list(_scopes(text))
    return any(
        start < other < end and not _JOINED.search(text, start, other) for start, end in scopes for other, _ in scopes
    )


def _plain_words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.casefold()))
