"""The local run as a user meets it: up, ingest, ask, Ctrl-C, a second start, and what goes wrong."""

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.stack import STOP_S, Stack, alive, running_stack, until

NOTES = {
    "notice.md": "# Leaving\n\n## Notice\n\nThe notice period of Ada Quill is six weeks to the end of a month.\n",
    "tools/kiln.md": "# The kiln\n\nThe kiln in the east shed reaches 1280 degrees; Ada Quill built it in 2019.\n",
}
AS_DELIVERED = {"RAGSTONE_EMBEDDER_BACKEND": "auto"}
QUESTION = "How long is the notice period of Ada Quill?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local") / "notes"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "profile.yaml").write_text("language: en\n")
    return folder


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[Stack]:
    """A stack that these tests may hurt; its first start ingests and asks."""
    with running_stack(
        tmp_path_factory.mktemp("mine") / "state", AS_DELIVERED, "--ingest", str(folder), "--ask", QUESTION
    ) as running:
        until(lambda: "Ragstone runs at" in running.said(), 90)
        yield running


def test_one_command_ingests_and_prints_a_cited_answer(mine: Stack) -> None:
    said = mine.said()
    assert "2 new" in said
    assert "six weeks" in said
    assert "[1] " in said
    assert "notice.md" in said
    assert f"{mine.base_url}/" in said


def test_every_command_speaks_json_and_says_how_it_went(mine: Stack, folder: Path) -> None:
    asked = mine.ragstone("ask", QUESTION, "--json")
    assert asked.returncode == 0, asked.stderr
    assert "six weeks" in json.loads(asked.stdout)["text"]
    found = json.loads(mine.ragstone("search", "kiln", "--json").stdout)
    assert found["passages"][0]["document_id"] == "tools/kiln.md"
    assert json.loads(mine.ragstone("status", "--json").stdout)["ready"] is True
    assert json.loads(mine.ragstone("jobs", "--json").stdout)["counts"]["succeeded"] >= 2
    assert all(finding["level"] != "fail" for finding in json.loads(mine.ragstone("doctor", "--json").stdout))
    report = json.loads(mine.ragstone("ingest", str(folder), "--json").stdout)[0]
    assert (report["new"], sorted(report["unchanged"])) == ([], ["notice.md", "tools/kiln.md"])


def test_a_profile_that_does_not_speak_is_said(mine: Stack, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "profile.yaml").write_text("language: de\n")
    said = mine.ragstone("ingest", str(tmp_path)).stdout
    assert f"{tmp_path / 'profile.yaml'} is not in use: this run speaks with {folder / 'profile.yaml'}" in said
    assert "is not in use" not in mine.ragstone("ingest", str(folder)).stdout


def test_what_the_documents_do_not_say_is_exit_code_3(mine: Stack) -> None:
    asked = mine.ragstone("ask", "Which football club won the cup in Lisbon?", "--json")
    assert asked.returncode == 3, asked.stdout
    assert json.loads(asked.stdout)["status"] == "abstained"


def test_a_vanished_file_is_forgotten(mine: Stack, tmp_path: Path) -> None:
    notes = tmp_path / "extra"
    notes.mkdir()
    (notes / "well.md").write_text("The well behind the barn is 41 metres deep.")
    (notes / "pond.md").write_text("The pond is shallow.")
    assert mine.ragstone("ingest", str(notes)).returncode == 0
    (notes / "well.md").unlink()
    report = json.loads(mine.ragstone("ingest", str(notes), "--json").stdout)[0]
    assert report["vanished"] == ["well.md"]
    assert "well.md" not in {document.id for document in mine.api().documents()}


def test_a_second_up_says_that_it_runs(mine: Stack) -> None:
    second = mine.ragstone("up")
    assert second.returncode == 0
    assert "runs already" in second.stdout
    assert mine.base_url in second.stdout


def test_a_part_that_dies_is_back_soon(mine: Stack) -> None:
    pid = mine.pid("retriever")
    psutil.Process(pid).kill()
    until(lambda: all(part.state == "up" for part in mine.run.parts) and mine.pid("retriever") != pid, 60)
    assert "six weeks" in mine.ask(QUESTION).text


def test_ctrl_c_leaves_no_process_and_a_second_start_ingests_nothing(mine: Stack, folder: Path) -> None:
    family = mine.family()
    began = time.monotonic()
    assert mine.stop(signal.SIGINT) == 0
    assert time.monotonic() - began < 11
    assert alive(family) == []
    mine.start("--ingest", str(folder)).wait_ready()
    until(lambda: "Ragstone runs at" in mine.said(), 30)
    assert "2 unchanged" in mine.said()
    assert "new" not in mine.said()


def test_a_killed_supervisor_leaves_no_process_and_the_profile_stays(mine: Stack, folder: Path) -> None:
    family = mine.family()
    assert mine.process is not None
    mine.process.kill()
    mine.process.wait()
    until(lambda: alive(family) == [], STOP_S)
    assert mine.ragstone("status").returncode == 4
    mine.start().wait_ready()
    assert "six weeks" in mine.ask(QUESTION).text
    assert f"speaks with {folder / 'profile.yaml'}" in mine.ragstone("status").stdout


def test_background_status_and_down(tmp_path: Path) -> None:
    stack = Stack(tmp_path / "state")
    begun = stack.ragstone("up", "--background", "--json")
    try:
        assert begun.returncode == 0, begun.stdout + begun.stderr
        assert json.loads(begun.stdout)["url"] == stack.base_url
        pids = [part.pid for part in stack.run.parts if part.pid]
    finally:
        stopped = stack.ragstone("down")
    assert stopped.returncode == 0
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert stack.ragstone("status").returncode == 4


def test_a_taken_port_names_who_holds_it_and_what_to_do(tmp_path: Path) -> None:
    stack = Stack(tmp_path / "state")
    with socket.socket() as server:
        server.bind(("127.0.0.1", stack.port))
        server.listen()
        refused = stack.ragstone("up")
    assert refused.returncode == 1
    assert f"Port {stack.port} of the gateway is taken by process {os.getpid()}" in refused.stderr
    assert "--port" in refused.stderr


def test_nothing_there_is_exit_code_4(tmp_path: Path) -> None:
    stack = Stack(tmp_path / "state")
    (tmp_path / "a.md").write_text("Anything.")
    for words in (["ask", "Anyone?"], ["search", "x"], ["jobs"], ["status"], ["ingest", str(tmp_path)]):
        assert stack.ragstone(*words).returncode == 4, words
    assert stack.ragstone("down").returncode == 0
    assert stack.ragstone("ask").returncode == 2
