"""Does a sentence hold the kind of thing that a question asks for?"""

import re

_TITLED = r"[A-ZÀ-ÖØ-Þ][\w'’-]+"
_HINTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(r"\s*(?:who|what) (?:is|are|was|were) (?:the |an? )?\w[\w.&-]*(?: \w[\w.&-]*){0,2}\W*$", re.I),
        re.compile(r"\b(?:is|are|was|were) (?:an?|the|one of|two|three)\b", re.I),
    ),
    (
        re.compile(r"\b(?:when|what (?:year|date|day|month|century|time)|which (?:year|date|day)|since when)\b", re.I),
        re.compile(
            r"\b\d{4}\b|\b\d{1,2}:\d{2}\b|\b(?:january|february|march|april|may|june|july|august|september|october"
            r"|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|decade)\b"
            r"|\b(?:after|before|during|until|while) ",
            re.I,
        ),
    ),
    (
        re.compile(
            r"\bhow (?:many|much|long|old|often|far|large|big|high|tall|fast|deep|heavy)\b"
            r"|\bwhat (?:percent\w*|number|amount|share|proportion)\b",
            re.I,
        ),
        re.compile(
            r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?"
            r"|millions?|billions?|half|third|quarter|once|twice|several|per cent|percent|weekly|daily|monthly)\b",
            re.I,
        ),
    ),
    (re.compile(r"\bwho(?:se|m)?\b", re.I), re.compile(rf"(?<=[a-z,;(] )(?:{_TITLED})|^{_TITLED} {_TITLED}")),
    (
        re.compile(r"\bwhere\b|\b(?:what|which) (?:city|country|place|town|state|street|region)\b", re.I),
        re.compile(
            rf"\b(?:in|at|near|from|to|of|on|into|across|along) (?:the )?(?:{_TITLED})|\b(?:north|south|east|west)",
            re.I,
        ),
    ),
    (
        re.compile(r"\bwhy\b", re.I),
        re.compile(r"\b(?:because|since|due to|so that|as a result|reason|caus\w+)\b", re.I),
    ),
)


def kind_hint(question: str, text: str) -> float:
    """Does ``text`` hold a definition for a what is, a date for a when, a number for a how many, a name for a who?

    1 where it does, 0 where it does not, 0.5 where no such thing is asked for.
    """
    for asked, given in _HINTS:
        if asked.search(question):
            return 1.0 if given.search(text) else 0.0
    return 0.5
