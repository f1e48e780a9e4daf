"""`ragstone eval --against … --veto` and `eval compare --veto`, against a gateway in memory."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.local.served import started
from tests.contract.local.typed import Ragstone
from tests.unit.local.fakes import FakeMeasuring, a_comparison, a_golden_question, an_evaluation


@pytest.mark.parametrize(("vetoed", "asked", "code"), [(True, True, 1), (True, False, 0), (False, True, 0)])
def test_a_veto_fails_only_where_it_was_asked_for_and_names_the_metric(
    ragstone: Ragstone, gateway: FakeMeasuring, *, vetoed: bool, asked: bool, code: int
) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    gateway.evaluation = an_evaluation(comparison=a_comparison(vetoed=vetoed))
    done = ragstone("eval", "--against", "last", *(["--veto"] if asked else []))
    assert done.returncode == code, done.stderr
    assert started(gateway)["against"] == "last"
    assert ("Vetoed: ndcg@10 got worse." in done.stdout) == (code == 1)
    assert "worse  q1: Question 1?" in done.stdout


def test_a_kept_evaluation_can_be_what_it_is_compared_with(
    ragstone: Ragstone, gateway: FakeMeasuring, tmp_path: Path
) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    gateway.evaluation = an_evaluation("e1", 0.1, questions=30)
    (tmp_path / "before.json").write_text(json.dumps(an_evaluation("e0", 0.9, questions=30)))
    done = ragstone("eval", "--against", "before.json", "--veto")
    assert done.returncode == 1, done.stderr
    assert "against" not in started(gateway), "the server has never seen that one"
    assert "Vetoed: ndcg@10 got worse." in done.stdout
    kept = json.loads((tmp_path / "state" / "evaluations" / "e1" / "evaluation.json").read_text())
    assert kept["comparison"]["before_id"] == "e0"


def test_kept_evaluations_are_compared_without_a_gateway(ragstone: Ragstone, tmp_path: Path) -> None:
    for n, score in enumerate((0.9, 0.1)):
        (tmp_path / f"{n}.json").write_text(json.dumps(an_evaluation(f"e{n}", score, questions=30)))
    same = ragstone("eval", "compare", "0.json", "0.json", "--veto", "--url", "127.0.0.1:1")
    assert same.returncode == 0, same.stderr
    worse = ragstone("eval", "compare", "0.json", "1.json", "--veto", "--url", "127.0.0.1:1")
    assert worse.returncode == 1, worse.stderr
    assert "Vetoed: ndcg@10 got worse." in worse.stdout
    assert ragstone("eval", "compare", "0.json", "e9").returncode == 1


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (an_evaluation("e0", questions=30) | {"questions": []}, "the two runs have no question in common"),
        (
            an_evaluation("e0", questions=30) | {"outcomes": [{"question_id": "q1"}]},
            "the two runs have no metric in common",
        ),
        (an_evaluation("e0", questions=61), "only 30 of the 61 questions of the run before were asked again"),
    ],
)
def test_a_veto_with_too_little_to_look_at_refuses(
    ragstone: Ragstone, gateway: FakeMeasuring, tmp_path: Path, before: dict[str, Any], said: str
) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    gateway.evaluation = an_evaluation("e1", questions=30)
    for name, one in (("before.json", before), ("after.json", gateway.evaluation)):
        (tmp_path / name).write_text(json.dumps(one))
    for words in (["--against", "before.json"], ["compare", "before.json", "after.json", "--url", "127.0.0.1:1"]):
        refused = ragstone("eval", *words, "--veto")
        assert refused.returncode == 1, refused.stderr
        assert f"Refused: {said}" in refused.stdout
        assert ragstone("eval", *words).returncode == 0, "without a veto it is only shown"


def test_a_veto_for_an_answer_that_should_be_declined_names_the_question(
    apart: Ragstone, gateway: FakeMeasuring
) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    gave_in = a_comparison(vetoed=False) | {"gave_in": ["q7"], "vetoed": True}
    gateway.evaluation = an_evaluation(comparison=gave_in)
    done = apart("eval", "--against", "last", "--veto")
    assert done.returncode == 1, done.stderr
    assert "Vetoed: q7 should be declined" in done.stdout


def test_a_veto_of_a_part_says_how_many(ragstone: Ragstone, tmp_path: Path) -> None:
    for n, questions in enumerate((60, 30)):
        (tmp_path / f"{n}.json").write_text(json.dumps(an_evaluation(f"e{n}", questions=questions)))
    done = ragstone("eval", "compare", "0.json", "1.json", "--veto", "--url", "127.0.0.1:1")
    assert done.returncode == 0, done.stdout
    assert "Only 30 of the 60 questions of the run before could be compared." in done.stdout


def test_the_first_run_of_a_set_is_warned_and_passes(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    done = ragstone("eval", "--against", "last", "--veto")
    assert done.returncode == 0, done.stderr
    assert "has asked any of these questions before" in " ".join(done.stdout.split())
