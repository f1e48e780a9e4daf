"""What the owner wrote that is not so, where a question asks for just that with yes or no."""

import re
from collections.abc import Sequence

from services.generator.domain import polarity, terms
from services.generator.domain.support import places
from services.shared.contracts.search import Passage
from services.shared.contracts.writing import SentenceWritten, Span

ASKED = 0.6
"""Least share of the question's words in the denial, the subject's names left out."""

CONTRADICTED = 0.5
"""Least share of a sentence's words in a denial that it contradicts, the subject's names left out."""

_YES_OR_NO = re.compile(
    r"\W*(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should|may|must|ist|sind|hat|kann)\b", re.I
)


def denied_by(claim: str, passages: Sequence[Passage], subject: Sequence[str]) -> str | None:
    """The owner's denial that the claim contradicts: it holds most of the claim's words, and only it denies them."""
    own = set(terms.words(" ".join(subject)))
    said = set(terms.words(claim)) - own
    for number, passage in enumerate(passages):
        if passage.kind != "negative" or not said:
            continue
        for place in places(number, passage):
            held = said & set(terms.words(place.evidence))
            known = polarity.denied(place.evidence)
            if len(held) >= CONTRADICTED * len(said) and held & known and not held & known <= polarity.denied(claim):
                return " ".join(place.evidence.split())
    return None


def denial(question: str, passages: Sequence[Passage], subject: Sequence[str]) -> SentenceWritten | None:
    """The first denial that holds the question's words and every name in it, word for word."""
    if not _YES_OR_NO.match(question):
        return None
    own = set(terms.words(" ".join(subject)))
    asked = set(terms.words(question)) - own
    names = {stem for name in terms.names(question) for stem in terms.words(name)} - own
    for number, passage in enumerate(passages):
        if passage.kind != "negative":
            continue
        for place in places(number, passage):
            said = set(terms.words(place.evidence))
            share = len(asked & said) / len(asked) if asked else 0.0
            if share >= ASKED and names <= said and place.sentences == 1:
                quote = passage.text[place.start : place.end]
                span = Span(passage=number, start=place.start, end=place.end, quote=quote)
                text = " ".join(place.evidence.split())
                return SentenceWritten(event="sentence", text=text, before=" ", spans=[span], score=round(share, 4))
    return None
