"""The story of finding passages, over fakes of its ports."""

from dataclasses import replace
from typing import Any

import pytest

from services.retriever.domain.hits import Chunk
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId
from services.shared.contracts.search import Filters, Stages

from .fakes import (
    EMBEDDER,
    FakeEmbedder,
    FakeKeywords,
    FakeRecords,
    FakeVectors,
    chunk,
    ids,
    request,
    retrieval,
)


def down(code: ErrorCode) -> RagstoneError:
    return RagstoneError(code, "It is down.")


async def test_both_indexes_agree_and_say_so() -> None:
    flow = retrieval(
        FakeRecords([chunk("a#0"), chunk("b#0"), chunk("c#0")]),
        FakeVectors([("a#0", 0.2), ("b#0", 0.3)]),
        FakeKeywords([("b#0", 7.0), ("c#0", 5.0)]),
    )
    response = await flow.retrieve(request())
    assert ids(response) == ["b#0", "a#0", "c#0"]
    best = response.passages[0]
    assert (best.distance, best.bm25, best.ranks) == (0.3, 7.0, {"bm25:0": 1, "vector:0": 2})
    assert response.verdict.gate == "good"
    assert (response.index.id, response.index.embedder, response.index.seq) == ("i1", "fake", 1)
    assert response.trace is None
    assert "total" in response.timings_ms


async def test_all_questions_are_embedded_in_one_batch_and_have_their_lists() -> None:
    embedder = FakeEmbedder()
    flow = retrieval(
        FakeRecords([chunk("a#0"), chunk("b#0")]),
        FakeVectors([("a#0", 0.2)], [("b#0", 0.2)]),
        FakeKeywords(),
        embedder=embedder,
    )
    response = await flow.retrieve(request("One?", sub_questions=["Two?", " ", "One?"]))
    assert embedder.batches == [["One?", "Two?"]]
    assert response.sub_questions == ["Two?"]
    assert {name for passage in response.passages for name in passage.ranks} == {"vector:0", "vector:1"}


async def test_ids_that_are_not_live_never_come_back_and_more_are_read() -> None:
    stale = [(f"old#{n}", 0.01 * n) for n in range(40)]
    vectors = FakeVectors([*stale, ("new#0", 0.5), ("new#1", 0.51)])
    flow = retrieval(FakeRecords([chunk("new#0"), chunk("new#1")]), vectors, FakeKeywords([("old#3", 9.0)]))
    response = await flow.retrieve(request(explain=True))
    assert ids(response) == ["new#0", "new#1"]
    assert response.trace is not None
    reasons = {(drop["chunk_id"], drop["list"]): drop["reason"] for drop in response.trace["drops"]}
    assert reasons["old#3", "bm25:0"] == reasons["old#3", "vector:0"] == "not_live"


async def test_no_answer_mixes_two_versions_of_a_document() -> None:
    """The old version is live when the indexes are read, the new one when the texts are."""
    records = FakeRecords([chunk("old#0", document="d")])

    def replace(call: int) -> None:
        if call == 1:
            records.chunks = {ChunkId("new#0"): chunk("new#0", document="d")}

    records.before_live = replace
    flow = retrieval(records, FakeVectors([("old#0", 0.1), ("new#0", 0.2)]), FakeKeywords([("new#0", 9.0)]))
    assert ids(await flow.retrieve(request())) == ["new#0"]


async def test_a_space_without_anything_answers_honestly() -> None:
    response = await retrieval(FakeRecords(seq=0), FakeVectors(), FakeKeywords()).retrieve(request(explain=True))
    assert response.passages == []
    assert (response.verdict.gate, response.verdict.reason) == ("poor", "nothing has been ingested")
    assert response.verdict.answerable == 0
    assert response.index.id is None


async def test_after_the_last_deletion_there_is_nothing_ingested_again() -> None:
    response = await retrieval(FakeRecords(seq=9), FakeVectors([("old#0", 0.1)]), FakeKeywords()).retrieve(request())
    assert response.passages == []
    assert response.verdict.reason == "nothing has been ingested"


def typed() -> tuple[FakeRecords, FakeVectors]:
    vectors = FakeVectors([("note#0", 0.2), ("policy#0", 0.7)])
    vectors.types = {"note#0": "note", "policy#0": "policy"}
    return FakeRecords([chunk("note#0", type="note"), chunk("policy#0", type="policy")]), vectors


@pytest.mark.parametrize("type", ["unknown", "policy"])
async def test_poor_with_a_type_falls_back_visibly(type: str) -> None:
    records, vectors = typed()
    response = await retrieval(records, vectors, FakeKeywords()).retrieve(
        request(filters=Filters(type=type, tags=["x"]), explain=True)
    )
    assert response.verdict.gate == "fallback"
    assert ids(response)[0] == "note#0"
    assert vectors.asked[-1][2] == Filters(tags=["x"])
    assert response.trace is not None
    assert [one["type_filter_left_out"] for one in response.trace["searches"]] == [False, True]


async def test_poor_everywhere_stays_with_what_was_asked_for() -> None:
    records, vectors = typed()
    vectors.lists = ([("note#0", 0.8), ("policy#0", 0.9)],)
    response = await retrieval(records, vectors, FakeKeywords()).retrieve(request(filters=Filters(type="policy")))
    assert (response.verdict.gate, ids(response)) == ("poor", ["policy#0"])


async def test_without_the_gate_a_filter_is_final() -> None:
    records, vectors = typed()
    response = await retrieval(records, vectors, FakeKeywords()).retrieve(
        request(filters=Filters(type="unknown"), stages=Stages(gate=False))
    )
    assert (response.passages, response.verdict.gate, len(vectors.asked)) == ([], "poor", 1)


async def test_exact_words_keep_a_far_passage_from_poor() -> None:
    keywords = FakeKeywords([("part#0", 9.0)])
    keywords.covered = {"part#0": 1.0}
    flow = retrieval(FakeRecords([chunk("part#0", "part AX-4411")]), FakeVectors([("part#0", 0.8)]), keywords)
    assert (await flow.retrieve(request("AX-4411"))).verdict.gate == "good"


async def test_a_bm25_list_below_the_floor_is_silent() -> None:
    keywords = FakeKeywords([("b#0", 1.0)])
    keywords.covered = {"b#0": 0.05}
    flow = retrieval(FakeRecords([chunk("a#0"), chunk("b#0")]), FakeVectors([("a#0", 0.2)]), keywords)
    response = await flow.retrieve(request(explain=True))
    assert ids(response) == ["a#0"]
    assert response.trace is not None
    assert response.trace["drops"] == [
        {"chunk_id": "b#0", "list": "bm25:0", "reason": "list below the floor: 0.05, limit 0.10"}
    ]


@pytest.mark.parametrize(
    ("embedder", "vectors", "named"),
    [
        (None, down(ErrorCode.VECTOR_STORE_UNAVAILABLE), "vector_unavailable"),
        (down(ErrorCode.MODEL_UNAVAILABLE), None, "model_unavailable"),
    ],
)
async def test_one_index_answers_for_the_other(
    embedder: RagstoneError | None, vectors: RagstoneError | None, named: str
) -> None:
    flow = retrieval(
        FakeRecords([chunk("a#0")]),
        FakeVectors([("a#0", 0.2)], error=vectors),
        FakeKeywords([("a#0", 3.0)]),
        embedder=FakeEmbedder(error=embedder),
    )
    response = await flow.retrieve(request())
    assert (ids(response), response.degraded) == (["a#0"], [named])
    assert response.passages[0].distance is None
    assert response.verdict.gate == "good"


async def test_bm25_failing_leaves_the_vectors() -> None:
    flow = retrieval(
        FakeRecords([chunk("a#0")]),
        FakeVectors([("a#0", 0.2)]),
        FakeKeywords(error=down(ErrorCode.RETRIEVER_UNAVAILABLE)),
    )
    response = await flow.retrieve(request())
    assert (ids(response), response.degraded) == (["a#0"], ["bm25_unavailable"])


async def test_an_answer_from_an_incomplete_vector_store_says_so() -> None:
    vectors = FakeVectors()
    vectors.whole = False
    flow = retrieval(FakeRecords([chunk("a#0")]), vectors, FakeKeywords([("a#0", 7.0)]))
    response = await flow.retrieve(request())
    assert (ids(response), response.degraded) == (["a#0"], ["vectors_incomplete"])
    by_keywords = await flow.retrieve(request(stages=Stages(vector=False)))
    assert by_keywords.degraded == [], "vectors were not wanted"


@pytest.mark.parametrize("stages", [None, Stages(bm25=False)])
async def test_nothing_left_to_search_is_an_error(stages: Stages | None) -> None:
    flow = retrieval(
        FakeRecords([chunk("a#0")]),
        FakeVectors(error=down(ErrorCode.VECTOR_STORE_UNAVAILABLE)),
        FakeKeywords(error=down(ErrorCode.RETRIEVER_UNAVAILABLE)),
    )
    with pytest.raises(RagstoneError) as caught:
        await flow.retrieve(request(stages=stages))
    assert (caught.value.code, caught.value.status) == (ErrorCode.VECTOR_STORE_UNAVAILABLE, 503)


@pytest.mark.parametrize("code", [ErrorCode.BUSY, ErrorCode.CATALOG_UNAVAILABLE])
async def test_what_the_other_index_cannot_answer_for_is_raised(code: ErrorCode) -> None:
    flow = retrieval(FakeRecords([chunk("a#0")]), FakeVectors(error=down(code)), FakeKeywords([("a#0", 1.0)]))
    with pytest.raises(RagstoneError) as caught:
        await flow.retrieve(request())
    assert caught.value.code == code


@pytest.mark.parametrize(
    "different",
    [
        {"revision": "r2"},
        {"name": "other"},
        {"dimension": 3},
        {"query_prompt": "query: "},
        {"document_prompt": "passage: "},
    ],
)
async def test_a_question_is_only_compared_with_vectors_of_its_own_embedder(different: dict[str, Any]) -> None:
    other = replace(EMBEDDER, **different)
    vectors = FakeVectors([("a#0", 0.1)])
    flow = retrieval(
        FakeRecords([chunk("a#0")], embedder=other),
        vectors,
        FakeKeywords([("a#0", 1.0)]),
        embedder=FakeEmbedder(identity=EMBEDDER),
    )
    response = await flow.retrieve(request())
    assert (ids(response), response.degraded) == (["a#0"], ["index_incompatible"]), "exact words answer meanwhile"
    assert response.passages[0].distance is None
    with pytest.raises(RagstoneError) as caught:
        await flow.retrieve(request(stages=Stages(bm25=False)))
    assert caught.value.code == ErrorCode.INDEX_INCOMPATIBLE
    assert "ragstone reembed" in caught.value.detail
    assert vectors.asked == []


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"stages": Stages(vector=False, bm25=False)}, ErrorCode.INVALID_REQUEST),
        ({"question": "  "}, ErrorCode.QUESTION_EMPTY),
    ],
)
async def test_requests_that_make_no_sense(fields: dict[str, Any], code: ErrorCode) -> None:
    with pytest.raises(RagstoneError) as caught:
        await retrieval(FakeRecords(), FakeVectors(), FakeKeywords()).retrieve(request(**fields))
    assert caught.value.code == code


async def test_stages_are_honoured_per_call() -> None:
    flow = retrieval(
        FakeRecords([chunk("a#0"), chunk("b#0")]), FakeVectors([("a#0", 0.2)]), FakeKeywords([("b#0", 3.0)])
    )
    assert ids(await flow.retrieve(request(stages=Stages(bm25=False)))) == ["a#0"]
    assert ids(await flow.retrieve(request(stages=Stages(vector=False)))) == ["b#0"]


async def test_copies_make_room_unless_diversity_is_off() -> None:
    text = "One and the same sentence, which stands in many of the documents here."
    chunks: list[Chunk] = [chunk(f"d{n}#0", text) for n in range(5)] + [chunk("e#0")]
    pairs = [(one.id, 0.1) for one in chunks]
    flow = retrieval(FakeRecords(chunks), FakeVectors(pairs), FakeKeywords())
    question = "Which long and winding question is that or not?"
    assert ids(await flow.retrieve(request(question, top_k=2))) == ["d0#0", "e#0"]
    assert ids(await flow.retrieve(request(question, top_k=2, stages=Stages(diversity=False)))) == ["d0#0", "d1#0"]


async def test_a_document_replaced_during_a_search_is_searched_again() -> None:
    """It dies between its list and its text."""
    records = FakeRecords([chunk("v1#0")])
    keywords = FakeKeywords([("v1#0", 5.0)])

    def replaced(call: int) -> None:
        if call == 1:
            records.chunks = {one.id: one for one in [chunk("v2#0")]}
            keywords.lists = ([("v2#0", 5.0)],)

    records.before_live = replaced
    flow = retrieval(records, FakeVectors(), keywords)
    response = await flow.retrieve(request(stages=Stages(vector=False)))
    assert ids(response) == ["v2#0"]


async def test_a_search_is_repeated_once_and_only_for_what_died_during_it() -> None:
    always_late = FakeVectors()
    await retrieval(FakeRecords([chunk("a#0")]), always_late, FakeKeywords([("old#0", 5.0)])).retrieve(request())
    assert len(always_late.asked) == 2
    poor = FakeVectors([("a#0", 0.9)])
    await retrieval(FakeRecords([chunk("a#0")]), poor, FakeKeywords()).retrieve(request())
    assert len(poor.asked) == 1
