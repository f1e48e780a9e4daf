"""The story of watching a job, and of asking for it again."""

from collections.abc import AsyncGenerator

from services.gateway.domain.asked_later import state_id
from services.gateway.ports.jobs import Bell, JobNews, Jobs
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import JobId, SpaceId
from services.shared.contracts.jobs import QUEUE_OF, Job, Queue, RetriedJobs, RetryRequest

LOOK_EVERY_S = 2.0
"""How often a watched job is looked at when no news of it comes."""


class JobFlow:
    """Watches and repeats jobs."""

    def __init__(self, *, jobs: Jobs, news: JobNews, bell: Bell) -> None:
        self._jobs = jobs
        self._news = news
        self._bell = bell

    async def retry(self, space: SpaceId, job_id: JobId, request_id: str) -> Job:
        """Queues a failed or cancelled job again. Raises RagstoneError."""
        job = await self._jobs.retry(space, job_id)
        await self._bell.ring(QUEUE_OF[job.kind], [job.id], request_id)
        return job

    async def retry_failed(self, space: SpaceId, wanted: RetryRequest, request_id: str) -> RetriedJobs:
        """Queues every failed job again that can be. Raises RagstoneError."""
        again, skipped = await self._jobs.retry_failed(space, wanted.kind)
        for queue in Queue:
            ids = [job.id for job in again if QUEUE_OF[job.kind] is queue]
            if ids:
                await self._bell.ring(queue, ids, request_id)
        return RetriedJobs(retried=len(again), skipped=skipped)

    async def watch(
        self, space: SpaceId, job_id: JobId, *, only_of: str | None = None, seen: str | None = None
    ) -> AsyncGenerator[Job, None]:
        """The job now and after each change, until it is final or was pruned.

        The state that ``seen`` names, by its ``state_id``, the watcher has already; it is told the last one all the
        same. Raises RagstoneError (job_not_found) before the first one.
        """
        last: Job | None = None
        async for _ in self._news.wakeups(job_id, LOOK_EVERY_S):
            try:
                job = await self._jobs.one(space, job_id, only_of=only_of)
            except RagstoneError as error:
                if last is not None and error.code is ErrorCode.JOB_NOT_FOUND:
                    return
                raise
            if job != last and (job.state.final or last is not None or state_id(job) != seen):
                yield job
            if job.state.final:
                return
            last = job
