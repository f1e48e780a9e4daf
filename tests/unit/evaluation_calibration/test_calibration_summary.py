"""From what was seen to a calibration: what counts, what it promises, and what an owner is told."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from services.shared.contracts.calibration import Calibration
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId
from services.shared.evaluation.calibration.cases import Asked, Case, Kind, Seen
from services.shared.evaluation.calibration.summary import (
    CUT_MOST,
    FLOOR_MOST,
    Occasion,
    TooLittle,
    best_fusion,
    calibrated,
)

INDEX = IndexId("i1")
OCCASION = Occasion("c1", INDEX, datetime(2026, 3, 1, tzinfo=UTC), chunks=500, risk=0.05, seed=0)


def asked(kind: Kind, n: int, distance: float, documents: int = 40, **seen: Any) -> Asked:
    near = distance + random.Random(f"{kind} {n}").gauss(0, 0.02)
    document = None if kind is Kind.OFF_TOPIC else DocumentId(f"d{n % documents}")
    gold = [] if document is None else [ChunkId(f"{document}-{n}")]
    case = Case(kind=kind, question=f"{kind} {n}?", document_id=document, gold=gold, holders=gold)
    told: dict[str, Any] = {
        "index_id": INDEX,
        "seq": 9 + n,
        "features": {"distance": near, "coverage": 1 - near},
        "distance": near,
        "coverage": 1 - near,
        "found": True if kind is Kind.ANSWERABLE else None,
    }
    return Asked(case, Seen(**(told | seen)))


def _silent(n: int) -> Asked:
    found = asked(Kind.OFF_TOPIC, n, 0.9)
    return Asked(found.case, Seen(index_id=INDEX, seq=9))


def apart(number: int = 100, documents: int = 40, between: float = 0.3) -> list[Asked]:
    """Questions whose distances tell them apart, as far as ``between`` allows."""
    return [
        asked(kind, n, 0.3 + far * between, documents)
        for kind, far in ((Kind.ANSWERABLE, 0.0), (Kind.LEFT_OUT, 1.0), (Kind.OFF_TOPIC, 1.5))
        for n in range(number)
    ]


def told(one: Calibration) -> str:
    return "\n".join(one.notes)


def test_what_is_told_apart_is_answered_and_turned_away() -> None:
    one = calibrated(apart(), OCCASION)
    assert (one.seq, one.chunks, one.risk) == (9, 500, 0.05)
    assert one.asked == {"answerable": 100, "left_out": 100, "near_miss": 0, "off_topic": 100}
    assert one.expected_risk < 0.02
    assert one.expected_coverage > 0.95
    assert one.auroc == {"left_out": pytest.approx(1.0), "off_topic": pytest.approx(1.0)}
    assert one.thresholds.answerable is not None
    assert one.thresholds.gate_distance == pytest.approx(0.68, abs=0.06)
    assert one.thresholds.bm25_floor == FLOOR_MOST, "the made questions lie higher than visitors' would"
    assert one.enforced
    assert one.thresholds.critic_cut is None, "there was no critic"
    assert one.notes == []


def test_a_critic_gets_its_cut() -> None:
    cases = [Asked(one.case, one.seen.model_copy(update={"critic": 0.9 if one.answerable else 0.2})) for one in apart()]
    assert calibrated(cases, OCCASION).thresholds.critic_cut == CUT_MOST


def test_the_better_fusion_is_kept_where_it_is_no_chance() -> None:
    assert best_fusion([{"rrf": 0.5, "relative": 1.0}] * 12 + [{"rrf": 1.0, "relative": 1.0}] * 60, 0) == "relative"
    assert best_fusion([{"rrf": 1.0, "relative": 0.5}] * 12 + [{"rrf": 1.0, "relative": 1.0}] * 60, 0) == "rrf"
    assert best_fusion([{"rrf": 1.0, "relative": 0.5}] * 2 + [{"rrf": 1.0, "relative": 1.0}] * 60, 0) is None
    assert best_fusion([{"rrf": 1.0}, {}], 0) is None
    assert calibrated(apart(), OCCASION).thresholds.fusion is None


def test_what_was_skipped_or_missed_does_not_teach() -> None:
    odd = [asked(Kind.ANSWERABLE, 500 + n, 0.95, found=False) for n in range(30)]
    odd += [asked(Kind.LEFT_OUT, 600 + n, 0.1, skipped="its passage changed meanwhile") for n in range(30)]
    plain, one = calibrated(apart(), OCCASION), calibrated([*apart(), *odd], OCCASION)
    assert one.asked["answerable"] == 130
    assert one.asked["left_out"] == 100
    assert one.thresholds.gate_distance == pytest.approx(plain.thresholds.gate_distance, abs=0.05)
    assert one.expected_coverage == pytest.approx(100 / 130, abs=0.04), "not found is not answered, and counts"
    assert "30 of 130 answerable questions did not find their passage" in told(one)


def test_what_found_nothing_is_turned_away() -> None:
    none = [_silent(900 + n) for n in range(50)]
    one = calibrated([*apart(), *none], OCCASION)
    assert one.asked["off_topic"] == 150
    assert one.expected_coverage > 0.95


@pytest.mark.parametrize(("number", "which"), [(59, "that it answers"), (0, "that it answers")])
def test_too_few_questions_are_refused(number: int, which: str) -> None:
    with pytest.raises(TooLittle, match=f"gives {number} questions {which}, and 60 are the least"):
        calibrated(apart(number), OCCASION)


def test_questions_about_one_passage_cannot_be_held_out() -> None:
    same = [
        Asked(one.case.model_copy(update={"document_id": DocumentId("d"), "gold": [ChunkId("d-0")]}), one.seen)
        for one in apart()
        if one.case.kind is not Kind.OFF_TOPIC
    ]
    with pytest.raises(TooLittle, match="none can be held out"):
        calibrated(same, OCCASION)


def test_what_cannot_be_told_apart_sets_no_threshold_and_says_so() -> None:
    one = calibrated(apart(between=0.0), OCCASION)
    assert one.thresholds.answerable is None
    assert one.expected_risk == pytest.approx(0.5)
    assert one.expected_coverage == 1.0
    assert "No threshold keeps to a risk of 5%" in told(one)


def test_a_dear_risk_is_told_with_a_cheaper_one() -> None:
    one = calibrated(apart(number=200, between=0.05), replace(OCCASION, risk=0.01))
    assert one.expected_coverage < 0.5
    assert "With `ragstone calibrate --risk" in told(one)
    dearer = calibrated(apart(number=200, between=0.05), replace(OCCASION, risk=0.2))
    assert dearer.expected_coverage > one.expected_coverage


def test_few_documents_are_told_of() -> None:
    assert "about 5 documents" in told(calibrated(apart(documents=5), OCCASION))
