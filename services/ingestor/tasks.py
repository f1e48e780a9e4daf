"""The queue door: one Celery task, a doorbell. The catalog holds the work."""

import sys
from collections.abc import Container
from typing import Any

from celery import Celery
from celery.exceptions import SoftTimeLimitExceeded
from celery.signals import worker_process_init
from pydantic import ValidationError

from services.ingestor.settings import IngestorSettings
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.jobs import WORK_TASK, Doorbell
from services.shared.kit.logs import get_logger
from services.shared.kit.queue import celery_app
from services.shared.kit.request_context import enter_request
from services.shared.kit.tracing import span

log = get_logger(__name__)


def worker_app(settings: IngestorSettings) -> Celery:
    """The Celery application with the one task registered."""
    app = celery_app(settings.redis, settings.jobs)
    app.conf.update(
        worker_concurrency=settings.work.worker_concurrency,
        worker_max_tasks_per_child=settings.work.worker_tasks_per_child or None,
        worker_enable_remote_control=False,
        # The message is gone once it is taken; what protects the work is its lease in the catalog.
        task_acks_late=False,
    )
    seconds = settings.jobs.job_time_limit_s

    @app.task(name=WORK_TASK)  # type: ignore[untyped-decorator]
    def work(message: dict[str, Any]) -> None:
        answer(message, seconds)

    worker_process_init.connect(_child_starts, weak=False)
    return app


def answer(message: dict[str, Any], limit_s: int) -> None:
    """Take a ring: run what it names, within the time limit."""
    from services.ingestor.wiring import worker

    try:
        bell = Doorbell.model_validate(message)
    except ValidationError as error:
        log.error("ring_unreadable", why=str(error))
        return
    enter_request(bell.request_id)
    with span("job", kind="consumer", parent=bell.traceparent, job_id=bell.job_id) as job:
        try:
            worker().answer(bell.job_id)
        except SoftTimeLimitExceeded:
            log.error("time_limit", job_id=bell.job_id, seconds=limit_s)
            job.failed("time_limit")
            worker().give_up(
                f"it took longer than {limit_s} seconds and was ended; send it in smaller parts, "
                "or raise RAGSTONE_JOB_TIME_LIMIT_S"
            )
        except RagstoneError as error:
            # Nothing could be noted (the catalog is away): the lease runs out and the job is taken again.
            log.error("work_broken_off", job_id=bell.job_id, why=error.detail)
            job.failed(error.code)


def refuse_model_before_fork(loaded: Container[str]) -> None:
    """Raises INTERNAL when torch is loaded: in a child forked from such a process the first embedding hangs."""
    if "torch" in loaded:
        detail = "torch is loaded in the worker's parent process; its children would hang: load models in the child"
        raise RagstoneError(ErrorCode.INTERNAL, detail)


def _child_starts(**_: object) -> None:
    refuse_model_before_fork(sys.modules)
