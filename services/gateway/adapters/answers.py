"""Answers of the last hours, in Redis: nothing that a visitor asks is kept for good unless somebody judges it."""

import asyncio
from collections.abc import Awaitable, Callable, Collection

import redis.asyncio
from anyio.to_thread import run_sync
from pydantic import TypeAdapter, ValidationError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from services.gateway.ports.answering import KeptAnswer
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.kit.logs import get_logger
from services.shared.kit.remembered import AnswerEraser, answer_key, resting_key
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)

AT_ONCE = 200
"""Answers on their way to a Redis that does not take them; more are let go."""

CLOSE_S = 1.0
"""Longest wait, at the end, for answers on their way."""

_KEPT = TypeAdapter(KeptAnswer)


class RedisAnswers:
    """Writes beside the answering, never within it.

    ``all_live`` says whether documents answer still: an answer may be on its way here while one of its documents is
    deleted, and is let go then. ``rest_s``: how long the note of a document's answers is kept, where others are noted
    there that are kept for longer than these.
    """

    def __init__(
        self,
        settings: RedisSettings,
        *,
        keep_s: int,
        all_live: Callable[[SpaceId, Collection[DocumentId]], Awaitable[bool]],
        rest_s: int = 0,
    ) -> None:
        self._client = redis.asyncio.Redis.from_url(
            settings.redis_url,
            socket_timeout=settings.redis_timeout_s,
            socket_connect_timeout=settings.redis_timeout_s,
            # Once more, because a restarted Redis has closed the connection that was kept open.
            retry=Retry(NoBackoff(), 1),
        )
        self._keep_s = keep_s
        self._rest_s = max(keep_s, rest_s)
        self._all_live = all_live
        self._eraser = AnswerEraser(settings)
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
            stored = await self._client.get(answer_key(space, id))
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

    async def forget(self, space: SpaceId, document_id: DocumentId) -> int:
        """Forget the answers that rest on a document; how many. Raises RagstoneError (queue_unavailable)."""
        return await run_sync(self._eraser.forget, space, document_id)

    async def close(self) -> None:
        """Close the connections, after a moment for what is on its way."""
        if self._writing:
            _, late = await asyncio.wait(self._writing, timeout=CLOSE_S)
            for task in late:
                task.cancel()
        await self._client.aclose()
        self._eraser.close()

    async def _write(self, space: SpaceId, answer: KeptAnswer) -> None:
        key = answer_key(space, answer.id)
        try:
            async with self._client.pipeline() as writing:
                writing.set(key, _KEPT.dump_json(answer), ex=self._keep_s)
                for document_id in answer.documents:
                    writing.sadd(resting_key(space, document_id), answer.id)
                    writing.expire(resting_key(space, document_id), self._rest_s)
                await writing.execute()
            # Looked at when it is written: what is deleted later is forgotten by the deletion.
            if answer.documents and not await self._all_live(space, answer.documents):
                await self._client.delete(key)
        except (RedisError, OSError, RagstoneError) as error:
            log.warning("answer_not_kept", why=type(error).__name__)
