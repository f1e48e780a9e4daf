"""The retriever, asked over HTTP what it would find if another index served."""

from collections.abc import Iterator
from contextlib import contextmanager

from services.ingestor.adapters.patient_retriever import PAUSE_S, PatientRetriever, patient_retriever
from services.ingestor.ports.reembedding import Ranking, Stretch
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId, SpaceId
from services.shared.contracts.search import RetrieveRequest


class HttpRankings:
    """What is asked of the open connection."""

    def __init__(self, retriever: PatientRetriever) -> None:
        self._retriever = retriever

    def look(self, space: SpaceId, question: str, index_id: IndexId, top_k: int) -> Ranking:
        request = RetrieveRequest(space=space, question=question, index=index_id, top_k=top_k)
        response = self._retriever.retrieve(request)
        if response.index.id != index_id:
            detail = f"the retriever searched index {response.index.id} and not {index_id}; is it of this version?"
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, detail)
        found = [Stretch(one.document_id, one.start, one.end) for one in response.passages]
        return Ranking(found, frozenset(response.degraded), response.index.seq)


class RetrieverRankings:
    """Opens the connection for the time of a ``with`` block."""

    def __init__(self, url: str, timeout_s: float, pause_s: float = PAUSE_S) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._pause_s = pause_s

    @contextmanager
    def __call__(self) -> Iterator[HttpRankings]:
        with patient_retriever(self._url, self._timeout_s, self._pause_s) as retriever:
            yield HttpRankings(retriever)
