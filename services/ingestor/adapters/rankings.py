"""The retriever, asked over HTTP what it would find if another index served."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from services.ingestor.ports.reembedding import Ranking, Stretch
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId, SpaceId
from services.shared.contracts.search import RetrieveRequest, SearchResponse
from services.shared.kit.http_client import ServiceClient

TRIES = 4
PAUSE_S = 3.0


class HttpRankings:
    """One call at a time, so that visitors are served meanwhile."""

    def __init__(self, client: ServiceClient, runner: asyncio.Runner, pause_s: float) -> None:
        self._client = client
        self._runner = runner
        self._pause_s = pause_s

    def look(self, space: SpaceId, question: str, index_id: IndexId, top_k: int) -> Ranking:
        request = RetrieveRequest(space=space, question=question, index=index_id, top_k=top_k)
        response = self._patiently(request)
        if response.index.id != index_id:
            detail = f"the retriever searched index {response.index.id} and not {index_id}; is it of this version?"
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, detail)
        found = [Stretch(one.document_id, one.start, one.end) for one in response.passages]
        return Ranking(found, frozenset(response.degraded), response.index.seq)

    def _patiently(self, request: RetrieveRequest) -> SearchResponse:
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


class RetrieverRankings:
    """Opens the connection for the time of a ``with`` block."""

    def __init__(self, url: str, timeout_s: float, pause_s: float = PAUSE_S) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._pause_s = pause_s

    @contextmanager
    def __call__(self) -> Iterator[HttpRankings]:
        with asyncio.Runner() as runner:
            client = ServiceClient(
                name="retriever",
                base_url=self._url,
                unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
                timeout_s=self._timeout_s,
            )
            try:
                yield HttpRankings(client, runner, self._pause_s)
            finally:
                runner.run(client.close())
