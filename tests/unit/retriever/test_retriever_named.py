"""A wording with the subject's name decides whether there is an answer; the other one ranks."""

import pytest

from services.retriever.domain.hits import Hit, RankedList
from services.retriever.domain.judged import Candidate, as_named
from services.shared.contracts.ids import ChunkId

from .fakes import (
    FakeCritic,
    FakeEmbedder,
    FakeKeywords,
    FakeRecords,
    FakeVectors,
    chunk,
    ids,
    request,
    retrieval,
)


@pytest.mark.parametrize(("near", "gate"), [(0.4, "good"), (0.8, "poor")])
async def test_the_named_wording_decides_the_gate_and_ranks_nothing(near: float, gate: str) -> None:
    embedder = FakeEmbedder()
    flow = retrieval(
        FakeRecords([chunk("a#0"), chunk("b#0")]),
        FakeVectors([("a#0", 0.7)], [("b#0", near)]),
        FakeKeywords(),
        embedder=embedder,
    )
    response = await flow.retrieve(request("Does she sing?", named="Does Ann sing?", explain=True))
    assert embedder.batches == [["Does she sing?", "Does Ann sing?"]]
    assert ids(response) == ["a#0"]
    assert (response.verdict.gate, response.sub_questions) == (gate, [])
    assert response.trace is not None
    assert (response.trace["named"], list(response.trace["lists"])) == ("Does Ann sing?", ["vector:0", "bm25:0"])


@pytest.mark.parametrize("named", [None, "", " ", "Who won?"])
async def test_a_named_wording_that_says_nothing_new_is_not_searched(named: str | None) -> None:
    embedder = FakeEmbedder()
    await retrieval(FakeRecords([chunk("a#0")]), FakeVectors(), FakeKeywords(), embedder=embedder).retrieve(
        request(named=named)
    )
    assert embedder.batches == [["Who won?"]]


async def test_the_named_wording_says_whether_it_is_answered_and_the_other_what_is_relevant() -> None:
    critic = FakeCritic()
    flow = retrieval(
        FakeRecords([chunk("a#0"), chunk("b#0")]),
        FakeVectors([("a#0", 0.5), ("b#0", 0.6)], [("b#0", 0.2)]),
        FakeKeywords(),
        critic=critic,
    )
    await flow.retrieve(request("Does she sing?", named="Does Ann sing?"))
    assert critic.asked == [("Does she sing?", ["a#0", "b#0"]), ("Does Ann sing?", ["a#0", "b#0"])]


def test_a_candidate_is_as_near_as_the_named_list_says() -> None:
    seen = [Candidate(chunk("a#0"), 0.5, 3.0, 1, 1), Candidate(chunk("b#0"), 0.6, None, 2, None)]
    near = [RankedList("vector", 1, (Hit(ChunkId("c#0"), 0.1), Hit(ChunkId("b#0"), 0.2)))]
    assert as_named(seen, near) == [seen[0], Candidate(chunk("b#0"), 0.2, None, 2, None)]
    assert as_named(seen, []) == seen
