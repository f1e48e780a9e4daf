"""Doors for jobs: what is under way, and what became of it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, cast

from fastapi import APIRouter, Header, Query, Response

from services.gateway.app.common import PROBLEMS, CallerOf, Cursor, GatewayOf, Limit, ReadSpace, WriteSpace
from services.gateway.app.described import problems
from services.gateway.app.streams import EVENTS, Named, at_once
from services.gateway.domain.asked_later import only_of, state_id
from services.shared.contracts.documents import DOCUMENT_ID_MAX
from services.shared.contracts.ids import DocumentId, JobId
from services.shared.contracts.jobs import Job, JobItemList, JobKind, JobList, JobState, RetriedJobs, RetryRequest
from services.shared.kit.request_context import request_id

router = APIRouter(tags=["jobs"], responses=PROBLEMS)

States = Annotated[list[JobState] | None, Query(description="Only jobs in one of these states")]
Kinds = Annotated[list[JobKind] | None, Query(description="Only jobs of one of these kinds")]
OfDocument = Annotated[
    DocumentId | None, Query(max_length=DOCUMENT_ID_MAX, description="Only jobs of this document; batches are of none")
]

LastEventId = Annotated[str | None, Header(description="Id of the last event that the client has, when it comes back")]


@router.get("/v1/jobs")
async def list_jobs(
    gateway: GatewayOf,
    space: WriteSpace,
    state: States = None,
    kind: Kinds = None,
    document_id: OfDocument = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> JobList:
    """The space's jobs, newest first, with counts of all of them by state."""
    return await gateway.jobs.page(space, states=state, kinds=kind, document_id=document_id, limit=limit, cursor=cursor)


@router.get("/v1/jobs/{id}")
async def get_job(id: JobId, gateway: GatewayOf, space: ReadSpace, caller: CallerOf) -> Job:
    """One job; its outcome is kept after it ended. A read key sees the questions that it asked itself, only."""
    return await gateway.jobs.one(space, id, only_of=only_of(caller))


@router.get("/v1/jobs/{id}/items")
async def list_items(
    id: JobId, gateway: GatewayOf, space: WriteSpace, limit: Limit = 50, cursor: Cursor = None
) -> JobItemList:
    """The documents of a batch, each with its own outcome."""
    return await gateway.jobs.items(space, id, limit=limit, cursor=cursor)


@router.get("/v1/jobs/{id}/events", response_class=Response, responses=EVENTS)
async def job_events(
    id: JobId, gateway: GatewayOf, space: ReadSpace, caller: CallerOf, last_event_id: LastEventId = None
) -> Response:
    """The whole job as event "job", now and at each change; ends when the job does.

    Each event has an id. A client that comes back with it hears nothing twice but the job's last state.
    """
    mine = only_of(caller)
    await gateway.jobs.one(space, id, only_of=mine)
    watched = gateway.watch.watch(space, id, only_of=mine, seen=last_event_id)
    return at_once(_named(watched), lambda job: state_id(cast(Job, job)))


@router.post("/v1/jobs/retry")
async def retry_failed_jobs(gateway: GatewayOf, space: WriteSpace, wanted: RetryRequest | None = None) -> RetriedJobs:
    """Queue all failed jobs again, or those of one kind."""
    return await gateway.watch.retry_failed(space, wanted or RetryRequest(), request_id())


@router.post("/v1/jobs/{id}/cancel", responses=problems(409))
async def cancel_job(id: JobId, gateway: GatewayOf, space: ReadSpace, caller: CallerOf) -> Job:
    """Cancel a waiting job at once; ask a running one to stop."""
    return await gateway.jobs.cancel(space, id, only_of=only_of(caller))


@router.post("/v1/jobs/{id}/retry", responses=problems(409))
async def retry_job(id: JobId, gateway: GatewayOf, space: WriteSpace) -> Job:
    """Queue a failed or cancelled job again."""
    return await gateway.watch.retry(space, id, request_id())


async def _named(jobs: AsyncGenerator[Job, None]) -> AsyncGenerator[Named, None]:
    async with aclosing(jobs):
        async for job in jobs:
            yield "job", job
