"""Which index a search is done on: the one that serves, the one that is named, the one that serves by now."""

from dataclasses import replace

import pytest

from services.retriever.domain.hits import ServingIndex
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId
from services.shared.contracts.search import Stages

from .fakes import (
    EMBEDDER,
    SPACE,
    FakeEmbedder,
    FakeKeywords,
    FakeRecords,
    FakeVectors,
    chunk,
    ids,
    request,
    retrieval,
)

OTHER = replace(EMBEDDER, name="other", dimension=3)
NEW = ServingIndex(IndexId("i2"), SPACE, OTHER)


def switched(records: FakeRecords, *, at: int) -> None:
    """The other index serves from that look at the catalog on."""

    def look(call: int) -> None:
        if call >= at:
            records.index = NEW

    records.before_state = look


async def test_a_named_index_is_searched_by_its_own_embedder_and_named_in_the_answer() -> None:
    records, embedder, vectors = FakeRecords([chunk("a#0")]), FakeEmbedder(), FakeVectors([("a#0", 0.1)])
    records.beside[NEW.id] = NEW
    flow = retrieval(records, vectors, FakeKeywords(), embedder=embedder)
    response = await flow.retrieve(request(index=NEW.id))
    assert (response.index.id, response.index.embedder) == ("i2", "other")
    assert (vectors.asked_of, embedder.asked) == (["i2"], [OTHER])
    assert (await flow.retrieve(request())).index.id == "i1"


async def test_an_index_that_is_not_one_of_the_space_is_said() -> None:
    flow = retrieval(FakeRecords([chunk("a#0")]), FakeVectors([("a#0", 0.1)]), FakeKeywords())
    with pytest.raises(RagstoneError) as caught:
        await flow.retrieve(request(index="another"))
    assert caught.value.code == ErrorCode.INDEX_NOT_FOUND


async def test_a_search_ends_on_the_index_that_it_began_on() -> None:
    records, vectors = FakeRecords([chunk("a#0")]), FakeVectors([("a#0", 0.1)])
    switched(records, at=2)
    response = await retrieval(records, vectors, FakeKeywords()).retrieve(request())
    assert (response.index.id, vectors.asked_of, records.state_calls) == ("i1", ["i1"], 1)


async def test_an_index_that_was_deleted_under_a_search_gives_way_to_the_one_that_serves_by_now() -> None:
    records, embedder, vectors = FakeRecords([chunk("a#0")]), FakeEmbedder(), FakeVectors([("a#0", 0.1)])
    vectors.gone = {"i1"}
    switched(records, at=2)
    response = await retrieval(records, vectors, FakeKeywords(), embedder=embedder).retrieve(request())
    assert ids(response) == ["a#0"]
    assert (response.index.id, response.degraded) == ("i2", [])
    assert (vectors.asked_of, embedder.asked) == (["i1", "i2"], [EMBEDDER, OTHER])


async def test_where_nothing_else_answers_a_failure_is_tried_again_on_the_one_that_serves_by_now() -> None:
    records = FakeRecords([chunk("a#0")])
    vectors = FakeVectors([("a#0", 0.1)], error=RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, "It was switched."))
    switched(records, at=2)
    original = records.before_state

    def mended(call: int) -> None:
        original(call)
        if call == 2:
            vectors.error = None

    records.before_state = mended
    response = await retrieval(records, vectors, FakeKeywords()).retrieve(request(stages=Stages(bm25=False)))
    assert (ids(response), response.index.id) == (["a#0"], "i2")


async def test_an_index_that_is_silent_and_still_serves_is_asked_once() -> None:
    records, vectors = FakeRecords([chunk("a#0")]), FakeVectors()
    response = await retrieval(records, vectors, FakeKeywords([("a#0", 3.0)])).retrieve(request())
    assert (ids(response), vectors.asked_of, records.state_calls) == (["a#0"], ["i1"], 2)


async def test_a_catalog_that_is_gone_by_then_costs_nothing() -> None:
    records = FakeRecords([chunk("a#0")])

    def look(call: int) -> None:
        if call == 2:
            raise RagstoneError(ErrorCode.CATALOG_UNAVAILABLE, "It is away.")

    records.before_state = look
    response = await retrieval(records, FakeVectors(), FakeKeywords([("a#0", 3.0)])).retrieve(request())
    assert ids(response) == ["a#0"]


async def test_a_named_index_never_gives_way() -> None:
    records, vectors = FakeRecords([chunk("a#0")]), FakeVectors([("a#0", 0.1)])
    records.beside[IndexId("old")] = ServingIndex(IndexId("old"), SPACE, EMBEDDER)
    vectors.gone = {"old"}
    response = await retrieval(records, vectors, FakeKeywords([("a#0", 3.0)])).retrieve(request(index="old"))
    assert (response.index.id, vectors.asked_of) == ("old", ["old"])


async def test_a_model_that_cannot_be_loaded_leaves_the_exact_words() -> None:
    embedder = FakeEmbedder(error=RagstoneError(ErrorCode.MODEL_UNAVAILABLE, "Its files were changed."))
    flow = retrieval(
        FakeRecords([chunk("a#0")]), FakeVectors([("a#0", 0.1)]), FakeKeywords([("a#0", 3.0)]), embedder=embedder
    )
    response = await flow.retrieve(request())
    assert (ids(response), response.degraded) == (["a#0"], ["model_unavailable"])
