"""The story of the golden set: owners import what they reviewed, and have questions proposed."""

from services.gateway.domain.golden import check_questions
from services.gateway.ports.evaluation import Golden
from services.gateway.ports.jobs import Bell
from services.shared.contracts.golden import GoldenImport, GoldenImported, GoldenMakeRequest, StartedJob
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind


class CurateFlow:
    """Fills the golden set."""

    def __init__(self, *, golden: Golden, bell: Bell, question_max_chars: int) -> None:
        self._golden = golden
        self._question_max_chars = question_max_chars
        self._bell = bell

    async def put(self, space: SpaceId, sent: GoldenImport) -> GoldenImported:
        """All of the questions or none. Raises RagstoneError that names the one at fault."""
        check_questions([item.question for item in sent.items], self._question_max_chars)
        return await self._golden.put(space, sent)

    async def make(self, space: SpaceId, wanted: GoldenMakeRequest, request_id: str) -> StartedJob:
        """A job that proposes questions from the documents. Raises RagstoneError."""
        job_id = await self._golden.make(space, wanted, request_id)
        await self._bell.ring(QUEUE_OF[JobKind.GOLDEN], [job_id], request_id)
        return StartedJob(job_id=job_id)
