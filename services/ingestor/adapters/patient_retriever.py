"""The retriever, asked over HTTP by background work: one call at a time, and again when it is busy with visitors."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.search import RetrieveRequest, SearchResponse
from services.shared.kit.http_client import ServiceClient

TRIES = 4
PAUSE_S = 3.0


class PatientRetriever:
    """An open connection; one call at a time, so that visitors are served meanwhile."""

    def __init__(self, client: ServiceClient, runner: asyncio.Runner, pause_s: float) -> None:
        self._client = client
        self._runner = runner
        self._pause_s = pause_s

    def retrieve(self, request: RetrieveRequest) -> SearchResponse:
        """What it finds; asked again up to ``TRIES`` times while it is busy. Raises RagstoneError."""
        for _ in range(TRIES - 1):
            try:
                return self._run(request)
            except RagstoneError as error:
                if error.code is not ErrorCode.BUSY:
                    raise
                self._runner.run(asyncio.sleep(self._pause_s))
        return self._run(request)

    def _run(self, request: RetrieveRequest) -> SearchResponse:
        return self._runner.run(self._client.post("/retrieve", request, SearchResponse))


@contextmanager
def patient_retriever(url: str, timeout_s: float, pause_s: float) -> Iterator[PatientRetriever]:
    """The connection for the time of a ``with`` block."""
    with asyncio.Runner() as runner:
        client = ServiceClient(
            name="retriever",
            base_url=url,
            unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
            timeout_s=timeout_s,
        )
        try:
            yield PatientRetriever(client, runner, pause_s)
        finally:
            runner.run(client.close())
