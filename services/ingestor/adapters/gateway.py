"""The system as a client sees it: everything goes over the gateway's public API."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar
from urllib.parse import quote

from services.shared.catalog.engine import Catalog
from services.shared.catalog.own_keys import own_key
from services.shared.contracts.answers import Answer, AskRequest
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.health import Readiness
from services.shared.contracts.ids import DocumentId, SpaceId, VersionId
from services.shared.contracts.keys import Role
from services.shared.contracts.search import SearchRequest, SearchResponse
from services.shared.kit.http_client import ServiceClient

Got = TypeVar("Got")

BUSY_TRIES = 4
BUSY_WAIT_S = 5.0
PATIENCE_S = 60.0
"""A call that took longer before it failed would take as long again."""
AWAY = 503
KEY_LIVES = timedelta(hours=6)
"""Longer than any worker asks without making way for other jobs."""
ANEW = {"Cache-Control": "no-cache"}
"""What is measured is how questions are answered, not what was answered before."""
_GONE = (ErrorCode.DOCUMENT_NOT_FOUND, ErrorCode.VERSION_NOT_FOUND)


class GatewayOfSpace:
    """Calls one at a time, so that what is measured is one client's latency."""

    def __init__(self, client: ServiceClient, runner: asyncio.Runner) -> None:
        self._client = client
        self._runner = runner

    def search(self, request: SearchRequest) -> SearchResponse:
        return self._patiently(lambda: self._client.post("/v1/search", request, SearchResponse))

    def ask(self, request: AskRequest) -> Answer:
        return self._patiently(lambda: self._client.post("/v1/ask", request, Answer))

    def text(self, document_id: DocumentId, version: VersionId | None) -> str | None:
        named = f"&version={quote(version)}" if version else ""
        path = f"/v1/documents/{quote(document_id, safe='')}/source?as=text{named}"
        try:
            return self._run(self._client.get_text(path))
        except RagstoneError as error:
            if error.code in _GONE:
                return None
            raise

    def describe(self) -> dict[str, str]:
        readiness = self._run(self._client.get("/readyz", Readiness, accept=(503,)))
        return {name: part.detail for name, part in readiness.parts.items()}

    def _patiently(self, call: Callable[[], Coroutine[Any, Any, Got]]) -> Got:
        """Again, when it was busy or a part was away for a moment; the error itself when it stays so or was long."""
        began = time.monotonic()
        for _ in range(BUSY_TRIES - 1):
            try:
                return self._run(call())
            except RagstoneError as error:
                if error.status != AWAY or time.monotonic() - began > PATIENCE_S:
                    raise
                self._run(asyncio.sleep(min(error.retry_after_s or BUSY_WAIT_S, BUSY_WAIT_S)))
        return self._run(call())

    def _run(self, coroutine: Coroutine[Any, Any, Got]) -> Got:
        return self._runner.run(coroutine)


class GatewayAsClient:
    """Opens the API of one space for the time of a ``with`` block, with a key of its own that may read there."""

    def __init__(self, url: str, timeout_s: float, catalog: Catalog) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._catalog = catalog

    @contextmanager
    def __call__(self, space: SpaceId) -> Iterator[GatewayOfSpace]:
        key = own_key(self._catalog, "an evaluation", Role.READ, space, KEY_LIVES)
        with key as secret, asyncio.Runner() as runner:
            client = ServiceClient(
                name="gateway",
                base_url=self._url,
                unavailable=ErrorCode.GATEWAY_UNAVAILABLE,
                timeout_s=self._timeout_s,
                headers={"Ragstone-Space": space, "Authorization": f"Bearer {secret}", **ANEW},
            )
            try:
                yield GatewayOfSpace(client, runner)
            finally:
                runner.run(client.close())
