"""Golden questions: what a visitor may ask, what a right answer holds, and where it stands."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from services.shared.contracts.answers import Citation, WriterModel
from services.shared.contracts.base import Request, Response
from services.shared.contracts.ids import DocumentId, JobId
from services.shared.contracts.search import IndexState

QUESTIONS_MAX = 20_000
"""Questions in one body or file."""
MADE_OF = "made_of:"
"""Begins the tag that names the document a question was made of, where no gold passage does."""
GRADE_MAX = 1000
"""Larger gains would be lost in the sums of nDCG, or overflow what counts it."""


class Behaviour(StrEnum):
    """What a right system does with a question."""

    ANSWER = "answer"
    ABSTAIN = "abstain"
    """The content does not hold it; declining is as right."""
    DECLINE = "decline"
    """It asks for a part that is not played; abstaining is as right."""


class GoldSpan(Request):
    """A stretch of a document that holds (a part of) the answer.

    ``quote`` stands in the extracted text word for word; where a document is judged as a whole, it is null.
    """

    document_id: DocumentId
    quote: str | None = None
    grade: int = Field(default=1, ge=1, le=GRADE_MAX, description="How relevant: gain in nDCG")
    group: str | None = Field(default=None, description="Spans of one group say the same, and one of them is enough")


class Question(Request):
    """One question with what is expected of its answer."""

    id: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1)
    kind: str = Field(default="question", description="Row of the table by kind, such as factual_recall")
    behaviour: Behaviour = Behaviour.ANSWER
    expected: str | None = Field(default=None, description="A right answer in a sentence or two")
    facts: list[list[str]] = Field(
        default_factory=list, description="What a right answer says: each fact as its admissible wordings"
    )
    needed: int | None = Field(default=None, ge=1, description="How many of the facts make it right; null is all")
    must_not: list[str] = Field(default_factory=list, description="Words that no answer to it may hold")
    gold: list[GoldSpan] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list, description="Such as false_premise, negative_fact, two_part")
    language: str | None = Field(default=None, description="Language of the answer, BCP 47; null is not judged")


def identity(question: Question) -> str:
    """Equal for questions of which two runs may be compared: the same is asked under the same id, and expected."""
    return question.model_dump_json(exclude={"kind", "tags", "language"})


def fingerprint(questions: Sequence[Question]) -> str:
    """Of a question set, whatever its order: 16 hex digits of SHA-256."""
    rows = sorted(question.model_dump_json() for question in questions)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


class GoldenState(StrEnum):
    """Whether an owner stands behind a golden question. Only approved ones are asked in an evaluation."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"


class GoldenOrigin(StrEnum):
    RULE = "rule"
    MODEL = "model"
    OWNER = "owner"
    FEEDBACK = "feedback"


class GoldenQuestion(Response):
    """A question of a space's golden set, as it is kept."""

    question: Question
    state: GoldenState
    origin: GoldenOrigin
    flagged: str | None = Field(
        description="Why the owner should look again, such as a passage that changed; a flagged question is not asked"
    )
    updated_at: datetime


class GoldenList(Response):
    items: list[GoldenQuestion]
    next_cursor: str | None
    counts: dict[str, int] = Field(description="By state, and flagged ones under flagged")


class GoldenIn(Request):
    """One reviewed question on its way in; the same id replaces."""

    question: Question
    state: GoldenState = GoldenState.APPROVED


class GoldenImport(Request):
    """``PUT /v1/golden``."""

    items: list[GoldenIn] = Field(max_length=QUESTIONS_MAX)


class GoldenImported(Response):
    added: int
    replaced: int
    unchanged: int
    flagged: int = Field(description="Questions whose gold passages do not stand in the live documents")


class GoldenMakeRequest(Request):
    """``POST /v1/golden/make``: a background job proposes questions from the space's documents."""

    limit: int = Field(default=200, ge=1, le=QUESTIONS_MAX, description="Most questions to propose")
    seed: int = 0
    by_model: bool = Field(default=False, description="Also ask the model that RAGSTONE_JUDGE_URL names")


class Verdict(StrEnum):
    """What a person says of an answer."""

    GOOD = "good"
    BAD = "bad"


class FeedbackRequest(Request):
    """``POST /v1/feedback``."""

    answer_id: str = Field(min_length=1, max_length=100)
    verdict: Verdict
    comment: str | None = Field(default=None, max_length=4000)


class FeedbackState(StrEnum):
    OPEN = "open"
    """Nobody has looked at it."""
    CORRECTED = "corrected"
    """An owner wrote what is right; it is a golden question now."""
    DISMISSED = "dismissed"


class Evidence(Response):
    """What a judged answer rested on, as it was given; without the documents that were deleted since."""

    citations: list[Citation]
    confidence: float = Field(description="Probability that the content answers the question, 0 to 1")
    model: WriterModel
    index: IndexState


class Feedback(Response):
    id: str
    answer_id: str
    question: str
    answer_text: str
    answer_status: str
    verdict: Verdict
    comment: str | None
    state: FeedbackState
    golden_id: str | None = Field(description="The golden question that it became")
    evidence: Evidence | None = Field(
        default=None, description="What the answer rested on; null for what an earlier release kept"
    )
    created_at: datetime


class FeedbackList(Response):
    items: list[Feedback]
    next_cursor: str | None


class Correction(Request):
    """``POST /v1/feedback/{id}/correction``: the owner's word on what a right answer is."""

    behaviour: Behaviour = Behaviour.ANSWER
    expected: str | None = Field(default=None, max_length=4000, description="Needed unless it is right to abstain")
    facts: list[list[str]] = Field(default_factory=list)
    must_not: list[str] = Field(default_factory=list)
    gold: list[GoldSpan] = Field(default_factory=list)
    kind: str = "correction"


class StartedJob(Response):
    """202 of a door that starts background work."""

    job_id: JobId
