"""Distances of different embedders on one scale."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.retriever.domain.fusion import Fusion, fuse
from services.retriever.domain.gate import Evidence, answerable_by_lists
from services.retriever.domain.hits import Covered, Hit, RankedList
from services.retriever.domain.limits import GATE_DISTANCE, limits_for
from services.retriever.domain.scale import COMMON, SCALES, Scale, scale_of
from services.shared.contracts.ids import ChunkId

from .fakes import EMBEDDER, TUNING, FakeKeywords, FakeRecords, FakeVectors, calibrated, chunk, request, retrieval

E5 = SCALES["multilingual-e5-small"]
e5_records = FakeRecords([chunk("a#0")], embedder=replace(EMBEDDER, name="multilingual-e5-small"))


@given(st.floats(0, 2), st.floats(0, 2), st.sampled_from([COMMON, *SCALES.values(), Scale(-0.1, 0.5)]))
def test_nearer_stays_nearer_and_nothing_leaves_the_range(a: float, b: float, scale: Scale) -> None:
    near, far = sorted((a, b))
    assert 0 <= scale.common(near) <= scale.common(far) <= 2
    assert 0 <= scale.own(near) <= scale.own(far) <= 2


@given(st.floats(0.05, 1.2))
def test_there_and_back_again(common: float) -> None:
    assert E5.common(E5.own(common)) == pytest.approx(common)


def test_an_embedder_is_known_by_the_last_part_of_its_name() -> None:
    assert scale_of("multilingual-e5-small") is scale_of("/models/multilingual-e5-small/") is E5
    assert scale_of("all-MiniLM-L6-v2") is scale_of("nobody/knows-it") is COMMON


@pytest.mark.parametrize(("distance", "gate"), [(0.13, "good"), (0.24, "poor")])
async def test_the_gate_neither_passes_nor_stops_everything_of_an_embedder_whose_texts_lie_close(
    distance: float, gate: str
) -> None:
    keywords = FakeKeywords([("a#0", 0.1)])
    keywords.covered = {"a#0": 0.2}
    response = await retrieval(e5_records, FakeVectors([("a#0", distance)]), keywords).retrieve(request())
    assert response.verdict.gate == gate
    assert response.passages[0].distance == distance, "what is shown is the embedder's own"


def test_a_calibrated_limit_and_one_by_hand_are_the_embedders_own() -> None:
    fitted = calibrated(gate_distance=0.2)
    assert limits_for(TUNING, fitted, None, E5).gate_distance == 0.2
    assert limits_for(replace(TUNING, gate_distance=0.3), fitted, None, E5).gate_distance == 0.3
    assert limits_for(TUNING, None, None, E5).gate_distance == pytest.approx(E5.own(GATE_DISTANCE))


def test_the_probability_by_lists_goes_by_the_common_scale() -> None:
    def likely(distance: float, scale: Scale) -> float:
        return answerable_by_lists(Evidence(distance, Covered(0.5, 1.0), vectors_asked=True), scale)

    assert likely(E5.own(0.4), E5) == pytest.approx(likely(0.4, COMMON))
    assert likely(0.25, E5) < 0.5 < likely(0.25, COMMON)


def test_a_short_list_of_close_texts_still_tells_near_from_far() -> None:
    near = RankedList("vector", 0, (Hit(ChunkId("a"), 0.12), Hit(ChunkId("b"), 0.25)))
    as_it_is, scaled = (fuse([near], Fusion.RELATIVE, scale=scale) for scale in (COMMON, E5))
    assert as_it_is[1].score / as_it_is[0].score > 0.8
    assert scaled[1].score / scaled[0].score < 0.6
    assert [one.distance for one in scaled] == [0.12, 0.25]
