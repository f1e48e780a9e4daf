"""Doors for feedback: judge an answer, see the verdicts, correct or dismiss them."""

from typing import Annotated

from fastapi import APIRouter, Query

from services.gateway.app.common import PROBLEMS, CallerOf, Cursor, GatewayOf, Limit, VisitedSpace, WriteSpace
from services.gateway.app.described import problems
from services.shared.contracts.golden import (
    Correction,
    Feedback,
    FeedbackList,
    FeedbackRequest,
    FeedbackState,
    GoldenQuestion,
    Verdict,
)

router = APIRouter(tags=["feedback"], responses=PROBLEMS)

States = Annotated[list[FeedbackState] | None, Query(description="Only feedback in one of these states")]
Said = Annotated[Verdict | None, Query(description="Only this verdict")]


@router.post("/v1/feedback", status_code=201, responses=problems(404))
async def judge_answer(said: FeedbackRequest, gateway: GatewayOf, space: VisitedSpace, caller: CallerOf) -> Feedback:
    """Say whether an answer was good or bad, by its id; from then on the question and the answer are kept.

    Until an owner looks at it, a new verdict on the same answer takes the last one's place.
    """
    return await gateway.judge.judge(space, said, caller.counted_as)


@router.get("/v1/feedback")
async def list_feedback(
    gateway: GatewayOf,
    space: WriteSpace,
    state: States = None,
    verdict: Said = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> FeedbackList:
    """The space's feedback, newest first."""
    return await gateway.feedback.page(space, states=state, verdict=verdict, limit=limit, cursor=cursor)


@router.post("/v1/feedback/{id}/correction", responses=problems(409))
async def correct_answer(id: str, correction: Correction, gateway: GatewayOf, space: WriteSpace) -> GoldenQuestion:
    """Say what would have been right; the question becomes an approved golden question."""
    return await gateway.feedback.correct(space, id, correction)


@router.post("/v1/feedback/{id}/dismiss", responses=problems(409))
async def dismiss_feedback(id: str, gateway: GatewayOf, space: WriteSpace) -> Feedback:
    """Nothing is to be done about it."""
    return await gateway.feedback.dismiss(space, id)
