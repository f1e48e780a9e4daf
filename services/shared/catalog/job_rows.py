"""The record of a job, and how it is read from its row."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from services.shared.catalog import schema
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import Job, JobKind, JobState, Queue


@dataclass(frozen=True)
class JobRow:
    """A job with all that a worker needs; ``view()`` is what a client may see of it."""

    id: JobId
    space_id: SpaceId
    kind: JobKind
    queue: Queue
    state: JobState
    stage: str | None
    done: int
    total: int | None
    attempts: int
    reason: str | None
    warning: str | None
    document_id: DocumentId | None
    revision: int | None
    payload: dict[str, Any]
    result: dict[str, Any] | None
    lease_owner: str | None
    lease_until: datetime | None
    cancel_requested: bool
    request_id: str
    created_at: datetime
    updated_at: datetime

    def view(self) -> Job:
        """The job as the public API shows it: no payload, no lease, no revision."""
        return Job(
            id=self.id,
            kind=self.kind,
            state=self.state,
            stage=self.stage,
            done=self.done,
            total=self.total,
            attempts=self.attempts,
            reason=self.reason,
            warning=self.warning,
            document_id=self.document_id,
            result=self.result,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


COLUMNS = [schema.jobs.c[field.name] for field in fields(JobRow)]
"""What a query selects for ``from_row``."""

ACTIVE = (JobState.QUEUED, JobState.RUNNING)
FINAL = tuple(state for state in JobState if state.final)


def from_row(row: Row[*tuple[Any, ...]]) -> JobRow:
    """Reads a row of ``COLUMNS``."""
    values = dict(row._mapping)
    values["kind"] = JobKind(values["kind"])
    values["queue"] = Queue(values["queue"])
    values["state"] = JobState(values["state"])
    return JobRow(**values)
