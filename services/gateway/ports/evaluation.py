"""Evaluations, golden questions and feedback."""

from collections.abc import Sequence
from typing import Literal, Protocol

from services.gateway.ports.answering import KeptAnswer
from services.shared.contracts.evaluation import Evaluation, EvaluationList, EvaluationRequest, StartedEvaluation
from services.shared.contracts.golden import (
    Correction,
    Feedback,
    FeedbackList,
    FeedbackRequest,
    FeedbackState,
    GoldenImport,
    GoldenImported,
    GoldenList,
    GoldenMakeRequest,
    GoldenQuestion,
    GoldenState,
    Verdict,
)
from services.shared.contracts.ids import JobId, SpaceId


class Evaluations(Protocol):
    """The catalog's evaluations. Raise RagstoneError (evaluation_not_found, job_state_conflict: not finished)."""

    async def start(self, space: SpaceId, request: EvaluationRequest, request_id: str) -> StartedEvaluation:
        """Writes the order and its job down; raises RagstoneError (golden_set_empty too)."""
        ...

    async def page(self, space: SpaceId, *, limit: int, cursor: str | None) -> EvaluationList:
        """Newest first."""
        ...

    async def one(self, space: SpaceId, id: str) -> Evaluation:
        """The finished whole."""
        ...

    async def report(self, space: SpaceId, id: str, form: Literal["html", "markdown"]) -> str:
        """The finished report."""
        ...


class Golden(Protocol):
    """The space's golden questions."""

    async def put(self, space: SpaceId, sent: GoldenImport) -> GoldenImported:
        """Adds and replaces all of them or none."""
        ...

    async def page(
        self,
        space: SpaceId,
        *,
        states: Sequence[GoldenState] | None,
        flagged: bool | None,
        limit: int,
        cursor: str | None,
    ) -> GoldenList:
        """By id."""
        ...

    async def remove(self, space: SpaceId, id: str) -> None:
        """Raises RagstoneError (golden_not_found)."""
        ...

    async def make(self, space: SpaceId, wanted: GoldenMakeRequest, request_id: str) -> JobId:
        """Writes the job that proposes questions down."""
        ...


class FeedbackBook(Protocol):
    """What people said of answers. Raise RagstoneError (feedback_not_found, feedback_state_conflict)."""

    async def add(self, space: SpaceId, answer: KeptAnswer, said: FeedbackRequest) -> Feedback:
        """Writes a verdict down, with the answer."""
        ...

    async def page(
        self,
        space: SpaceId,
        *,
        states: Sequence[FeedbackState] | None,
        verdict: Verdict | None,
        limit: int,
        cursor: str | None,
    ) -> FeedbackList:
        """Newest first."""
        ...

    async def correct(self, space: SpaceId, id: str, correction: Correction) -> GoldenQuestion:
        """Makes it an approved golden question."""
        ...

    async def dismiss(self, space: SpaceId, id: str) -> Feedback:
        """Nothing is to be done about it."""
        ...
