"""A question and candidates for the critic's tests."""

from collections.abc import Sequence

from services.shared.models.critic.features import Candidate
from services.shared.models.critic.matching import Question

IDF = {"quarterly": 3.0, "fees": 2.0, "london": 4.0, "office": 1.0, "2019": 5.0, "the": 0.1}
HIGHEST = 6.0

PASSAGES = (
    "the office in london pays quarterly fees since 2019",
    "fees are paid by the office",
    "london is a city and its weather is mild in spring",
    "quarterly the reports of 2019 were late because the printer broke",
    "nothing of this sort",
)
SIMILARITIES = (0.71, 0.64, 0.35, 0.41, 0.12)
SCORES = (11.0, 4.5, 3.0, 7.5, None)


def question(text: str = "which quarterly fees had the London office in 2019") -> Question:
    """A question over an index that knows the words of ``IDF``."""
    return Question.of(text, terms=terms, idf=lambda term: IDF.get(term, 0.0), highest=HIGHEST)


def terms(text: str) -> list[str]:
    """A plain analyser: small letters, without question words."""
    return [word for word in text.lower().split() if word not in {"which", "had", "in", "the"}]


def candidates(
    similarities: Sequence[float | None] = SIMILARITIES, scores: Sequence[float | None] = SCORES
) -> list[Candidate]:
    """The passages with their values."""
    return [
        Candidate(text.split(), near, score) for text, near, score in zip(PASSAGES, similarities, scores, strict=True)
    ]
