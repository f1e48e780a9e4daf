"""Answers of the last while in Redis, to be given again; without Redis every question is answered anew."""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import redis.asyncio
from pydantic import TypeAdapter, ValidationError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from services.gateway.domain.given import Given
from services.shared.contracts.ids import DocumentId, SpaceId
from services.shared.kit.logs import get_logger
from services.shared.kit.remembered import answer_key, given_id, resting_key
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)

LARGEST_BYTES = 256 * 1024
"""A larger answer is not kept."""
LOOK_S = 0.3
"""Longest wait of a question for what was given before: as long as a quick answer takes."""
REST_S = 5.0
"""So long a Redis that did not answer is left alone: no question waits for it again and again."""
TOLD_EVERY_S = 60.0

Got = TypeVar("Got")

_GIVEN = TypeAdapter(Given)


class RedisGiven:
    """Keeps answers among those that are remembered for feedback, so that a deletion finds them in the same way.

    ``rest_s``: how long the note of a document's answers is kept; at least as long as any of them.
    """

    def __init__(self, settings: RedisSettings, *, keep_s: int, rest_s: int) -> None:
        self._client = redis.asyncio.Redis.from_url(
            settings.redis_url,
            socket_timeout=settings.redis_timeout_s,
            socket_connect_timeout=settings.redis_timeout_s,
            # Once more, because a restarted Redis has closed the connection that was kept open.
            retry=Retry(NoBackoff(), 1),
        )
        self._keep_s = keep_s
        self._rest_s = max(keep_s, rest_s)
        self._away_until = 0.0
        self._tell_from = 0.0

    async def find(self, space: SpaceId, fingerprint: str) -> Given | None:
        """Read it back; one in a form unknown here is none."""
        if not self._usable:
            return None
        stored = await self._patiently(self._read(_key(space, fingerprint)))
        try:
            return None if stored is None else _GIVEN.validate_json(stored)
        except ValidationError:
            return None

    async def keep(self, space: SpaceId, fingerprint: str, given: Given) -> bool:
        """Write it, and note it with each of its documents."""
        said = _GIVEN.dump_json(given)
        if not self._usable or len(said) > LARGEST_BYTES:
            return False
        return await self._patiently(self._write(space, fingerprint, said, given.documents)) is not None

    async def drop(self, space: SpaceId, fingerprint: str) -> None:
        """Delete it."""
        await self._patiently(self._client.delete(_key(space, fingerprint)))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    @property
    def _usable(self) -> bool:
        return self._keep_s > 0 and time.monotonic() >= self._away_until

    async def _read(self, key: str) -> bytes | str | None:
        async with asyncio.timeout(LOOK_S):
            return await self._client.get(key)

    async def _write(
        self, space: SpaceId, fingerprint: str, said: bytes, documents: Sequence[DocumentId]
    ) -> Sequence[object]:
        async with self._client.pipeline() as writing:
            writing.set(_key(space, fingerprint), said, ex=self._keep_s)
            for document_id in documents:
                writing.sadd(resting_key(space, document_id), given_id(fingerprint))
                writing.expire(resting_key(space, document_id), self._rest_s)
            return await writing.execute()

    async def _patiently(self, work: Awaitable[Got]) -> Got | None:
        """Whatever Redis does, it is no error of a question's: None, and the log says so once a minute."""
        try:
            return await work
        except (RedisError, OSError, TimeoutError) as error:
            now = time.monotonic()
            self._away_until = now + REST_S
            if now >= self._tell_from:
                self._tell_from = now + TOLD_EVERY_S
                log.warning("answers_not_given_again", why=f"Redis does not answer ({type(error).__name__})")
            return None


def _key(space: SpaceId, fingerprint: str) -> str:
    return answer_key(space, given_id(fingerprint))
