"""The story of the indexes as the gateway sees them: write down what is wished for, ring, and wait for a switch."""

import asyncio
from collections.abc import Callable

from services.gateway.domain.cleaning import holds_nul
from services.gateway.ports.indexes import Changed, IndexBook
from services.gateway.ports.jobs import Bell, Jobs
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId, SpaceId
from services.shared.contracts.indexes import Index, IndexPhase, NewIndex
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState

WAIT_S = 30.0
"""So long a client waits for a switch before it is told to look again later."""
LOOK_EVERY_S = 0.2


class IndexFlow:
    """Orders and switches indexes; workers build them and bring them level."""

    def __init__(
        self,
        *,
        book: IndexBook,
        jobs: Jobs,
        bell: Bell,
        clock: Callable[[], float],
        wait_s: float = WAIT_S,
        look_every_s: float = LOOK_EVERY_S,
    ) -> None:
        self._book = book
        self._jobs = jobs
        self._bell = bell
        self._clock = clock
        self._wait_s = wait_s
        self._look_every_s = look_every_s

    async def start(self, space: SpaceId, wanted: NewIndex, request_id: str) -> Index:
        """Have an index built beside the serving one. Whether its embedder can be loaded, a worker finds out."""
        if holds_nul([wanted.embedder, wanted.query_prompt, wanted.document_prompt]):
            detail = "embedder, query_prompt, document_prompt: holds a zero character (U+0000); leave it out."
            raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
        if not wanted.embedder.strip():
            detail = "embedder: is empty; name one, such as all-MiniLM-L6-v2, or a folder or hub name."
            raise RagstoneError(ErrorCode.INVALID_REQUEST, detail)
        return await self._rung(await self._book.start(space, wanted, request_id), request_id)

    async def promote(self, space: SpaceId, id: IndexId, *, force: bool, request_id: str) -> Index:
        """The index as it is when it serves, or when the wait is over or its job failed: then it does not yet.

        Raises RagstoneError.
        """
        until = self._clock() + self._wait_s
        index = await self._asked(space, id, force=force, request_id=request_id)
        while index.state is not IndexPhase.SERVING and self._clock() < until:
            await asyncio.sleep(self._look_every_s)
            index = await self._book.one(space, id)
            if index.state is IndexPhase.SERVING or index.job_id is None:
                continue
            job = await self._jobs.one(space, index.job_id)
            if job.state is JobState.SUCCEEDED:
                # It ended as the promotion was asked for, or refused it.
                index = await self._asked(space, id, force=force, request_id=request_id)
            elif job.state.final:
                return index
        return index

    async def rollback(self, space: SpaceId, request_id: str) -> Index:
        """Let the index that served before serve again. Raises RagstoneError."""
        id = await self._book.standby(space)
        return await self.promote(space, id, force=False, request_id=request_id)

    async def remove(self, space: SpaceId, id: IndexId, request_id: str) -> Index:
        """Retire an index; a worker deletes its vectors. Raises RagstoneError."""
        return await self._rung(await self._book.remove(space, id, request_id), request_id)

    async def _asked(self, space: SpaceId, id: IndexId, *, force: bool, request_id: str) -> Index:
        return await self._rung(await self._book.promote(space, id, force=force, request_id=request_id), request_id)

    async def _rung(self, changed: Changed, request_id: str) -> Index:
        if changed.jobs:
            await self._bell.ring(QUEUE_OF[JobKind.REEMBED], changed.jobs, request_id)
        return changed.index
