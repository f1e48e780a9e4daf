"""The critic's word, the calibrated threshold, and chunks that are to be left out."""

from dataclasses import replace

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId
from services.shared.contracts.search import Stages

from .fakes import (
    TUNING,
    FakeCritic,
    FakeKeywords,
    FakeRecords,
    FakeVectors,
    calibrated,
    chunk,
    ids,
    request,
    retrieval,
)


def down(code: ErrorCode) -> RagstoneError:
    return RagstoneError(code, "It is down.")


async def test_the_critic_judges_by_the_original_question_and_its_no_comes_last_or_not_at_all() -> None:
    critic = FakeCritic()
    critic.relevant = {"a#0": 0.0001}
    flow = retrieval(
        FakeRecords([chunk("a#0"), chunk("b#0")]),
        FakeVectors([("a#0", 0.2)], [("b#0", 0.2)]),
        FakeKeywords(),
        critic=critic,
    )
    asked = request("One?", sub_questions=["Two?"], explain=True)
    full = await flow.retrieve(asked)
    assert critic.asked == [("One?", ["a#0", "b#0"])]
    assert [(p.chunk_id, p.critic) for p in full.passages] == [("b#0", 0.9), ("a#0", 0.0001)]
    assert full.trace is not None
    assert full.trace["drops"] == [], "a page that would not be full shows it all the same"
    strict = await flow.retrieve(asked.model_copy(update={"only_relevant": True}))
    assert ids(strict) == ["b#0"]
    assert strict.trace is not None
    assert [drop["list"] for drop in strict.trace["drops"]] == ["critic"]
    crowded = await flow.retrieve(asked.model_copy(update={"top_k": 1}))
    assert ids(crowded) == ["b#0"]
    off = await flow.retrieve(request("One?", sub_questions=["Two?"], stages=Stages(critic=False)))
    assert (sorted(ids(off)), off.passages[0].critic) == (["a#0", "b#0"], None)


async def test_a_critic_that_drops_everything_leaves_nothing_to_answer_from() -> None:
    critic = FakeCritic()
    critic.relevant = {"a#0": 0.0}
    flow = retrieval(FakeRecords([chunk("a#0")]), FakeVectors([("a#0", 0.2)]), FakeKeywords(), critic=critic)
    response = await flow.retrieve(request(explain=True, only_relevant=True))
    assert (response.passages, response.verdict.gate, response.verdict.answerable) == ([], "poor", 0.0)
    assert response.trace is not None
    assert response.trace["miss"]["cause"] == "critic"


async def test_a_critic_that_fails_is_left_out_and_said() -> None:
    critic = FakeCritic(error=down(ErrorCode.MODEL_UNAVAILABLE))
    flow = retrieval(FakeRecords([chunk("a#0")]), FakeVectors([("a#0", 0.2)]), FakeKeywords(), critic=critic)
    response = await flow.retrieve(request())
    assert (ids(response), response.degraded) == (["a#0"], ["critic_unavailable"])


async def test_a_calibrated_threshold_makes_a_good_gate_poor() -> None:
    records = FakeRecords([chunk("a#0")])
    flow = retrieval(records, FakeVectors([("a#0", 0.2)]), FakeKeywords())
    assert (await flow.retrieve(request())).verdict.threshold is None
    for threshold, gate in ((0.70, "good"), (0.72, "poor")):
        records.calibration = calibrated(answerable=threshold)
        verdict = (await flow.retrieve(request())).verdict
        assert (verdict.gate, verdict.threshold) == (gate, threshold)
        assert verdict.answerable == pytest.approx(0.7109, abs=1e-4), "by the calibration's own logistic"
    off = await flow.retrieve(request(stages=Stages(gate=False)))
    assert off.verdict.gate == "good"


async def test_a_threshold_that_would_silence_too_much_is_not_in_force() -> None:
    records = FakeRecords([chunk("a#0")])
    records.calibration = calibrated(enforced=False, answerable=0.99)
    flow = retrieval(records, FakeVectors([("a#0", 0.2)]), FakeKeywords())
    verdict = (await flow.retrieve(request())).verdict
    assert (verdict.gate, verdict.threshold, verdict.answerable) == ("good", None, 0.8)


async def test_a_threshold_by_hand_is_held_against_the_probabilities_that_the_calibration_shows() -> None:
    records = FakeRecords([chunk("a#0")])
    records.calibration = calibrated(enforced=False, answerable=0.99)
    by_hand = replace(TUNING, answerable=0.75)
    flow = retrieval(records, FakeVectors([("a#0", 0.2)]), FakeKeywords(), tuning=by_hand)
    verdict = (await flow.retrieve(request())).verdict
    assert (verdict.gate, verdict.threshold) == ("poor", 0.75)
    assert verdict.answerable == pytest.approx(0.7109, abs=1e-4)
    records.calibration = None
    assert (await flow.retrieve(request())).verdict.answerable == 0.8


async def test_five_are_the_beginning_of_fifty_whatever_the_critic_says() -> None:
    chunks = [chunk(f"c{n:02d}#0") for n in range(40)]
    critic = FakeCritic()
    critic.relevant = {f"c{n:02d}#0": 0.0001 for n in range(1, 40)}
    pairs = [(one.id, 0.1 + 0.01 * n) for n, one in enumerate(chunks)]
    flow = retrieval(FakeRecords(chunks), FakeVectors(pairs), FakeKeywords(), critic=critic)
    plain = Stages(diversity=False)
    few, many = [await flow.retrieve(request(top_k=k, stages=plain)) for k in (5, 40)]
    assert ids(few) == ids(many)[:5]
    scores = [passage.score for passage in many.passages]
    assert scores == sorted(scores, reverse=True)
    assert ids(await flow.retrieve(request(top_k=40, stages=plain, only_relevant=True))) == ["c00#0"]


async def test_what_is_set_by_hand_wins_over_what_was_calibrated() -> None:
    records = FakeRecords([chunk("a#0")])
    records.calibration = calibrated(gate_distance=0.1)
    near = FakeVectors([("a#0", 0.2)])
    assert (await retrieval(records, near, FakeKeywords()).retrieve(request())).verdict.gate == "poor"
    by_hand = replace(TUNING, gate_distance=0.3)
    assert (await retrieval(records, near, FakeKeywords(), tuning=by_hand).retrieve(request())).verdict.gate == "good"


async def test_chunks_that_are_left_out_are_as_if_not_there() -> None:
    flow = retrieval(
        FakeRecords([chunk("a#0"), chunk("b#0")]),
        FakeVectors([("a#0", 0.2), ("b#0", 0.3)]),
        FakeKeywords([("a#0", 5.0), ("b#0", 2.0)]),
    )
    assert ids(await flow.retrieve(request(without=[ChunkId("a#0")]))) == ["b#0"]
