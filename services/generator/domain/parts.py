"""The parts of a question that are answered one by one."""

import re
from collections.abc import Sequence

from services.generator.domain import splitting, terms

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=\w):\s+(?=\w+\s)")
_LEANS = re.compile(r"\b(?:it|its|he|she|they|him|them|that|this|these|those|one|ones|there|so)\b", re.IGNORECASE)


def parts(question: str, sub_questions: Sequence[str]) -> tuple[str, ...]:
    """The sub-questions that were found already, else what the question itself plainly asks, one or several."""
    found = tuple(sub_questions) or splitting.split(question)
    return found if len(found) > 1 else (without_talk(question),)


def without_talk(question: str) -> str:
    """The question without the sentences around it that ask nothing, unless it leans on them."""
    sentences = [one for one in _SENTENCE_END.split(question) if one.strip()]
    asking = [one for one in sentences if one.rstrip().endswith(("?", "？"))]
    if len(sentences) < 2 or len(asking) != 1:
        return question
    alone = asking[0]
    return alone if not _LEANS.search(alone) and len(terms.words(alone)) > 1 else question
