"""`ragstone calibrate` as it is typed, against a gateway in memory."""

import json
from typing import Any

from tests.contract.local.typed import Ragstone
from tests.unit.local.fakes import NOW, FakeMeasuring


def fitted() -> dict[str, Any]:
    return {
        "id": "c1",
        "index_id": "i1",
        "created_at": NOW,
        "seq": 4,
        "chunks": 90,
        "risk": 0.05,
        "expected_risk": 0.043,
        "expected_coverage": 0.81,
        "asked": {"answerable": 80, "left_out": 79, "off_topic": 130},
        "auroc": {"left_out": 0.912, "off_topic": 0.999},
        "thresholds": {"answerable": 0.617, "gate_distance": 0.7, "fusion": "rrf"},
        "answerability": {"intercept": 0.5, "weights": {"distance": -3.0}},
        "notes": ["The questions are about 9 documents; what to expect of new ones may differ."],
    }


def test_it_waits_and_tells_what_to_expect(apart: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.calibration = fitted()
    done = apart("calibrate", "--risk", "0.1", "--questions", "80")
    assert done.returncode == 0, done.stderr
    assert gateway.asked[0][3] == {"risk": 0.1, "seed": 0, "questions": 80}
    for said in ("0.617", "0.700", "rrf", "(the product's own value)", "0.912", "4.3%", "81%", "about 9 documents"):
        assert said in done.stdout


def test_programs_get_the_whole_state(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.calibration = fitted()
    shown = json.loads(ragstone("calibrate", "--show", "--json", "--space", "handbook").stdout)
    assert shown["calibration"]["thresholds"]["answerable"] == 0.617
    assert [(method, space) for method, _, space, _ in gateway.asked] == [("GET", "handbook")]


def test_too_little_content_is_a_failure_that_says_why(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    done = ragstone("calibrate")
    assert done.returncode == 1
    assert "The content gives 3 questions." in done.stderr
    assert "Not calibrated" in ragstone("calibrate", "--show").stdout


def test_it_is_forgotten_and_begun_in_the_background(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    assert "own values hold" in ragstone("calibrate", "--forget").stdout
    begun = ragstone("calibrate", "--background")
    assert "Job j0 calibrates" in begun.stdout
    assert [method for method, *_ in gateway.asked] == ["DELETE", "POST"]
    assert ragstone("calibrate", "--show", "--forget").returncode == 2
    assert ragstone("calibrate", "--risk", "0").returncode == 2
