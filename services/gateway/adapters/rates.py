"""Requests counted in Redis, so that all gateways count together; in this process while Redis is away."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import redis.asyncio
from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage, RedisStorage
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from services.gateway.domain.limiting import Charge, Standing, Window, standing
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)

PREFIX = "ragstone:rates"
LONGEST_S = 1.0
"""A request waits no longer for its count, however long Redis hangs; a busy machine takes a part of it at times."""
CONNECTIONS = 16
"""Counting takes so little that many requests take turns on few."""
AWAY_S = 5.0
"""So long a Redis that did not answer is not asked again."""

Storage = MemoryStorage | RedisStorage


class RedisRates:
    """Sliding window counters: two numbers for each who is counted, whatever the limit.

    While Redis is away, ``when_away`` says whether this process counts alone from nothing, or refuses. Who is counted
    stands there as a hash only: addresses are personal data, and names may be of any length.
    """

    def __init__(
        self,
        settings: RedisSettings,
        *,
        when_away: Literal["allow", "refuse"],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        longest = min(settings.redis_timeout_s, LONGEST_S)
        self._pool = redis.asyncio.BlockingConnectionPool.from_url(
            settings.redis_url,
            max_connections=CONNECTIONS,
            timeout=longest,
            socket_timeout=longest,
            socket_connect_timeout=longest,
            # Once more, because a restarted Redis has closed the connection that was kept open.
            retry=Retry(NoBackoff(), 1),
        )
        # The pool and no address: the library wants a port in each, and ours may leave it out.
        options: dict[str, Any] = {"connection_pool": self._pool}
        self._shared = RedisStorage("async+redis://", implementation="redispy", key_prefix=PREFIX, **options)
        self._alone = MemoryStorage()
        self._when_away = when_away
        self._clock = clock
        self._asked_again_at = 0.0

    async def hit(self, charge: Charge, cost: int = 1) -> Standing:
        """Count it. Raises RagstoneError (limits_unavailable)."""
        return await self._asked(charge, cost)

    async def give_back(self, charge: Charge, cost: int, wanted: int) -> Standing:
        """Count it back. Raises RagstoneError (limits_unavailable)."""
        return await self._asked(charge, -cost, wanted)

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.aclose()

    async def _asked(self, charge: Charge, cost: int, wanted: int = 1) -> Standing:
        item = _item(charge.rate)
        key = item.key_for(charge.name, hashlib.sha256(charge.who.encode()).hexdigest()[:32])
        if self._clock() >= self._asked_again_at:
            try:
                async with asyncio.timeout(LONGEST_S):
                    return await _counted(self._shared, item, key, cost, wanted)
            except (RedisError, OSError) as error:
                self._is_away(type(error).__name__)
        if self._when_away == "refuse":
            detail = (
                "Redis, which counts requests, does not answer, and RAGSTONE_LIMITS_WHEN_AWAY says to refuse then; "
                "start Redis or correct RAGSTONE_REDIS_URL."
            )
            raise RagstoneError(ErrorCode.LIMITS_UNAVAILABLE, detail, retry_after_s=int(AWAY_S))
        return await _counted(self._alone, item, key, cost, wanted)

    def _is_away(self, why: str) -> None:
        """Said once, however many requests found it out at the same time."""
        now = self._clock()
        if now >= self._asked_again_at:
            event = "limits_from_memory" if self._when_away == "allow" else "limits_unavailable"
            log.warning(event, why=why, asked_again_in_s=AWAY_S)
        self._asked_again_at = now + AWAY_S


@lru_cache(maxsize=1000)
def _item(rate: str) -> RateLimitItem:
    return parse(rate)


async def _counted(storage: Storage, item: RateLimitItem, key: str, cost: int, wanted: int) -> Standing:
    """Count ``cost``, or back where it is less than 0, and see what is left.

    The library's own account of the time to wait leaves out that a full window has to end first.
    """
    period = item.get_expiry()
    allowed = await storage.acquire_sliding_window_entry(key, item.amount, period, cost)
    previous, previous_left, current, current_left = await storage.get_sliding_window(key, period)
    # A counter lives on through the window after its own.
    window = Window(previous, previous_left, current, max(0.0, current_left - period))
    if cost < 0:
        return standing(item.amount, period, window, allowed=False, wanted=wanted)
    return standing(item.amount, period, window, allowed=allowed, wanted=1 if allowed else cost)
