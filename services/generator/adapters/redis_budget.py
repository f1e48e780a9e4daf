"""Each client's tokens of a day, counted in Redis so that all generators count together."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from services.shared.kit.logs import get_logger
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)

KEPT = timedelta(days=2)
"""How long a day's count stays; the day is UTC's."""


class RedisBudget:
    """``daily_tokens`` 0 is no limit, and Redis is not asked. Without Redis nobody is held back, and the log says so.

    What is counted is only known after the writing, so that answers under way at once may overdraw it a little.
    """

    def __init__(
        self,
        settings: RedisSettings,
        *,
        daily_tokens: int,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._daily_tokens = daily_tokens
        self._now = now
        self._client = redis.asyncio.Redis.from_url(
            settings.redis_url,
            socket_timeout=settings.redis_timeout_s,
            socket_connect_timeout=settings.redis_timeout_s,
            # Once more, because a restarted Redis has closed the connection that was kept open.
            retry=Retry(NoBackoff(), 1),
        )

    async def left(self, client: str) -> bool:
        """Whether anything is left today; True where that cannot be known."""
        if not self._daily_tokens:
            return True
        try:
            spent = await self._client.get(self._key(client))
            return int(spent or 0) < self._daily_tokens
        except (RedisError, OSError, ValueError) as error:
            log.warning("budget_not_enforced", why=type(error).__name__)
            return True

    async def spend(self, client: str, tokens: int) -> None:
        """Count tokens that a client has used."""
        if not self._daily_tokens or tokens <= 0:
            return
        key = self._key(client)
        try:
            async with self._client.pipeline(transaction=True) as both:
                both.incrby(key, tokens)
                both.expire(key, KEPT)
                await both.execute()
        except (RedisError, OSError) as error:
            log.warning("budget_not_counted", why=type(error).__name__, tokens=tokens)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _key(self, client: str) -> str:
        """Names are not kept as they come: they may be keys, and of any length."""
        who = hashlib.sha256(client.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return f"ragstone:tokens:{self._now():%Y-%m-%d}:{who}"
