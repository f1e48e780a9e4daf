"""Fakes of jobs and of the news of them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import Job, JobItemList, JobKind, JobList, JobState


@dataclass
class FakeJobs:
    jobs: dict[tuple[SpaceId, JobId], list[Job]] = field(default_factory=dict)
    asked_by: dict[JobId, str] = field(default_factory=dict)
    """Keys whose questions these are."""

    async def page(
        self,
        space: SpaceId,
        *,
        states: Sequence[JobState] | None,
        kinds: Sequence[JobKind] | None,
        document_id: DocumentId | None,
        limit: int,
        cursor: str | None,
    ) -> JobList:
        mine = [steps[0] for (where, _), steps in self.jobs.items() if where == space]
        shown = [
            one
            for one in mine
            if (states is None or one.state in states)
            and (kinds is None or one.kind in kinds)
            and document_id in (None, one.document_id)
        ]
        counts = {state: sum(one.state is state for one in mine) for state in JobState}
        return JobList(items=shown[:limit], next_cursor=None, counts=counts)

    async def one(self, space: SpaceId, job_id: JobId, *, only_of: str | None = None) -> Job:
        """Each look sees the next step of the job, and the last one for ever."""
        steps = self.jobs.get((space, job_id))
        if not steps or (only_of is not None and self.asked_by.get(job_id) != only_of):
            raise RagstoneError(ErrorCode.JOB_NOT_FOUND, f"no job {job_id}")
        return steps.pop(0) if len(steps) > 1 else steps[0]

    async def items(self, space: SpaceId, job_id: JobId, *, limit: int, cursor: str | None) -> JobItemList:
        await self.one(space, job_id)
        return JobItemList(items=[], next_cursor=None, counts=dict.fromkeys(JobState, 0))

    async def cancel(self, space: SpaceId, job_id: JobId, *, only_of: str | None = None) -> Job:
        return await self.one(space, job_id, only_of=only_of)

    async def retry(self, space: SpaceId, job_id: JobId) -> Job:
        return await self.one(space, job_id)

    async def retry_failed(self, space: SpaceId, kind: JobKind | None) -> tuple[list[Job], int]:
        mine = [steps[0] for (where, _), steps in self.jobs.items() if where == space]
        return [one for one in mine if one.state is JobState.FAILED and kind in (None, one.kind)], 1


class FakeNews:
    async def wakeups(self, job_id: JobId, every_s: float) -> AsyncIterator[None]:
        while True:
            yield
            await asyncio.sleep(0)
