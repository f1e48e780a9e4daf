"""Answers of the last hours, in Redis: nothing that a visitor asks is kept for good unless somebody judges it."""

import asyncio

import redis.asyncio
from pydantic import TypeAdapter, ValidationError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from services.gateway.ports.answering import KeptAnswer
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)

AT_ONCE = 200
"""Answers on their way to a Redis that does not take them; more are let go."""

CLOSE_S = 1.0
"""Longest wait, at the end, for answers on their way."""

_KEPT = TypeAdapter(KeptAnswer)


class RedisAnswers:
    """Writes beside the answering, never within it."""

    def __init__(self, settings: RedisSettings, *, keep_s: int) -> None:
        self._client = redis.asyncio.Redis.from_url(
            settings.redis_url,
            socket_timeout=settings.redis_timeout_s,
            socket_connect_timeout=settings.redis_timeout_s,
            # Once more, because a restarted Redis has closed the connection that was kept open.
            retry=Retry(NoBackoff(), 1),
        )
        self._keep_s = keep_s
        self._writing: set[asyncio.Task[None]] = set()

    def keep(self, space: SpaceId, answer: KeptAnswer) -> None:
        """Begin to write it, and forget about that."""
        if self._keep_s == 0:
            return
        if len(self._writing) >= AT_ONCE:
            log.warning("answer_not_kept", why="too many wait for Redis")
            return
        task = asyncio.create_task(self._write(space, answer))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def find(self, space: SpaceId, id: str) -> KeptAnswer | None:
        """Read it back; one that another release wrote in a form unknown here is none."""
        try:
            stored = await self._client.get(_key(space, id))
        except (RedisError, OSError) as error:
            detail = (
                f"Redis, which remembers answers for feedback, does not answer ({type(error).__name__}); "
                "start it or correct RAGSTONE_REDIS_URL, and send the feedback again."
            )
            raise RagstoneError(ErrorCode.QUEUE_UNAVAILABLE, detail, retry_after_s=2) from error
        try:
            return None if stored is None else _KEPT.validate_json(stored)
        except ValidationError:
            return None

    async def close(self) -> None:
        """Close the connections, after a moment for what is on its way."""
        if self._writing:
            _, late = await asyncio.wait(self._writing, timeout=CLOSE_S)
            for task in late:
                task.cancel()
        await self._client.aclose()

    async def _write(self, space: SpaceId, answer: KeptAnswer) -> None:
        try:
            await self._client.set(_key(space, answer.id), _KEPT.dump_json(answer), ex=self._keep_s)
        except (RedisError, OSError) as error:
            log.warning("answer_not_kept", why=type(error).__name__)


def _key(space: SpaceId, id: str) -> str:
    return f"ragstone:answer:{space}:{id}"
