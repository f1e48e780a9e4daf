"""The story of a question that is answered later, as its sender sees it: look at it, write it down, ring."""

from collections.abc import Sequence

from services.gateway.domain.asked_later import MOST_LINES
from services.gateway.domain.callers import Caller
from services.gateway.flow.shared_ask import SharedAskFlow
from services.gateway.ports.asked_later import LaterBook, Sender
from services.gateway.ports.jobs import Bell
from services.shared.contracts.answers import AskRequest
from services.shared.contracts.documents import SubmittedJob, SubmittedJobs
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.jobs import QUEUE_OF, Job, JobKind


class AskLaterFlow:
    """Takes questions in; the asker answers them."""

    def __init__(self, *, ask: SharedAskFlow, book: LaterBook, bell: Bell) -> None:
        self._ask = ask
        self._book = book
        self._bell = bell

    async def one(
        self, space: SpaceId, asked: AskRequest, caller: Caller, request_id: str, *, fresh: bool = False
    ) -> Job:
        """The question's job; ``fresh``: answered anew whatever was given before.

        Raises RagstoneError when it cannot be asked.
        """
        self._ask.check(asked)
        return (await self._ordered(space, [asked], caller, request_id, fresh=fresh))[0]

    async def many(
        self,
        space: SpaceId,
        lines: Sequence[tuple[int, AskRequest]],
        caller: Caller,
        request_id: str,
        *,
        fresh: bool = False,
    ) -> SubmittedJobs:
        """One job a line, all or none, of lines that were checked."""
        jobs = await self._ordered(space, [asked for _, asked in lines], caller, request_id, fresh=fresh)
        return SubmittedJobs(
            jobs=[SubmittedJob(id=job.id, document_id=None, state=job.state, unchanged=False) for job in jobs]
        )

    def check(self, lines: Sequence[tuple[int, AskRequest]]) -> None:
        """Raises RagstoneError where lines cannot be asked; it names the one at fault."""
        if not lines:
            raise RagstoneError(ErrorCode.INVALID_REQUEST, "The body holds no question; send one a line.")
        if len(lines) > MOST_LINES:
            detail = f"The body holds {len(lines)} questions and may hold {MOST_LINES}; send the rest in another one."
            raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
        for number, asked in lines:
            try:
                self._ask.check(asked)
            except RagstoneError as error:
                raise RagstoneError(error.code, f"Line {number}: {error.detail}") from error

    async def _ordered(
        self, space: SpaceId, questions: Sequence[AskRequest], caller: Caller, request_id: str, *, fresh: bool
    ) -> list[Job]:
        sender = Sender(caller.key_id, caller.payer, fresh=fresh)
        jobs = await self._book.order(space, questions, sender, request_id)
        await self._bell.ring(QUEUE_OF[JobKind.ASK], [job.id for job in jobs], request_id)
        return jobs
