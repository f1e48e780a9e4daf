"""The doors of the public API that measure: evaluations, the golden set, and what people said of answers."""

from collections.abc import Iterator, Sequence
from typing import Literal

from services.local.api import PAGE, Api
from services.local.doors import step
from services.shared.contracts.evaluation import Evaluation, EvaluationList, EvaluationRequest, StartedEvaluation
from services.shared.contracts.golden import (
    Correction,
    Feedback,
    FeedbackList,
    FeedbackState,
    GoldenImport,
    GoldenImported,
    GoldenIn,
    GoldenList,
    GoldenMakeRequest,
    GoldenQuestion,
    GoldenState,
    StartedJob,
)

Form = Literal["markdown", "html"]


class EvaluationApi:
    """Raises what Api raises; invalid_request also for what cannot be an id."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def start_evaluation(self, request: EvaluationRequest) -> StartedEvaluation:
        """Evaluate in the background."""
        body = request.model_dump(mode="json", exclude_none=True)
        return self._api.message(StartedEvaluation, "POST", "/v1/evaluations", json=body)

    def evaluation(self, evaluation_id: str) -> Evaluation:
        """One that has ended, whole."""
        return self._api.message(Evaluation, "GET", f"/v1/evaluations/{step(evaluation_id)}")

    def evaluations(self, limit: int = 20) -> EvaluationList:
        """The newest."""
        return self._api.message(EvaluationList, "GET", "/v1/evaluations", params={"limit": str(limit)})

    def golden(self, state: GoldenState | None = None, *, flagged: bool | None = None) -> Iterator[GoldenQuestion]:
        """The golden questions of the space, every one unless a state is named."""
        params = {"limit": str(PAGE)}
        if state is not None:
            params["state"] = state.value
        if flagged is not None:
            params["flagged"] = str(flagged).lower()
        while True:
            page = self._api.message(GoldenList, "GET", "/v1/golden", params=params)
            yield from page.items
            if page.next_cursor is None:
                return
            params["cursor"] = page.next_cursor

    def put_golden(self, items: Sequence[GoldenIn]) -> GoldenImported:
        """Add reviewed questions, all or none; the same id replaces."""
        body = GoldenImport(items=list(items)).model_dump(mode="json", exclude_none=True)
        return self._api.message(GoldenImported, "PUT", "/v1/golden", json=body)

    def remove_golden(self, golden_id: str) -> None:
        """Take one question out of the golden set."""
        self._api.done("DELETE", f"/v1/golden/{step(golden_id, slashes=True)}")

    def make_golden(self, request: GoldenMakeRequest) -> StartedJob:
        """Propose questions from the documents, in the background."""
        return self._api.message(StartedJob, "POST", "/v1/golden/make", json=request.model_dump(mode="json"))

    def feedback(self, state: FeedbackState | None = None, limit: int = 20) -> FeedbackList:
        """What people said of answers, newest first."""
        params = {"limit": str(limit)} | ({} if state is None else {"state": state.value})
        return self._api.message(FeedbackList, "GET", "/v1/feedback", params=params)

    def correct_feedback(self, feedback_id: str, correction: Correction) -> GoldenQuestion:
        """Say what a right answer is: it becomes a golden question."""
        body = correction.model_dump(mode="json", exclude_none=True)
        return self._api.message(GoldenQuestion, "POST", f"/v1/feedback/{step(feedback_id)}/correction", json=body)

    def dismiss_feedback(self, feedback_id: str) -> Feedback:
        """Lay it aside."""
        return self._api.message(Feedback, "POST", f"/v1/feedback/{step(feedback_id)}/dismiss")
