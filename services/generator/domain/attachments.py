"""Small words that carry facts: "from Ghent" is not "to Ghent", "before 2016" not "in 2016", "at least 12" not "12"."""

import re
from collections.abc import Iterator

_PLACES_LIST = "from:from to:to into:to towards:to toward:to von:from nach:to in:in at:in by:by"
_PLACES = dict(pair.split(":") for pair in _PLACES_LIST.split())
_MOMENTS_LIST = (
    "in:at on:at at:at during:at before:before until:until till:until to:until through:until after:after since:since"
    " from:since following:after vor:before bis:until nach:after seit:since"
)
_MOMENTS = dict(pair.split(":") for pair in _MOMENTS_LIST.split())
_DIFFER_LIST = "before/at before/after before/since after/at until/since until/after until/at at/since"
_DIFFER = frozenset(frozenset(pair.split("/")) for pair in _DIFFER_LIST.split())
"""Kinds that exclude each other. "by" and "around" exclude nothing, and "since" of "after" or "at" may be inferred."""
_INFERRED = frozenset({("since", "at"), ("after", "since"), ("at", "since")})
"""(claimed, given): who began in May 2020 has been there since."""

_MONTH = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December"
    "|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember)"
)
_ANCHOR = re.compile(
    r"\b(?P<small>[A-Za-z]+) (?:(?:the|early|late|mid|end of|beginning of) )?"
    rf"(?P<anchor>(?:\d{{1,2}}(?:st|nd|rd|th|\.)? )?{_MONTH}(?: \d{{1,2}}\b)?(?:,? \d{{4}}\b)?|\d(?:[\d:.,-]*\d)?\w?"
    r"|[A-ZÀ-ÖØ-Þ][\w'’&.-]*\w(?: [A-ZÀ-ÖØ-Þ][\w'’&-]*)*)"
)
_NO_LESS = re.compile(r"\b(?:at least|no fewer than|no less than|not less than|mindestens)\s+$", re.IGNORECASE)
_NO_MORE = re.compile(r"\b(?:at most|up to|no more than|not more than|höchstens|bis zu)\s+$", re.IGNORECASE)
_MORE = re.compile(r"\b(?:more than|over|above|mehr als)\s+$", re.IGNORECASE)
_FEWER = re.compile(r"\b(?:less than|fewer than|under|below|weniger als)\s+$", re.IGNORECASE)
_PART_OF = re.compile(r"\d\s+(?:out )?of\s+(?:the\s+)?$", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:never|not|no|nobody|none|nie|nicht|kein\w*)\b|n['’]t\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,.]*(?<=\d)(?![\w-]*-)")
_YEAR = re.compile(r"(?:1[89]|20)\d\d$")
_CHANGES = {"by": "by", "to": "to", "from": "from", "um": "by", "auf": "to", "von": "from"}
_STEP = re.compile(r"\b(by|to|from|um|auf|von)\s+(?:about\s+|over\s+)?$", re.IGNORECASE)
_CLAUSE = 60
"""Code points before a number in which a denial turns its bound round."""
_WORDS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_SPELLED = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)
_DATED = re.compile(rf"\d|^{_MONTH}\b")


def misattached(claim: str, evidence: str) -> list[str]:
    """What the small words before names, dates and numbers of the claim say otherwise than the evidence's do.

    Only where the evidence holds the same name, date or number behind a small word everywhere, and each time one that
    excludes the claim's. Empty: no objection.
    """
    return [*_directions(claim, evidence), *_bounds(claim, evidence)]


def _directions(claim: str, evidence: str) -> Iterator[str]:
    given = list(_anchored(evidence))
    for small, anchor in _anchored(claim):
        kinds = _MOMENTS if _DATED.search(anchor) else _PLACES
        kind = kinds.get(small)
        others = {kinds.get(word) for word, other in given if anchor == other or anchor in other.split()}
        if kind and others and None not in others and all(_exclude(kind, str(other)) for other in others):
            yield f"relation: {small} {anchor} is not what the source says"


def _anchored(text: str) -> Iterator[tuple[str, str]]:
    """Each name or date with the small word before it; an anchor that follows none gives "" for it."""
    for match in _ANCHOR.finditer(text):
        small = match["small"].casefold()
        yield (small if small in _PLACES or small in _MOMENTS else ""), match["anchor"]


def _exclude(claimed: str, given: str) -> bool:
    if {claimed, given} in ({"from", "to"}, {"in", "by"}):
        return True
    return frozenset((claimed, given)) in _DIFFER and (claimed, given) not in _INFERRED


def _bounds(claim: str, evidence: str) -> Iterator[str]:
    """Numbers with another bound (at least 12 for 12), part (67 for 41 of 67) or step (by 212 for to 212)."""
    said, source = _in_digits(claim), _in_digits(evidence)
    given = [(match.group(), *_signs(source, match.start())) for match in _NUMBER.finditer(source)]
    for match in _NUMBER.finditer(said):
        bound, step = _signs(said, match.start())
        others = [(one, other) for number, one, other in given if number == match.group()]
        bounds, steps = {one for one, _ in others}, {other for _, other in others}
        if others and bound not in bounds and (bound or bounds == {"of"}):
            yield f"relation: {match.group()} has another bound in the source"
        elif step and others and "" not in steps and step not in steps and not _YEAR.match(match.group()):
            yield f"relation: {match.group()} is reached otherwise in the source"


def _signs(text: str, at: int) -> tuple[str, str]:
    """The bound and the step that stand before a number, "" for none."""
    before = text[max(0, at - _CLAUSE) : at]
    bound = "more" if _NO_LESS.search(before) else "fewer" if _NO_MORE.search(before) else ""
    if not bound and (_MORE.search(before) or _FEWER.search(before)):
        bound = "more" if bool(_MORE.search(before)) is not bool(_DENIED.search(before)) else "fewer"
    step = _STEP.search(before)
    return bound or ("of" if _PART_OF.search(before) else ""), _CHANGES[step[1].casefold()] if step else ""


def _in_digits(text: str) -> str:
    """ "one" is left as it is: it is a pronoun too."""
    return _SPELLED.sub(lambda match: str(_WORDS.index(match.group().casefold()) + 2), text)
