"""Who asked what within the last hour: hashes in Redis, by which nobody can be named once the hour is over."""

import hashlib
import secrets
from collections.abc import Awaitable
from typing import TypeVar

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.kit.settings import RedisSettings

HOUR_S = 3600
SALT_S = 24 * HOUR_S
"""A new salt each day: equal hashes of two days tell nothing."""
QUESTIONS_AN_HOUR = 100
"""Different questions that are noted of one client within an hour."""

T = TypeVar("T")


class RedisMarks:
    """Nothing that names a client or a question is written down, only salted hashes of both together."""

    def __init__(self, settings: RedisSettings) -> None:
        self._client = redis.asyncio.Redis.from_url(
            settings.redis_url,
            socket_timeout=settings.redis_timeout_s,
            socket_connect_timeout=settings.redis_timeout_s,
            # Once more, because a restarted Redis has closed the connection that was kept open.
            retry=Retry(NoBackoff(), 1),
        )

    async def first(self, space: SpaceId, client: str, what: str) -> bool:
        """Marks it for an hour, from the first time on."""
        key = await self._key("asked", space, client, what)
        return bool(await _said(self._client.set(key, 1, nx=True, ex=HOUR_S)))

    async def few(self, space: SpaceId, client: str) -> bool:
        """Counts it; the hour begins with the first one."""
        key = await self._key("number", space, client)
        await _said(self._client.set(key, 0, nx=True, ex=HOUR_S))
        return int(await _said(self._client.incr(key))) <= QUESTIONS_AN_HOUR

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _key(self, kind: str, *parts: str) -> str:
        fresh = secrets.token_hex(32)
        await _said(self._client.set("ragstone:gap_salt", fresh, nx=True, ex=SALT_S))
        found = await _said(self._client.get("ragstone:gap_salt"))
        salt = fresh.encode() if found is None else found if isinstance(found, bytes) else found.encode()
        told = "\0".join(parts).encode()
        return f"ragstone:gap_{kind}:{hashlib.blake2b(told, key=salt[:64], digest_size=20).hexdigest()}"


async def _said(work: Awaitable[T]) -> T:
    try:
        return await work
    except (RedisError, OSError) as error:
        detail = f"Redis, which keeps who asked what, does not answer ({type(error).__name__}); start it."
        raise RagstoneError(ErrorCode.QUEUE_UNAVAILABLE, detail, retry_after_s=2) from error
