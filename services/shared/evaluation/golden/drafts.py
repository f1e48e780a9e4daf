"""A question on its way: what it asks, what a right answer holds, and where that stands."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from services.shared.contracts.golden import MADE_OF, Behaviour, GoldSpan, Question
from services.shared.contracts.ids import DocumentId


@dataclass(frozen=True)
class Draft:
    """A question with everything but its id."""

    text: str
    kind: str
    document_id: DocumentId
    """The document that it was made from, whether or not that answers it."""
    quotes: tuple[str | None, ...] = ()
    """Where the answer stands; None is the document as a whole."""
    facts: tuple[tuple[str, ...], ...] = ()
    expected: str | None = None
    tags: tuple[str, ...] = ()
    behaviour: Behaviour = Behaviour.ANSWER
    also: tuple[tuple[DocumentId, str | None], ...] = ()
    """Where else the answer, or its second part, stands."""
    must_not: tuple[str, ...] = ()


def question_of(draft: Draft) -> Question:
    """The draft with the id that its kind and words give it."""
    places = [(draft.document_id, quote) for quote in draft.quotes]
    gold = [GoldSpan(document_id=document_id, quote=quote) for document_id, quote in (*places, *draft.also)]
    return Question(
        id=question_id(draft.kind, draft.text),
        text=draft.text,
        kind=draft.kind,
        behaviour=draft.behaviour,
        expected=draft.expected,
        facts=[list(fact) for fact in draft.facts],
        must_not=list(draft.must_not),
        gold=gold,
        tags=[*draft.tags, *_made_of(draft, gold)],
    )


def _made_of(draft: Draft, gold: Sequence[GoldSpan]) -> list[str]:
    """A question that its own document does not answer repeats words of it all the same, and goes when it goes."""
    named = {span.document_id for span in gold}
    return [f"{MADE_OF}{draft.document_id}"] if draft.document_id and draft.document_id not in named else []


def question_id(kind: str, text: str) -> str:
    """The same for the same question, so that making it again proposes nothing twice."""
    return "g-" + hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest()[:10]


def shuffled(keys: Sequence[str], seed: int) -> list[str]:
    """In an order that the seed decides, and that one key more or less does not upset."""
    return sorted(keys, key=lambda key: (hashlib.sha256(f"{seed}:{key}".encode()).digest(), key))
