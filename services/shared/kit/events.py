"""Job events over Redis: a wake-up that says "look at this job in the catalog again"."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import redis
import redis.asyncio
from redis.exceptions import RedisError

from services.shared.contracts.ids import JobId
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)


def _channel(job_id: JobId) -> str:
    return f"ragstone:job:{job_id}"


class JobEventSender:
    """Worker side. A lost event only means that a watcher sees the change at its next look."""

    def __init__(self, settings: RedisSettings) -> None:
        self._client = redis.Redis.from_url(
            settings.redis_url,
            socket_timeout=settings.redis_timeout_s,
            socket_connect_timeout=settings.redis_timeout_s,
        )

    def changed(self, job_id: JobId) -> None:
        """Wake whoever watches this job."""
        try:
            self._client.publish(_channel(job_id), "changed")
        except RedisError as error:
            log.warning("job_event_lost", job_id=job_id, why=type(error).__name__)


class JobEventListener:
    """Gateway side."""

    def __init__(self, settings: RedisSettings) -> None:
        self._client = redis.asyncio.Redis.from_url(settings.redis_url, socket_connect_timeout=settings.redis_timeout_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def ping(self) -> None:
        """Raises RedisError when Redis does not answer."""
        await self._client.ping()

    async def wakeups(self, job_id: JobId, every_s: float) -> AsyncIterator[None]:
        """Yield at once, then whenever the job changed, and at least every ``every_s`` seconds.

        Works without Redis too, by the clock alone.
        """
        yield
        pubsub = self._client.pubsub(ignore_subscribe_messages=True)
        try:
            while True:
                try:
                    if not pubsub.subscribed:
                        await pubsub.subscribe(_channel(job_id))
                    await pubsub.get_message(timeout=every_s)
                except RedisError:
                    await asyncio.sleep(every_s)
                yield
        finally:
            with contextlib.suppress(RedisError):
                await pubsub.aclose()  # type: ignore[no-untyped-call]
