"""A question set as it was read, and the documents that belong to it."""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from services.shared.contracts.documents import DocumentIn
from services.shared.contracts.golden import Question

_NOT_IN_SPACES = re.compile(r"[^a-z0-9_-]+")
_SPACE_MAX = 63


@dataclass(frozen=True)
class Corpus:
    """Documents that were looked through once: ``documents`` reads them again, one after the other.

    ``ids`` are those of the documents that have text; ``empty`` counts the others, which are left out.
    """

    documents: Callable[[], Iterable[DocumentIn]]
    ids: frozenset[str]
    empty: int = 0


@dataclass(frozen=True)
class QuestionSet:
    """Questions with the name that the report shows; ``notes`` say what was left out, and why."""

    name: str
    questions: Sequence[Question]
    corpus: Corpus | None = None
    notes: tuple[str, ...] = ()


def sample(questions: Sequence[Question], limit: int, seed: int) -> list[Question]:
    """So many of them by lot, in their order. The lot depends on the ids and the seed, not on the order."""
    if limit >= len(questions):
        return list(questions)
    drawn = set(random.Random(seed).sample(sorted(question.id for question in questions), limit))
    return [question for question in questions if question.id in drawn]


def space_for(name: str) -> str:
    """The space of a question set's own documents."""
    words = _NOT_IN_SPACES.sub("-", name.lower()).strip("-_") or "data"
    return f"eval-{words}"[:_SPACE_MAX]
