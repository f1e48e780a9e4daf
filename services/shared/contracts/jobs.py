"""Jobs as clients see them, and the names of queues and tasks."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from services.shared.contracts.base import Record, Request, Response
from services.shared.contracts.ids import DocumentId, JobId


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self in (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)


class JobKind(StrEnum):
    DOCUMENT = "document"
    BATCH = "batch"
    CLEANUP = "cleanup"
    MEND = "mend"
    EVALUATION = "evaluation"
    GOLDEN = "golden"
    CALIBRATION = "calibration"
    REEMBED = "reembed"
    ASK = "ask"


class Queue(StrEnum):
    """Celery queues. Documents, long index work and asynchronous questions never wait for each other."""

    INGEST = "ingest"
    INDEX = "index"
    ASK = "ask"


QUEUE_OF: dict[JobKind, Queue] = {
    JobKind.DOCUMENT: Queue.INGEST,
    JobKind.BATCH: Queue.INGEST,
    JobKind.CLEANUP: Queue.INGEST,
    JobKind.MEND: Queue.INDEX,
    JobKind.EVALUATION: Queue.INDEX,
    JobKind.GOLDEN: Queue.INDEX,
    JobKind.CALIBRATION: Queue.INDEX,
    JobKind.REEMBED: Queue.INDEX,
    JobKind.ASK: Queue.ASK,
}

WORK_TASK = "ragstone.work"
"""The one Celery task: a doorbell that says "the catalog holds this job". Losing it loses nothing."""

DOORBELL_EXPIRES_S = 3600
"""A message older than this is dropped; the reconciler rings again for jobs that still wait."""


class Doorbell(Record):
    """Payload of the work task."""

    job_id: JobId
    request_id: str = ""
    traceparent: str | None = Field(default=None, description="The trace that it is part of (W3C), if there is one")


class Job(Response):
    """One piece of background work. Its outcome is kept in the catalog, not in Redis."""

    id: JobId
    kind: JobKind
    state: JobState
    stage: str | None = Field(description="What is happening: parse, chunk, embed, index, publish")
    done: int = Field(description="Units of work finished (chunks of a document, documents of a batch or a mending)")
    total: int | None = Field(description="Units of work in all; null while unknown")
    attempts: int = Field(description="Times the work was begun")
    reason: str | None = Field(description="Why it failed or was cancelled, as a sentence that names the thing")
    warning: str | None = Field(description="What an owner should look at although it succeeded")
    document_id: DocumentId | None
    result: dict[str, Any] | None = Field(description="Set when succeeded, e.g. version, chunks, unchanged")
    created_at: datetime
    updated_at: datetime


class JobList(Response):
    items: list[Job]
    next_cursor: str | None
    counts: dict[JobState, int] = Field(description="Jobs of the space by state, every state present")


class RetryRequest(Request):
    """Which failed jobs are to be done again; what is left out does not choose."""

    kind: JobKind | None = None


class RetriedJobs(Response):
    retried: int = Field(description="Failed jobs that are queued again")
    skipped: int = Field(description="Failed jobs that cannot be: a later word on the document stands")


class JobItem(Response):
    """One document of a batch."""

    n: int = Field(description="Line of the NDJSON body, from 1")
    document_id: DocumentId | None = Field(description="null when the line could not be read")
    state: JobState
    unchanged: bool
    reason: str | None


class JobItemList(Response):
    items: list[JobItem]
    next_cursor: str | None
    counts: dict[JobState, int]
