"""Each client's tokens of a day, counted in Redis so that all generators count together."""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from services.shared.kit.logs import get_logger
from services.shared.kit.settings import RedisSettings

log = get_logger(__name__)

KEPT = timedelta(days=2)
"""How long a day's count stays; the day is UTC's."""
LONGEST_S = 0.2
"""An answer waits no longer for its budget, however long Redis hangs."""
AWAY_S = 5.0
"""So long a Redis that did not answer is not asked again."""
CLIENTS = 10_000
"""Clients whose last known count is kept in the process."""


class RedisBudget:
    """``daily_tokens`` is for clients without a limit of their own; 0 is no limit, and Redis is not asked.

    While Redis is away, a client has spent what was known last and what this process has seen since; the log says so,
    and what was not counted is counted once Redis is back. A client of whom nothing is known is not held back. What is
    counted is only known after the writing, so that answers under way at once may overdraw it a little.
    """

    def __init__(
        self,
        settings: RedisSettings,
        *,
        daily_tokens: int,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._daily_tokens = daily_tokens
        self._now = now
        self._clock = clock
        self._asked_again_at = 0.0
        self._known: OrderedDict[str, int] = OrderedDict()
        self._owed: OrderedDict[str, int] = OrderedDict()
        longest = min(settings.redis_timeout_s, LONGEST_S)
        self._client = redis.asyncio.Redis.from_url(
            settings.redis_url,
            socket_timeout=longest,
            socket_connect_timeout=longest,
            # Once more, because a restarted Redis has closed the connection that was kept open.
            retry=Retry(NoBackoff(), 1),
        )

    async def left(self, client: str, own: int | None = None) -> bool:
        """Whether anything is left today, as far as that can be known."""
        limit = self._daily_tokens if own is None else own
        if not limit:
            return True
        key = self._key(client)
        spent = await self._unless_away("budget_from_memory", self._spent(key))
        if spent is not None:
            _keep(self._known, key, spent)
        return self._known.get(key, 0) + self._owed.get(key, 0) < limit

    async def spend(self, client: str, tokens: int, own: int | None = None) -> None:
        """Count tokens that a client has used."""
        if not (self._daily_tokens if own is None else own) or tokens <= 0:
            return
        key = self._key(client)
        # Taken off before the wait, so that two answers at once do not both count what is owed.
        tokens += self._owed.pop(key, 0)
        spent = await self._unless_away("budget_not_counted_yet", self._counted(key, tokens))
        if spent is None:
            _keep(self._owed, key, self._owed.get(key, 0) + tokens)
        else:
            _keep(self._known, key, spent)

    async def _spent(self, key: str) -> int:
        return int(await self._client.get(key) or 0)

    async def _counted(self, key: str, tokens: int) -> int:
        async with self._client.pipeline(transaction=True) as both:
            both.incrby(key, tokens)
            both.expire(key, KEPT)
            return int((await both.execute())[0])

    async def _unless_away(self, event: str, asking: Coroutine[Any, Any, int]) -> int | None:
        """What Redis says; None when it is away, which then holds for some seconds without asking."""
        if self._clock() < self._asked_again_at:
            asking.close()
            return None
        try:
            async with asyncio.timeout(LONGEST_S):
                return await asking
        except (RedisError, OSError, ValueError) as error:
            self._asked_again_at = self._clock() + AWAY_S
            log.warning(event, why=type(error).__name__, asked_again_in_s=AWAY_S)
            return None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _key(self, client: str) -> str:
        """Names are not kept as they come: they may be keys, and of any length."""
        who = hashlib.sha256(client.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return f"ragstone:tokens:{self._now():%Y-%m-%d}:{who}"


def _keep(counts: OrderedDict[str, int], key: str, tokens: int) -> None:
    """The newest counts stay; those of days gone by are the oldest."""
    counts[key] = tokens
    counts.move_to_end(key)
    if len(counts) > CLIENTS:
        counts.popitem(last=False)
