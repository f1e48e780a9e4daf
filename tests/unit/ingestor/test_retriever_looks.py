"""What is read from the retriever's explained responses, and what it refuses to calibrate by."""

from typing import Any

import pytest

from services.ingestor.adapters.retriever import look_of
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.search import SearchResponse

PASSAGE: dict[str, Any] = {
    "chunk_id": "v-00000", "document_id": "d", "version": "v", "title": "T", "section": "S", "type": None,
    "text": "The pool opens at seven.", "lead": 0, "start": 0, "end": 24, "source": None, "tags": [], "kind": "fact",
    "score": 0.1, "distance": 0.2, "bm25": 1.0, "critic": 0.8, "ranks": {"bm25:0": 1},
}  # fmt: skip
TRACE: dict[str, Any] = {
    "stages": {"vector": True, "fusion": "rrf"},
    "searches": [{"gate": {"best_distance": 0.9}}, {"gate": {"best_distance": 0.25, "best_coverage": None}}],
    "fused": [{"chunk_id": "v-00001", "critic": 0.005}, {"chunk_id": "v-00000", "critic": 0.8}, {"chunk_id": "w"}],
    "answerability": {"features": {"gap": 1, "odd": None}, "probability": 0.7, "threshold": None},
}


def response(*passages: dict[str, Any], trace: dict[str, Any] | None = None) -> SearchResponse:
    return SearchResponse.model_validate(
        {
            "passages": passages, "verdict": {"answerable": 0.7, "gate": "good", "reason": ""}, "sub_questions": [],
            "degraded": [], "index": {"id": "i1", "embedder": "e", "seq": 12}, "timings_ms": {}, "trace": trace,
        }
    )  # fmt: skip


def test_the_last_search_its_critic_and_its_order_are_read() -> None:
    look = look_of(response(PASSAGE, trace=TRACE))
    assert (look.index_id, look.seq, look.distance, look.coverage) == ("i1", 12, 0.25, None)
    assert look.features == {"gap": 1.0}, "what is no number is no feature"
    assert look.critics == {"v-00001": 0.005, "v-00000": 0.8}, "also of what was dropped"
    assert (look.fusion, look.order) == ("rrf", ("v-00001", "v-00000", "w"))
    assert [(one.chunk_id, one.text) for one in look.passages] == [("v-00000", "The pool opens at seven.")]


def test_nothing_found_has_no_features() -> None:
    assert look_of(response(trace=TRACE)).features is None
    empty = look_of(response(trace={"lists": {}, "drops": []}))
    assert (empty.features, empty.distance, empty.fusion, empty.order) == (None, None, None, ())


def test_passages_without_features_are_refused() -> None:
    with pytest.raises(RagstoneError, match="critic did not run") as caught:
        look_of(response(PASSAGE, trace=TRACE | {"answerability": {"features": {}}}))
    assert caught.value.code is ErrorCode.RETRIEVER_UNAVAILABLE
