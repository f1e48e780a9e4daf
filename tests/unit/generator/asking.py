"""Asks the extractive writer."""

from collections.abc import Sequence

from services.generator.domain import extractive, terms
from services.generator.domain.asked import Asked
from services.generator.domain.candidates import candidates
from services.generator.domain.extractive import Choice, Part, choose
from services.shared.contracts.search import Passage, TextScore


def ask(
    question: str,
    *passages: Passage,
    threshold: float = extractive.THRESHOLD,
    parts: Sequence[str] = (),
    subject: Sequence[str] = (),
) -> Choice:
    """Chooses with scores made of shared words."""
    found = candidates(question, passages)
    told = []
    for one in parts or [question]:
        asked = Asked.of(one, subject)
        shares = [terms.overlap(asked.text, candidate.scored) for candidate in found]
        told.append(Part(asked, [TextScore(similarity=share, coverage=share) for share in shares]))
    return choose(told, passages, found, threshold=threshold)


def texts(choice: Choice) -> list[str]:
    """What a reader sees."""
    return [one.text for one in choice.sentences]
