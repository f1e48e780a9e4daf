"""`ragstone golden` and `feedback` as they are typed, against a gateway in memory."""

from pathlib import Path

import pytest

from tests.contract.local.served import started
from tests.contract.local.typed import Ragstone
from tests.unit.local.fakes import FakeMeasuring, a_golden_question


def test_proposals_are_written_once_and_taken_back(ragstone: Ragstone, gateway: FakeMeasuring, tmp_path: Path) -> None:
    gateway.golden += [a_golden_question(f"g{n}", "proposed") for n in range(3)]
    made = ragstone("golden", "make", "--limit", "7")
    assert made.returncode == 0, made.stderr
    assert "3 questions wait for review in golden-review.yaml." in made.stdout
    again = ragstone("golden", "make")
    assert again.returncode == 1
    assert "is there already" in again.stderr
    assert [body for _, path, _, body in gateway.asked if path == "/v1/golden/make"] == [
        {"limit": 7, "seed": 0, "by_model": False}
    ]
    taken = ragstone("golden", "import", "golden-review.yaml")
    assert taken.returncode == 0, taken.stderr
    sent = gateway.asked[-1][3]["items"]
    assert [item["question"]["id"] for item in sent] == ["g0", "g1", "g2"]
    assert sent[0]["question"]["gold"][0]["quote"] == "One month."
    assert "3 added" in taken.stdout


def test_what_is_exported_as_lines_can_be_asked(ragstone: Ragstone, gateway: FakeMeasuring, tmp_path: Path) -> None:
    gateway.golden += [
        a_golden_question("g0", "approved"),
        a_golden_question("g1"),
        a_golden_question("g2", "approved"),
    ]
    assert ragstone("golden", "export", "set.jsonl").returncode == 0
    assert ragstone("eval", "--questions", "set.jsonl").returncode == 0
    assert [question["id"] for question in started(gateway)["questions"]] == ["g0", "g2"]
    assert started(gateway)["questions"][0]["facts"] == [["one month", "a month"]]


def test_golden_questions_are_listed_for_people(apart: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.golden += [a_golden_question("g0", "approved", "Its passage changed."), a_golden_question("g1")]
    listed = apart("golden", "list").stdout
    assert "Its passage changed." in listed
    assert "1 approved, 1 flagged, 1 proposed" in listed


def test_what_people_said_is_corrected_or_laid_aside(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    assert "Why?" in ragstone("feedback", "list", "--state", "open").stdout
    assert "state=open" in gateway.asked[-1][1]
    words = ["--expected", "One month.", "--fact", "one month | 30 days", "--fact", "notice", "--must-not", "never"]
    assert "golden question feedback-f1" in ragstone("feedback", "correct", "f1", *words).stdout
    assert gateway.asked[-1][3]["facts"] == [["one month", "30 days"], ["notice"]]
    assert gateway.asked[-1][3]["must_not"] == ["never"]
    assert ragstone("feedback", "correct", "f1", "--abstain").returncode == 0
    assert gateway.asked[-1][3]["behaviour"] == "abstain"
    assert ragstone("feedback", "dismiss", "f1").stdout == "Dismissed f1.\n"
    assert ragstone("golden", "remove", "g1").stdout == "Removed g1.\n"


def test_proposals_are_not_written_where_a_yes_or_no_has_no_place(
    ragstone: Ragstone, gateway: FakeMeasuring, tmp_path: Path
) -> None:
    for name in ("x.jsonl", "x.NDJSON"):
        refused = ragstone("golden", "make", "--out", name)
        assert refused.returncode == 1
        assert "Name a file that ends in .yaml or .yml" in refused.stderr
        assert not (tmp_path / name).exists()
    assert gateway.asked == []


def test_an_export_says_what_it_left_out(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.golden += [a_golden_question("g0", "approved"), a_golden_question("g1")]
    assert "1 are left out" in ragstone("golden", "export", "x.jsonl").stdout
    assert "left out" not in ragstone("golden", "export", "x.yaml").stdout


def test_what_a_visitor_said_does_not_steer_the_terminal(apart: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.said = {"question": "Why?\x1b]0;mine\x07\x1b[2J", "comment": "\u202eno"}
    listed = apart("feedback", "list").stdout
    assert "Why?" in listed
    assert not {"\x1b", "\x07", "\u202e"} & set(listed)


@pytest.mark.parametrize(
    "words", [["eval", "show", "../../etc"], ["golden", "remove", "."], ["feedback", "dismiss", ""], ["jobs", ".."]]
)
def test_a_step_that_is_no_id_is_told_so(ragstone: Ragstone, gateway: FakeMeasuring, words: list[str]) -> None:
    refused = ragstone(*words)
    assert refused.returncode == 1
    assert "is no id" in refused.stderr
    assert gateway.spaces == set(), "nobody was asked"
