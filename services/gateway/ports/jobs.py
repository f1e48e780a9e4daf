"""Background work: its record, its bell, and news of it."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import Job, JobItemList, JobKind, JobList, JobState, Queue


class Jobs(Protocol):
    """The catalog's jobs."""

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
        """Newest first."""
        ...

    async def one(self, space: SpaceId, job_id: JobId, *, only_of: str | None = None) -> Job:
        """Raises RagstoneError (job_not_found), also when it is no question that the key ``only_of`` asked."""
        ...

    async def items(self, space: SpaceId, job_id: JobId, *, limit: int, cursor: str | None) -> JobItemList:
        """The lines of a batch; raises RagstoneError (job_not_found)."""
        ...

    async def cancel(self, space: SpaceId, job_id: JobId, *, only_of: str | None = None) -> Job:
        """Raises RagstoneError (job_not_found as for ``one``, job_state_conflict)."""
        ...

    async def retry(self, space: SpaceId, job_id: JobId) -> Job:
        """Raises RagstoneError (job_not_found, job_state_conflict)."""
        ...

    async def retry_failed(self, space: SpaceId, kind: JobKind | None) -> tuple[list[Job], int]:
        """All failed ones that can be: those that are queued again, and how many cannot be."""
        ...


class Bell(Protocol):
    """Wakes a worker for jobs that the catalog holds."""

    async def ring(self, queue: Queue, job_ids: Sequence[JobId], request_id: str) -> None:
        """Never fails: a ring that is lost is made up for by the reconciler."""
        ...


class JobNews(Protocol):
    """Tells when to look at a job again."""

    def wakeups(self, job_id: JobId, every_s: float) -> AsyncIterator[None]:
        """Yields at once, at each change, and at least every ``every_s`` seconds."""
        ...
