"""The other services' doors for loading their models."""

from services.shared.contracts.base import Request
from services.shared.contracts.health import PartHealth
from services.shared.kit.http_client import ServiceClient


class _Nothing(Request):
    """A body without anything to say."""


class HttpWarmed:
    """``POST /warmup`` of one of them."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def warm_up(self) -> PartHealth:
        """Ask, and wait for the answer."""
        return await self._client.post("/warmup", _Nothing(), PartHealth)
