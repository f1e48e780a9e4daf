"""`ragstone eval` as it is typed, against a gateway in memory."""

import json
import signal
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from services.local import patience
from services.local.api import Unreachable
from services.local.cli import app
from tests.contract.local.served import Start, served, started
from tests.contract.local.typed import Ragstone
from tests.unit.local.fakes import FakeMeasuring, a_golden_question


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A small data set in BEIR's form."""
    folder = tmp_path / "My Set"
    folder.mkdir()
    documents = [{"_id": f"d{n}", "title": f"T{n}", "text": f"about {n}"} for n in range(3)]
    queries = [{"_id": f"q{n}", "text": f"What is {n}?"} for n in range(3)]
    for name, rows in (("corpus.jsonl", documents), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(f"q{n}\td{n}\t1\n" for n in range(3)))
    return folder


def test_alone_it_asks_the_golden_set_and_keeps_three_files(
    apart: Ragstone, gateway: FakeMeasuring, tmp_path: Path
) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    done = apart("eval")
    assert done.returncode == 0, done.stderr
    assert started(gateway)["subject"] == "all"
    assert "questions" not in started(gateway)
    kept = tmp_path / "state" / "evaluations" / "e1"
    assert (kept / "report.md").read_text().startswith("# ")
    assert "<svg" in (kept / "report.html").read_text()
    assert json.loads((kept / "evaluation.json").read_text())["id"] == "e1"
    assert "state/evaluations/e1/report.html" in done.stdout
    assert "Right answers" in done.stdout
    assert "70 to 90 %" in " ".join(done.stdout.split())


def test_a_data_set_goes_into_a_space_of_its_own_first(ragstone: Ragstone, gateway: FakeMeasuring, data: Path) -> None:
    done = ragstone("eval", "retrieval", "--data", data.name, "--ablate", "--no-judge", "--seed", "4", "--risk", "0.1")
    assert done.returncode == 0, done.stderr
    assert set(gateway.documents) == {"d0", "d1", "d2"}
    assert gateway.spaces == {"eval-my-set"}
    body = started(gateway)
    assert (body["subject"], body["name"], body["ablate"], body["judge"]) == ("retrieval", "My Set", True, False)
    assert (body["seed"], body["risk"]) == (4, 0.1)
    assert body["top_k"] == 100, "published figures reach that deep"
    assert body["questions"][1]["gold"] == [{"document_id": "d1", "grade": 1}]


def test_a_sample_is_named_as_one_and_documents_may_be_there_already(
    ragstone: Ragstone, gateway: FakeMeasuring, data: Path
) -> None:
    done = ragstone("eval", "retrieval", data.name, "--no-ingest", "--limit", "2", "--space", "mine")
    assert done.returncode == 0, done.stderr
    assert (gateway.documents, gateway.spaces) == ({}, {"mine"})
    assert started(gateway)["name"] == "My Set (sample of 2, seed 0)"
    assert len(started(gateway)["questions"]) == 2


def test_a_sample_of_the_golden_set_holds_only_what_may_be_asked(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.golden += [a_golden_question(f"g{n}", "approved", None if n else "It changed.") for n in range(4)]
    gateway.golden.append(a_golden_question("p"))
    assert ragstone("eval", "--limit", "2").returncode == 0
    asked = {question["id"] for question in started(gateway)["questions"]}
    assert len(asked) == 2
    assert asked <= {"g1", "g2", "g3"}


def test_a_corpus_that_is_not_whole_is_not_measured(ragstone: Ragstone, gateway: FakeMeasuring, data: Path) -> None:
    with (data / "corpus.jsonl").open("a") as corpus:
        corpus.write('{"_id": "worse", "text": "bad"}\n')
    done = ragstone("eval", "--data", data.name)
    assert done.returncode == 1
    assert "1 documents of My Set failed, so nothing was evaluated (worse: It is bad.)" in done.stderr
    assert not any(path == "/v1/evaluations" for _, path, _, _ in gateway.asked)


def test_documents_of_others_in_the_space_are_told(ragstone: Ragstone, gateway: FakeMeasuring, data: Path) -> None:
    gateway.hold("stranger", b"x", None)
    assert "holds 1 documents that are not of My Set" in ragstone("eval", "--data", data.name).stdout


def test_an_empty_golden_set_says_what_to_do(ragstone: Ragstone) -> None:
    for words in (["eval"], ["eval", "--limit", "3"]):
        refused = ragstone(*words)
        assert refused.returncode == 1
        assert "golden import FILE" in refused.stderr
        assert "--data FOLDER" in refused.stderr


def test_in_the_background_the_id_is_all(ragstone: Ragstone, gateway: FakeMeasuring, data: Path) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    done = ragstone("eval", "answers", "--background", "--json")
    assert json.loads(done.stdout) == {"id": "e1", "job_id": "j0", "questions": 1}
    assert gateway.jobs["j0"]["looks"] == 0
    assert "ragstone eval show e1 --space eval-my-set" in ragstone("eval", "--data", data.name, "--background").stdout


def test_programs_get_one_value(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    found = json.loads(ragstone("eval", "--json").stdout)
    assert found["summary"]["values"]["right"]["mean"] == 0.8
    assert found["files"]["json"] == "state/evaluations/e1/evaluation.json"
    assert "outcomes" not in found


def test_a_job_that_failed_says_why(apart: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    gateway.failing = "The gateway did not answer."
    failed = apart("eval", "--json")
    assert failed.returncode == 1
    detail = f"{gateway.failing} `ragstone jobs j0 --retry` goes on with it."
    assert json.loads(failed.stdout)["error"] == {"code": "evaluation_failed", "detail": detail}


def test_ctrl_c_cancels_the_job(start: Start, gateway: FakeMeasuring) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    gateway.stuck = True
    process = start("eval")
    deadline = time.monotonic() + 30
    while not any(job["looks"] > -1_000_000 for job in gateway.jobs.values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, complained = process.communicate(timeout=30)
    assert process.returncode == 130
    assert gateway.cancelled == ["j0"]
    assert "asked to cancel evaluation e1" in complained


def test_a_gateway_that_is_restarted_meanwhile_does_not_end_it(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    gateway.away = 3
    done = ragstone("eval")
    assert done.returncode == 0, done.stderr
    assert gateway.away == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["eval"], "`ragstone eval show e1 --out FOLDER` gets the report"),
        (["golden", "make"], "golden export FILE.yaml"),
    ],
)
def test_one_that_stays_away_is_given_up_with_the_way_to_the_result(
    gateway: FakeMeasuring, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], said: str
) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    gateway.away = 1_000_000
    monkeypatch.setattr(patience, "AWAY_S", 0.1)
    monkeypatch.chdir(tmp_path)
    with served(gateway) as url:
        given_up = CliRunner().invoke(app, [*words, "--url", url])
    assert isinstance(given_up.exception, Unreachable)
    assert "`ragstone jobs j0 --watch`" in str(given_up.exception)
    assert said in str(given_up.exception)


def test_a_job_is_cancelled_and_begun_again(ragstone: Ragstone, gateway: FakeMeasuring) -> None:
    gateway.golden.append(a_golden_question("g", "approved"))
    assert ragstone("eval", "--background").returncode == 0
    assert ragstone("jobs", "j0", "--cancel").returncode == 0
    assert ragstone("jobs", "j0", "--retry", "--watch").returncode == 0
    assert (gateway.cancelled, gateway.retried) == (["j0"], ["j0"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["eval", "--veto"], "needs --against"),
        (["eval", "--background", "--out", "x"], "does not wait"),
        (["eval", "--background", "--against", "My Set"], "the server knows no kept file"),
        (["jobs", "--retry"], "takes the ID of one job"),
        (["jobs", "j0", "--retry", "--cancel"], "takes the ID of one job"),
        (["eval", "--risk", "1"], "not between 0 and 1"),
        (["eval", "--data", "nowhere"], "nowhere"),
        (["eval", "answers", "nowhere"], "is not there"),
        (["eval", "answers", "My Set", "--data", "My Set"], "only one of"),
        (["eval", "answers", "My Set", "more"], "No such command 'more'"),
        (["eval", "retrival"], "is not one of 'all', 'retrieval', 'answers'"),
        (["feedback", "correct", "f1"], "--abstain"),
        (["feedback", "correct", "f1", "--abstain", "--expected", "x"], "no answer is expected then"),
        (["feedback", "correct", "f1", "--abstain", "--fact", "x"], "no answer is expected then"),
        (["feedback", "correct", "f1", "--expected", "x" * 4001], "at most 4000 characters"),
    ],
)
def test_what_does_not_fit_together_is_wrong_usage(ragstone: Ragstone, data: Path, words: list[str], said: str) -> None:
    refused = ragstone(*words)
    assert refused.returncode == 2, refused.stdout
    assert said in " ".join(refused.stderr.split())


def test_a_data_set_without_documents_needs_them_there_already(ragstone: Ragstone, data: Path) -> None:
    (data / "corpus.jsonl").unlink()
    assert ragstone("eval", "--data", data.name).returncode == 2
    assert ragstone("eval", "--data", data.name, "--no-ingest").returncode == 0


def test_help_of_a_command_below_eval_says_how_it_is_called(ragstone: Ragstone) -> None:
    assert "Usage: ragstone eval show [OPTIONS]" in ragstone("eval", "show", "--help").stdout
    assert "Usage: ragstone eval [OPTIONS] [subject] [path] | COMMAND" in ragstone("eval", "--help").stdout
