"""The retriever, asked directly over HTTP: what it finds, and by which values it decides."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, get_args

from services.ingestor.adapters.patient_retriever import PAUSE_S, PatientRetriever, patient_retriever
from services.ingestor.ports.calibration import Look, Shown
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, SpaceId
from services.shared.contracts.search import FusionName, RetrieveRequest, SearchResponse, Stages

AWAY = frozenset(
    {"vector_unavailable", "model_unavailable", "bm25_unavailable", "critic_unavailable", "vectors_incomplete"}
)
"""What ``degraded`` says when a search was not whole: values of such a one would calibrate for a broken system."""

NO_FEATURES = (
    "The retriever does not tell what it judges passages by: its critic did not run. See its /readyz, and that "
    "RAGSTONE_STAGE_CRITIC is not false; then calibrate again."
)


class HttpFinder:
    """What is asked of the open connection."""

    def __init__(self, retriever: PatientRetriever) -> None:
        self._retriever = retriever

    def look(self, space: SpaceId, question: str, without: Sequence[ChunkId], fusion: FusionName | None = None) -> Look:
        stages = None if fusion is None else Stages(fusion=fusion)
        request = RetrieveRequest(space=space, question=question, explain=True, stages=stages, without=list(without))
        response = self._retriever.retrieve(request)
        broken = sorted(AWAY.intersection(response.degraded))
        if broken:
            detail = f"The retriever searched without a part of it ({', '.join(broken)}); see /readyz, then retry."
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, detail)
        return look_of(response)


class Retriever:
    """Opens the connection for the time of a ``with`` block."""

    def __init__(self, url: str, timeout_s: float, pause_s: float = PAUSE_S) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._pause_s = pause_s

    @contextmanager
    def __call__(self) -> Iterator[HttpFinder]:
        with patient_retriever(self._url, self._timeout_s, self._pause_s) as retriever:
            yield HttpFinder(retriever)


def look_of(response: SearchResponse) -> Look:
    """The values that a calibration reads from an explained response.

    Raises RagstoneError when passages were found and no features of them are told: the critic did not run.
    """
    trace: Mapping[str, Any] = response.trace or {}
    told = trace.get("answerability") or {}
    features = _numbers(told.get("features") or {})
    if response.passages and not features:
        raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, NO_FEATURES)
    searches: Sequence[Mapping[str, Any]] = trace.get("searches") or [{}]
    gate = _numbers(searches[-1].get("gate") or {})
    fused: Sequence[Mapping[str, Any]] = trace.get("fused") or []
    fusion = (trace.get("stages") or {}).get("fusion")
    return Look(
        index_id=response.index.id,
        seq=response.index.seq,
        features=features if response.passages else None,
        distance=gate.get("best_distance"),
        coverage=gate.get("best_coverage"),
        critics={ChunkId(one["chunk_id"]): one["critic"] for one in fused if one.get("critic") is not None},
        fusion=fusion if fusion in get_args(FusionName) else None,
        order=tuple(ChunkId(one["chunk_id"]) for one in fused),
        passages=tuple(Shown(one.chunk_id, one.text) for one in response.passages),
    )


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    numeric = (int, float)
    return {name: float(value) for name, value in values.items() if isinstance(value, numeric) and value is not True}
