"""Topics that the owner does not want to be asked about, told by their words."""

import re
from collections.abc import Sequence

from services.gateway.domain.plain import folded
from services.shared.contracts.profile import Declined

_ENDINGS = r"(?:'?s'?|es|ed|d|ing|er|ern|en|em|e|n|ens)?"
"""Inflections of English and German; what is longer is another word: "salaryman" is no salary."""

_SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts that write no blanks between words, where a word may stand anywhere."""


def declined_topic(question: str, topics: Sequence[Declined]) -> Declined | None:
    """The first topic that the question speaks of; None when it speaks of none."""
    asked = folded(question)
    return next((topic for topic in topics if _speaks_of(asked, topic)), None)


def _speaks_of(asked: str, topic: Declined) -> bool:
    phrases = [phrase for phrase in map(folded, (topic.topic, *topic.words)) if phrase]
    return any(_pattern(phrase).search(asked) is not None for phrase in phrases)


def _pattern(phrase: str) -> re.Pattern[str]:
    if _SPACELESS.search(phrase):
        return re.compile(re.escape(phrase))
    words = re.split(r"[\s-]+", phrase)
    # Only the last word of a phrase is inflected: "home addresses", but also "stock options".
    whole = r"[\s-]+".join([*map(re.escape, words[:-1]), _inflected(words[-1])])
    return re.compile(r"(?<!\w)" + whole + r"(?!\w)")


def _inflected(word: str) -> str:
    if len(word) > 3 and word.endswith("y"):
        return re.escape(word[:-1]) + r"(?:y(?:'s)?|ies|ied|ying)"
    if len(word) > 3 and word.endswith("e"):
        return re.escape(word[:-1]) + r"(?:e" + _ENDINGS + r"|ing)"
    return re.escape(word) + (_ENDINGS if word[-1:].isalpha() and len(word) > 2 else "")
