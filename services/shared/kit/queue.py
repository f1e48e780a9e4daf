"""The Celery application, and the bell that tells workers that the catalog holds a job."""

from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import DOORBELL_EXPIRES_S, WORK_TASK, Doorbell, Queue
from services.shared.kit.settings import JobSettings, RedisSettings
from services.shared.kit.tracing import traceparent

PREFIX = "ragstone:"
"""Begins the name of every key of the broker; a queue's list is this and the queue's name."""

GRACE_S = 30
"""Between asking a task that took too long to end and killing it, seconds."""

VISIBILITY_S = 3600
"""Redis hands a message out again that was taken and not acknowledged for so long. Ours are acknowledged when they are
taken, except the one that waits behind a running task, which must not come back while that runs."""


def celery_app(redis: RedisSettings, jobs: JobSettings) -> Celery:
    """Celery over Redis: JSON only, no results (outcomes live in the catalog), one message at a time."""
    app = Celery("ragstone", broker=redis.redis_url)
    hard_limit_s = jobs.job_time_limit_s + GRACE_S
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_default_queue=Queue.INGEST.value,
        task_time_limit=hard_limit_s,
        task_soft_time_limit=jobs.job_time_limit_s,
        task_publish_retry=False,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_send_task_events=False,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "socket_connect_timeout": redis.redis_timeout_s,
            "socket_timeout": max(10.0, redis.redis_timeout_s),
            "global_keyprefix": PREFIX,
            "visibility_timeout": max(VISIBILITY_S, 2 * hard_limit_s),
        },
    )
    return app


class Bell:
    """Rings workers. A ring that is lost loses nothing: the reconciler rings again for jobs that wait."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    def ring(self, queue: Queue, job_id: JobId, request_id: str) -> None:
        """Queue a message for one job.

        Raises: RagstoneError (queue_unavailable) when Redis does not take it.
        """
        doorbell = Doorbell(job_id=job_id, request_id=request_id, traceparent=traceparent())
        try:
            self._app.send_task(
                WORK_TASK, kwargs={"message": doorbell.model_dump()}, queue=queue.value, expires=DOORBELL_EXPIRES_S
            )
        except (OperationalError, RedisError, OSError) as error:
            detail = "Redis did not take the message; the job waits in the catalog and is queued when Redis is back."
            raise RagstoneError(ErrorCode.QUEUE_UNAVAILABLE, detail) from error


def impatient_bell(redis: RedisSettings, jobs: JobSettings) -> Bell:
    """A bell for whoever must not wait: without Redis it gives up at once, where a worker would try for long."""
    app = celery_app(redis, jobs)
    app.conf.broker_transport_options = {**app.conf.broker_transport_options, "max_retries": 1, "interval_start": 0}
    return Bell(app)
