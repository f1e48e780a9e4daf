"""The story of a verdict: what was answered is remembered still, and is kept from now on because somebody judged it."""

from services.gateway.domain import gaps
from services.gateway.domain.cleaning import holds_nul
from services.gateway.flow.note_gaps import NoteGapsFlow
from services.gateway.ports.answering import Answers, KeptAnswer
from services.gateway.ports.evaluation import FeedbackBook
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.golden import Feedback, FeedbackRequest, Verdict
from services.shared.contracts.ids import SpaceId


class JudgeFlow:
    """Takes verdicts on answers."""

    def __init__(self, *, answers: Answers, feedback: FeedbackBook, notes: NoteGapsFlow, keep_s: int) -> None:
        self._answers = answers
        self._notes = notes
        self._feedback = feedback
        self._keep_s = keep_s

    async def judge(self, space: SpaceId, said: FeedbackRequest, client: str | None = None) -> Feedback:
        """Writes the verdict down with its answer; a bad answer is noted as a gap, for this client.

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
        written = await self._feedback.add(space, answer, said)
        if said.verdict is Verdict.BAD:
            self._note(space, answer, client)
        return written

    def _note(self, space: SpaceId, answer: KeptAnswer, client: str | None) -> None:
        if answer.evidence is not None and answer.of_content:
            self._notes.begin(gaps.judged_bad(space, answer.question, answer.evidence), client)
