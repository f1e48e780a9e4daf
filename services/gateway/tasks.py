"""The queue door: one Celery task, a doorbell. The catalog holds the questions."""

import asyncio
import gc
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from celery import Celery
from celery.signals import worker_shutting_down
from pydantic import ValidationError

from services.gateway.adapters.catalog.asked import CatalogAskLedger, Tenure
from services.gateway.adapters.queue import WorkerBell
from services.gateway.flow.answer_later import AnswerLaterFlow
from services.gateway.settings import GatewaySettings
from services.gateway.wiring.opened import Wiring
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import WORK_TASK, Doorbell, Queue
from services.shared.kit.deafness import begin_anew_when_deaf
from services.shared.kit.events import JobEventSender
from services.shared.kit.logs import get_logger
from services.shared.kit.owner import this_process
from services.shared.kit.presence import announce
from services.shared.kit.queue import GRACE_S, celery_app, impatient_bell
from services.shared.kit.settings import JobSettings, LogSettings, RedisSettings, StateSettings
from services.shared.kit.tracing import span

log = get_logger(__name__)


def serve(settings: GatewaySettings) -> None:
    """Answer questions that were asked for later, in child processes, until SIGTERM."""
    stopping = multiprocessing.get_context("fork").Event()
    app = asker_app(settings, stopping.is_set)

    def told_to_stop(**_: object) -> None:
        stopping.set()

    worker_shutting_down.connect(told_to_stop, weak=False)
    # Children share what is loaded: a collection in one of them would write to all of it (docs of gc.freeze).
    gc.freeze()
    stop = threading.Event()
    announce("asker", this_process(), RedisSettings(), stop)
    begin_anew_when_deaf([Queue.ASK], RedisSettings(), stop)
    try:
        app.Worker(
            pool="prefork",
            queues=Queue.ASK.value,
            hostname=f"ragstone-asker-{os.getpid()}@%h",
            loglevel=LogSettings().log_level.upper(),
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            # Its banner is no line of a log.
            quiet=True,
        ).start()
    finally:
        stop.set()


def asker_app(settings: GatewaySettings, stopping: Callable[[], bool]) -> Celery:
    """The Celery application with the one task registered."""
    jobs = JobSettings()
    app = celery_app(RedisSettings(), jobs)
    app.conf.update(
        worker_concurrency=settings.asker_concurrency,
        worker_enable_remote_control=False,
        # The message is gone once it is taken; what protects the question is its lease in the catalog.
        task_acks_late=False,
        # The flow ends each question in time; this is for a child that hangs.
        task_soft_time_limit=None,
        task_time_limit=jobs.job_time_limit_s + 2 * GRACE_S,
    )

    @app.task(name=WORK_TASK)  # type: ignore[untyped-decorator]
    def work(message: dict[str, Any]) -> None:
        answer(message, stopping)

    return app


def answer(message: dict[str, Any], stopping: Callable[[], bool]) -> None:
    """Take a ring: answer the question that it names."""
    try:
        bell = Doorbell.model_validate(message)
    except ValidationError as error:
        log.error("ring_unreadable", why=str(error))
        return
    with span("job", kind="consumer", parent=bell.traceparent, job_id=bell.job_id) as job:
        try:
            asyncio.run_coroutine_threadsafe(_answer(bell.job_id, stopping), _loop()).result()
        except RagstoneError as error:
            # Nothing could be noted (the catalog is away): the lease runs out and the question is taken again.
            log.error("work_broken_off", job_id=bell.job_id, why=error.detail)
            job.failed(error.code)


async def _answer(job_id: JobId, stopping: Callable[[], bool]) -> None:
    await _flow(stopping).answer(job_id)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """This child's own loop, in a thread: what an answer leaves on its way (to Redis) goes on after its task."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="asking", daemon=True).start()
    return loop


@cache
def _flow(stopping: Callable[[], bool]) -> AnswerLaterFlow:
    """This child's flow. Built at its first task, within its loop, so that nothing is shared over a fork."""
    redis, jobs = RedisSettings(), JobSettings()
    catalog = Catalog(StateSettings().catalog_url)
    ledger = CatalogAskLedger(
        catalog,
        JobEventSender(redis),
        WorkerBell(impatient_bell(redis, jobs), catalog),
        Tenure(this_process(), jobs.lease_s, jobs.max_attempts),
    )
    return AnswerLaterFlow(
        ask=Wiring(GatewaySettings()).gateway.ask,
        ledger=ledger,
        clock=time.monotonic,
        limit_s=jobs.job_time_limit_s,
        stopping=stopping,
    )
