"""The titles that an abstention names: what the documents hold that comes closest."""

import re
from collections.abc import Sequence

from services.shared.contracts.search import Passage

TOPICS = 3
"""How many of the closest topics an abstention names."""

_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|ignoriere|vergiss)\b.{0,60}\b(?:passages?|documents?|instructions?|rules?|prompts?"
    r"|questions?|everything|above|Anweisungen|Regeln|alles)\b"
    r"|(?:^|[.!?>]\s*)(?-i:SYSTEM|ASSISTANT|[Aa]ssistant)\s*:"
    r"|\b(?:system|assistant|AI) (?:note|message|prompt|override)\b"
    r"|</?\w|<\||\[/?(?:INST|SYSTEM)\]|\byou (?:are now|must|will|shall)\b|\bfrom now on\b"
    r"|\b(?:say|claim|tell (?:\w+ ){1,2})\s?that\b|\balways (?:say|tell|mention|recommend|claim)\b"
    r"|\b(?:note|message|instructions?) (?:to|for) (?:the |any |all )?"
    r"(?:AIs?|assistants?|(?:language )?models?|chat ?bots?)\b"
    r"|\bshould be told\b",
    re.IGNORECASE,
)
"""A title is short: a few words of an order are enough to leave it unsaid, which costs nobody an answer."""


def closest_topics(passages: Sequence[Passage]) -> list[str]:
    """The titles of the nearest passages, each once, without those that read as orders to an assistant."""
    titles = dict.fromkeys(passage.title for passage in passages)
    return [title for title in titles if not _ORDER.search(title)][:TOPICS]
