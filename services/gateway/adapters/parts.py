"""Looks at everything that the gateway works with, each part with what to do when it is not ready."""

import asyncio
from collections.abc import Awaitable, Callable

from anyio.to_thread import run_sync
from redis.exceptions import RedisError

from services.shared.catalog.blob_store import BlobStore
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.health import PartHealth, Readiness
from services.shared.kit.events import JobEventListener
from services.shared.kit.http_client import ServiceClient
from services.shared.kit.presence import present
from services.shared.kit.settings import RedisSettings

_NO_REDIS = (
    "does not answer ({why}); start it or correct RAGSTONE_REDIS_URL. Questions are answered meanwhile; "
    "uploads are kept and ingested when it is back."
)
_LATE = {
    "catalog": "a writer may hold it, or its disk be too slow: see the other processes' logs",
    "redis": "it hangs, or something before it drops what is sent: restart it",
    "originals": "the bucket of RAGSTONE_BLOBS_URL hangs, or something before it drops what is sent",
    "retriever": "it hangs or starts: see its log, and restart it if it stays so",
    "generator": "it hangs or starts: see its log, and restart it if it stays so",
}
_NOBODY = {
    "worker": "no worker is running; start one with python -m services.ingestor worker. Uploads wait for it.",
    "reconciler": (
        "no reconciler is running; start one with python -m services.ingestor reconciler. "
        "Until then a job whose worker died is not taken up again."
    ),
    "asker": "no asker is running; start one with python -m services.gateway asker. Questions sent with "
    "Prefer: respond-async wait for it.",
}


class LiveParts:
    """Asks all parts at once; one that hangs is given up after ``timeout_s``. A store of originals is a part where it
    is a server of its own."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        retriever: ServiceClient,
        generator: ServiceClient,
        events: JobEventListener,
        redis: RedisSettings,
        timeout_s: float,
        originals: BlobStore | None = None,
    ) -> None:
        self._catalog = catalog
        self._services = {"retriever": retriever, "generator": generator}
        self._events = events
        self._redis = redis
        self._timeout_s = timeout_s
        self._originals = originals

    async def look(self) -> dict[str, PartHealth]:
        """Every part by its name."""
        looks: dict[str, Callable[[], Awaitable[PartHealth]]] = {
            "catalog": self._look_at_catalog,
            "redis": self._look_at_redis,
            **{name: self._looker_at_service(client) for name, client in self._services.items()},
            **({} if self._originals is None else {"originals": self._look_at_originals}),
            **{role: self._looker_for(role) for role in _NOBODY},
        }
        found = await asyncio.gather(*(self._in_time(name, look) for name, look in looks.items()))
        return dict(zip(looks, found, strict=True))

    async def _in_time(self, name: str, look: Callable[[], Awaitable[PartHealth]]) -> PartHealth:
        try:
            return await asyncio.wait_for(look(), self._timeout_s)
        except TimeoutError:
            todo = _LATE.get(name, "unknown while Redis does not answer")
            return PartHealth(ready=False, detail=f"did not answer within {self._timeout_s:g} s; {todo}")
        except RagstoneError as error:
            return PartHealth(ready=False, detail=error.detail)

    async def _look_at_catalog(self) -> PartHealth:
        await run_sync(self._catalog.check, abandon_on_cancel=True)
        return PartHealth(ready=True, detail="answers")

    async def _look_at_originals(self) -> PartHealth:
        if self._originals is not None:
            await run_sync(self._originals.check, abandon_on_cancel=True)
        return PartHealth(ready=True, detail="answers")

    async def _look_at_redis(self) -> PartHealth:
        try:
            await self._events.ping()
        except (RedisError, OSError) as error:
            return PartHealth(ready=False, detail=_NO_REDIS.format(why=type(error).__name__))
        return PartHealth(ready=True, detail="answers")

    def _looker_at_service(self, client: ServiceClient) -> Callable[[], Awaitable[PartHealth]]:
        async def look() -> PartHealth:
            readiness = await client.get("/readyz", Readiness, accept=(503,))
            faults = [f"{name}: {part.detail}" for name, part in readiness.parts.items() if not part.ready]
            if readiness.ready and not faults:
                # Which embedder it has, and whether an index has another one than the settings name.
                model = readiness.parts.get("model")
                return PartHealth(ready=True, detail=f"ready: {model.detail}" if model else "ready")
            return PartHealth(ready=readiness.ready, detail="; ".join(faults) or "is not ready yet; see its log")

        return look

    def _looker_for(self, role: str) -> Callable[[], Awaitable[PartHealth]]:
        async def look() -> PartHealth:
            try:
                count = await run_sync(present, role, self._redis, abandon_on_cancel=True)
            except (RedisError, OSError):
                return PartHealth(ready=False, detail="unknown while Redis does not answer")
            return PartHealth(ready=count > 0, detail=f"{count} at work" if count else _NOBODY[role])

        return look
