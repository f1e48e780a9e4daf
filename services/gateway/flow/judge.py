"""The story of a verdict: what was answered is remembered still, and is kept from now on because somebody judged it."""

from services.gateway.domain.cleaning import holds_nul
from services.gateway.ports.answering import Answers
from services.gateway.ports.evaluation import FeedbackBook
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import Feedback, FeedbackRequest
from services.shared.contracts.ids import SpaceId


class JudgeFlow:
    """Takes verdicts on answers."""

    def __init__(self, *, answers: Answers, feedback: FeedbackBook, keep_s: int) -> None:
        self._answers = answers
        self._feedback = feedback
        self._keep_s = keep_s

    async def judge(self, space: SpaceId, said: FeedbackRequest) -> Feedback:
        """Writes the verdict down with its answer.

        Raises RagstoneError (answer_not_found, queue_unavailable, invalid_request).
        """
        if holds_nul(said.comment):
            detail = "comment: holds a zero character (U+0000), which cannot be stored; leave it out."
            raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
        answer = await self._answers.find(space, said.answer_id)
        if answer is None:
            detail = (
                f"There is no answer {said.answer_id!r} in this space, or it is forgotten: answers are remembered for "
                f"{self._keep_s} seconds (RAGSTONE_ANSWER_KEEP_S); ask again and judge the new answer."
            )
            raise RagstoneError(ErrorCode.ANSWER_NOT_FOUND, detail)
        return await self._feedback.add(space, answer, said)
