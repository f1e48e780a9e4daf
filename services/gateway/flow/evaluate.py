"""The story of an evaluation as the gateway sees it: look at the questions, write the order down, ring."""

from services.gateway.domain.cleaning import holds_nul
from services.gateway.domain.golden import check_questions
from services.gateway.ports.evaluation import Evaluations
from services.gateway.ports.jobs import Bell
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.evaluation import EvaluationRequest, StartedEvaluation
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind


class EvaluateFlow:
    """Orders evaluations; a worker does them."""

    def __init__(self, *, evaluations: Evaluations, bell: Bell, question_max_chars: int) -> None:
        self._question_max_chars = question_max_chars
        self._evaluations = evaluations
        self._bell = bell

    async def start(self, space: SpaceId, request: EvaluationRequest, request_id: str) -> StartedEvaluation:
        """One job that asks all questions. Raises RagstoneError."""
        if holds_nul([request.name, request.against]):
            detail = "name, against: holds a zero character (U+0000), which cannot be stored; leave it out."
            raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
        if request.questions is not None:
            if not request.questions:
                detail = "questions: is empty; send some, or leave it out for the space's golden set."
                raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
            check_questions(request.questions, self._question_max_chars)
        started = await self._evaluations.start(space, request, request_id)
        await self._bell.ring(QUEUE_OF[JobKind.EVALUATION], [started.job_id], request_id)
        return started
