"""Indexes as clients see them."""

from sqlalchemy import Connection

from services.shared.catalog import chunks, indexes, jobs
from services.shared.catalog.index_rows import StoredIndex
from services.shared.catalog.job_rows import JobRow
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.indexes import Index, IndexEmbedder, IndexPhase
from services.shared.contracts.jobs import JobState

JOB_GONE = "The job that built it is over and its record was forgotten; remove the index and build it anew."
RETRY = "POST /v1/jobs/{job}/retry goes on where it ended; DELETE /v1/indexes/{index} gives it up."
TO_BE_PROMOTED = "It is promoted as soon as it is level with the content; {lag} changes are left."


def view(tx: Connection, index: StoredIndex, live: int | None = None) -> Index:
    """One index; ``live`` is the number of the space's live chunks where the caller knows it."""
    job = None if index.job_id is None else jobs.find(tx, index.job_id)
    if live is None:
        live = chunks.counts(tx, index.space_id)[1]
    state = _phase(index, job)
    lag = indexes.lag(tx, index) if index.spec is not None else 0
    serving = state is IndexPhase.SERVING
    return Index(
        id=index.id,
        state=state,
        embedder=_embedder(index),
        vectors=live if serving else index.vectors,
        chunks=live,
        lag=lag,
        truncated=index.truncated,
        seconds_left=_seconds_left(index, job, live) if state is IndexPhase.BUILDING else None,
        comparison=index.comparison,
        job_id=index.job_id,
        reason=_reason(index, job, state, lag),
        created_at=index.created_at,
        promoted_at=index.promoted_at,
    )


def all_of(tx: Connection, space: SpaceId) -> list[Index]:
    """The space's indexes: the serving one first, then the newest first."""
    live = chunks.counts(tx, space)[1]
    return [view(tx, index, live) for index in indexes.of_space(tx, space)]


def _phase(index: StoredIndex, job: JobRow | None) -> IndexPhase:
    """What is built without a job that is at it has failed, whatever ended the job."""
    at_work = job is not None and not job.state.final
    return IndexPhase.FAILED if index.state is IndexPhase.BUILDING and not at_work else index.state


def _embedder(index: StoredIndex) -> IndexEmbedder:
    spec, wanted = index.spec, index.wanted
    return IndexEmbedder(
        name=wanted.name,
        revision=spec.revision if spec else "",
        dimension=spec.dimension if spec else None,
        query_prompt=wanted.query_prompt or "",
        document_prompt=wanted.document_prompt or "",
        max_tokens=spec.max_tokens if spec else None,
    )


def _seconds_left(index: StoredIndex, job: JobRow | None, live: int) -> float | None:
    pace = job.payload.get("pace") if job is not None else None
    if not isinstance(pace, int | float) or pace <= 0:
        return None
    return round(max(0, live - index.vectors) / pace, 1)


def _reason(index: StoredIndex, job: JobRow | None, state: IndexPhase, lag: int) -> str | None:
    if state is IndexPhase.FAILED:
        if job is None:
            return JOB_GONE
        why = (job.reason or f"Job {job.id} was {job.state}").rstrip(".")
        return f"{why}. {RETRY.format(job=job.id, index=index.id)}"
    waits = job is not None and job.state is JobState.QUEUED and job.reason
    failed = job is not None and job.state is JobState.FAILED and state is not IndexPhase.SERVING and lag
    if job is not None and (waits or failed):
        return job.reason
    if index.promotion is not None and state in (IndexPhase.READY, IndexPhase.STANDBY):
        return TO_BE_PROMOTED.format(lag=lag)
    return index.reason
