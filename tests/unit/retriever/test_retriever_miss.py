"""For a document that was expected and is not there: the stage that lost it."""

from typing import Any

import pytest

from services.retriever.domain.hits import Chunk
from services.shared.contracts.ids import DocumentId
from services.shared.contracts.search import Filters, RetrieveRequest

from .fakes import SPACE, FakeCritic, FakeKeywords, FakeRecords, FakeVectors, chunk, retrieval

TWELVE = [chunk(f"n{n:02d}#0") for n in range(12)]


async def miss(
    expect: str | None,
    vectors: FakeVectors,
    keywords: FakeKeywords | None = None,
    critic: FakeCritic | None = None,
    chunks: list[Chunk] | None = None,
    **fields: Any,
) -> dict[str, str] | None:
    flow = retrieval(FakeRecords(chunks or [chunk("d#0"), *TWELVE]), vectors, keywords or FakeKeywords(), critic=critic)
    document = None if expect is None else DocumentId(expect)
    response = await flow.retrieve(
        RetrieveRequest(space=SPACE, question="Who won?", explain=True, expect=document, **fields)
    )
    assert response.trace is not None
    found: dict[str, str] | None = response.trace["miss"]
    return found


NEAR = [(one.id, 0.1 + 0.01 * n) for n, one in enumerate(TWELVE)]


async def test_what_is_shown_is_no_miss() -> None:
    assert await miss("d", FakeVectors([("d#0", 0.1)])) is None
    assert await miss(None, FakeVectors([("d#0", 0.1)])) is None


@pytest.mark.parametrize(
    ("cause", "expect", "lists", "fields"),
    [
        ("not_ingested", "nobody", NEAR, {}),
        ("too_far", "d", NEAR, {}),
        ("crowded_out", "d", [*NEAR[:7], ("d#0", 0.4)], {}),
        ("crowded_out", "d", [*NEAR, ("d#0", 0.4)], {}),
        ("gate", "d", [("d#0", 0.9)], {}),
        ("filter", "d", NEAR, {"filters": Filters(tags=["x"])}),
    ],
)
async def test_the_stage_that_lost_it(
    cause: str, expect: str, lists: list[tuple[str, float]], fields: dict[str, Any]
) -> None:
    found = await miss(expect, FakeVectors(lists), **fields)
    assert found is not None
    assert found["cause"] == cause
    assert found["why"]


async def test_the_critic_and_the_floor_are_named() -> None:
    critic = FakeCritic()
    critic.relevant = {"d#0": 0.0001}
    found = await miss("d", FakeVectors([("d#0", 0.05), *NEAR]), critic=critic)
    assert found is not None
    assert found["cause"] == "critic"
    silent = FakeKeywords([("d#0", 1.0)])
    silent.covered = {"d#0": 0.01}
    found = await miss("d", FakeVectors(NEAR), silent)
    assert found is not None
    assert found["cause"] == "floor"


async def test_a_type_filter_is_named_with_both_types() -> None:
    vectors = FakeVectors([("n00#0", 0.2), ("d#0", 0.21)])
    vectors.types = {"n00#0": "note", "d#0": "policy"}
    chunks = [chunk("n00#0", type="note"), chunk("d#0", type="policy")]
    found = await miss("d", vectors, chunks=chunks, filters=Filters(type="note"))
    assert found is not None
    assert found["cause"] == "type_filter"
    assert "'policy'" in found["why"]
    assert "'note'" in found["why"]


async def test_a_fallback_says_that_the_type_was_the_cause() -> None:
    vectors = FakeVectors([("n00#0", 0.2)])
    vectors.types = {"n00#0": "note"}
    found = await miss(None, vectors, chunks=[chunk("n00#0", type="note")], filters=Filters(type="policy"))
    assert found is not None
    assert found["cause"] == "type_filter"


async def test_a_copy_and_what_was_left_out_are_named() -> None:
    text = "One and the same sentence, which stands in two of the documents here."
    chunks = [chunk("n00#0", text), chunk("d#0", text)]
    vectors = FakeVectors([("n00#0", 0.1), ("d#0", 0.2)])
    found = await miss("d", vectors, chunks=chunks)
    assert found is not None
    assert found["cause"] == "near_duplicate"
    found = await miss("d", vectors, chunks=chunks, without=["d#0"])
    assert found is not None
    assert found["cause"] == "left_out"
