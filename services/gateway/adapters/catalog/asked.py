"""Questions that are answered later, in the catalog: written down by the gateway, answered by the asker."""

import uuid
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from anyio.to_thread import run_sync
from sqlalchemy import Connection

from services.gateway.domain.callers import Payer
from services.gateway.ports.asked_later import Ending, LaterQuestion, Lease, Sender
from services.gateway.ports.jobs import Bell
from services.shared.catalog import asked, changes, jobs
from services.shared.catalog.engine import Catalog
from services.shared.catalog.holding import Heartbeats
from services.shared.catalog.jobs import JobRow
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId
from services.shared.contracts.jobs import QUEUE_OF, Job, JobKind
from services.shared.kit.events import JobEventSender
from services.shared.kit.logs import get_logger
from services.shared.kit.request_context import enter_request

log = get_logger(__name__)

ASKS = QUEUE_OF[JobKind.ASK]
LOOK_EVERY_S = 0.5
"""How soon a cancellation is seen: the model goes on until then."""

T = TypeVar("T")


class CatalogLaterBook:
    """The gateway's side."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def order(
        self, space: SpaceId, questions: Sequence[AskRequest], sender: Sender, request_id: str
    ) -> list[Job]:
        """All jobs in one transaction."""
        orders = [(JobId(uuid.uuid4().hex), _order(one, sender)) for one in questions]

        def write() -> list[Job]:
            with self._catalog.write() as tx:
                return [row.view() for row in asked.create(tx, space, orders, request_id, datetime.now(UTC))]

        return await run_sync(write)


@dataclass(frozen=True)
class Tenure:
    """Who takes jobs, for how long at a time, and how often a job is begun."""

    owner: str
    lease_s: float
    max_attempts: int


class CatalogAskLedger:
    """The asker's side; every change of a job goes to whoever watches it."""

    def __init__(self, catalog: Catalog, events: JobEventSender, bell: Bell, tenure: Tenure) -> None:
        self._catalog = catalog
        self._events = events
        self._bell = bell
        self._tenure = tenure
        self._leases = Heartbeats(catalog, tenure.owner, tenure.lease_s, _now, LOOK_EVERY_S)

    async def claim(self, job_id: JobId | None) -> LaterQuestion | None:
        """Take a question that waits; its request's id goes into this task's context."""

        def take() -> JobRow | None:
            with self._catalog.read() as tx:
                # Most bells ring for a question that was taken with another's: they cost one look.
                if job_id is not None and not _waits(tx, job_id):
                    return None
            with self._catalog.write() as tx:
                rows = jobs.claim(
                    tx,
                    owner=self._tenure.owner,
                    queue=ASKS,
                    lease_s=self._tenure.lease_s,
                    now=_now(),
                    job_id=job_id,
                    also=int(job_id is None),
                    kind=JobKind.ASK,
                )
            return rows[0] if rows else None

        row = await run_sync(take)
        if row is None:
            return None
        enter_request(row.request_id)
        await run_sync(self._events.changed, row.id)
        order = asked.order_of(row)
        payer = Payer(order.client, order.daily_tokens, counted_as=order.client)
        sender = Sender(order.key_id, payer, fresh=order.fresh)
        return LaterQuestion(row.id, row.space_id, order.asked, sender, row.request_id)

    def hold(self, job_id: JobId) -> AbstractContextManager[Lease]:
        """Renewed and looked at in a thread."""
        return self._leases.hold([job_id])

    async def change_number(self, space: SpaceId) -> int:
        """The number of the space's last change."""

        def read() -> int:
            with self._catalog.read() as tx:
                return changes.current_seq(tx, space)

        return await run_sync(read)

    async def stage(self, job_id: JobId, stage: str) -> None:
        """For show: the answer itself will say when the catalog stays away."""
        try:
            await self._change(
                job_id,
                lambda tx: jobs.progress(tx, job_id, self._tenure.owner, stage=stage, done=0, total=None, now=_now()),
            )
        except RagstoneError as error:
            log.warning("stage_not_noted", job_id=job_id, why=error.detail)

    async def answered(self, job_id: JobId, answer: Answer, documents: Collection[DocumentId], since: int) -> Ending:
        """The answer is the job's result."""
        result = answer.model_dump(mode="json")

        def keep(tx: Connection) -> asked.Ending:
            row = jobs.find(tx, job_id)
            if row is None or row.lease_owner != self._tenure.owner:
                return asked.Ending.LOST
            return asked.answered(tx, row, result, documents, since, _now())

        ending = await self._change(job_id, keep)
        log.info("question_answered", job_id=job_id, status=answer.status, ending=ending.name.lower())
        return Ending[ending.name]

    async def fail(self, job_id: JobId, reason: str) -> None:
        """Failed for good."""
        log.warning("job_failed", job_id=job_id, kind=JobKind.ASK, reason=reason)
        await self._change(job_id, lambda tx: jobs.fail(tx, job_id, self._tenure.owner, reason=reason, now=_now()))

    async def put_off(self, job_id: JobId, reason: str) -> None:
        """The reconciler rings for it again a little later."""
        log.warning("job_put_off", job_id=job_id, kind=JobKind.ASK, reason=reason)
        most = self._tenure.max_attempts
        await self._change(
            job_id,
            lambda tx: jobs.put_off(tx, job_id, self._tenure.owner, reason=reason, max_attempts=most, now=_now()),
        )

    async def drop(self, job_id: JobId) -> None:
        """Heartbeats that did not get through look like a cancellation from here, and are none."""

        def end(tx: Connection) -> None:
            row = jobs.find(tx, job_id)
            if row is not None and row.cancel_requested:
                jobs.cancelled(tx, job_id, self._tenure.owner, reason=None, now=_now())

        await self._change(job_id, end)

    async def release(self, question: LaterQuestion) -> None:
        """For another asker, or the next one."""
        await self._change(question.id, lambda tx: jobs.release(tx, question.id, self._tenure.owner, _now()))
        await self._bell.ring(ASKS, [question.id], question.request_id)

    async def _change(self, job_id: JobId, change: Callable[[Connection], T]) -> T:
        def write() -> T:
            with self._catalog.write() as tx:
                done = change(tx)
            self._events.changed(job_id)
            return done

        return await run_sync(write)


def _order(question: AskRequest, sender: Sender) -> asked.AskOrder:
    payer = sender.payer
    return asked.AskOrder(
        asked=question,
        key_id=sender.key_id,
        client=payer.client,
        daily_tokens=payer.daily_tokens,
        fresh=sender.fresh,
    )


def _waits(tx: Connection, job_id: JobId) -> bool:
    row = jobs.find(tx, job_id)
    if row is None:
        log.warning("job_unknown", job_id=job_id)
    return row is not None and not row.state.final and row.lease_owner is None


def _now() -> datetime:
    return datetime.now(UTC)
