"""The retriever, asked directly over HTTP: what it finds, and by which values it decides."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, get_args

from services.ingestor.ports.calibration import Look, Shown
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, SpaceId
from services.shared.contracts.search import FusionName, RetrieveRequest, SearchResponse, Stages
from services.shared.kit.http_client import ServiceClient

TRIES = 4
PAUSE_S = 3.0
AWAY = frozenset(
    {"vector_unavailable", "model_unavailable", "bm25_unavailable", "critic_unavailable", "vectors_incomplete"}
)
"""What ``degraded`` says when a search was not whole: values of such a one would calibrate for a broken system."""

NO_FEATURES = (
    "The retriever does not tell what it judges passages by: its critic did not run. See its /readyz, and that "
    "RAGSTONE_STAGE_CRITIC is not false; then calibrate again."
)


class HttpFinder:
    """One call at a time, so that visitors are served meanwhile."""

    def __init__(self, client: ServiceClient, runner: asyncio.Runner, pause_s: float) -> None:
        self._client = client
        self._runner = runner
        self._pause_s = pause_s

    def look(self, space: SpaceId, question: str, without: Sequence[ChunkId], fusion: FusionName | None = None) -> Look:
        stages = None if fusion is None else Stages(fusion=fusion)
        request = RetrieveRequest(space=space, question=question, explain=True, stages=stages, without=list(without))
        response = self._patiently(request)
        broken = sorted(AWAY.intersection(response.degraded))
        if broken:
            detail = f"The retriever searched without a part of it ({', '.join(broken)}); see /readyz, then retry."
            raise RagstoneError(ErrorCode.RETRIEVER_UNAVAILABLE, detail)
        return look_of(response)

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


class Retriever:
    """Opens the connection for the time of a ``with`` block."""

    def __init__(self, url: str, timeout_s: float, pause_s: float = PAUSE_S) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._pause_s = pause_s

    @contextmanager
    def __call__(self) -> Iterator[HttpFinder]:
        with asyncio.Runner() as runner:
            client = ServiceClient(
                name="retriever",
                base_url=self._url,
                unavailable=ErrorCode.RETRIEVER_UNAVAILABLE,
                timeout_s=self._timeout_s,
            )
            try:
                yield HttpFinder(client, runner, self._pause_s)
            finally:
                runner.run(client.close())


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
