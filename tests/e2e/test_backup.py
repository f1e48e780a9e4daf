"""A backup of a running system, restored on another machine and into another database: it answers the same."""

import json
import os
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from services.shared.contracts.answers import Answer
from services.shared.contracts.jobs import JobKind
from tests.e2e.canaries import found_in
from tests.e2e.stack import ROOT, Stack, running_stack, until

QUESTION = "How long is the notice period of Ada Quill?"
CANARY = "zqbackupcanary44"
NOTES = {
    "notice.md": "# Leaving\n\nThe notice period of Ada Quill is six weeks to the end of a month.\n",
    "kiln.md": "# The kiln\n\nThe kiln in the east shed reaches 1280 degrees; Ada Quill built it in 2019.\n",
    "profile.yaml": "language: en\n",
}
PIECES = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("backup")


@pytest.fixture(scope="module")
def asked(folder: Path) -> Iterator[Answer]:
    """A system that answered, forgot, and was backed up while it took documents in; it is stopped by now."""
    notes = folder / "notes"
    notes.mkdir()
    for name, text in NOTES.items():
        (notes / name).write_text(text)
    with running_stack(folder / "old", None, "--ingest", str(notes)) as stack:
        until(lambda: "Ragstone runs at" in stack.said(), 60)
        stack.add(f"The cabinet is called {CANARY}.", "secret")
        with httpx.Client(base_url=stack.base_url, timeout=30) as client:
            assert client.delete("/v1/documents/secret").json()["cleanup_job"] is None
            body = "\n".join(
                json.dumps({"id": f"boat-{n}", "text": f"Boat {n} is called Wren {n}."}) for n in range(PIECES)
            )
            sent = client.post("/v1/documents", content=body, headers={"Content-Type": "application/x-ndjson"})
            job = sent.json()["jobs"][0]["id"]
        backed_up = stack.ragstone("backup", str(folder / "b.tar.gz"), "--json")
        assert backed_up.returncode == 0, backed_up.stderr
        assert json.loads(backed_up.stdout)["left_out"] == 0
        refused = stack.ragstone("restore", str(folder / "b.tar.gz"), "--replace", "--yes")
        assert (refused.returncode, "Ragstone runs on" in refused.stderr) == (1, True), refused.stderr
        yield stack.ask(QUESTION)
        assert job


@contextmanager
def restored(folder: Path, name: str, settings: dict[str, str]) -> Iterator[Stack]:
    """The backup on another state folder, started."""
    stack = Stack(folder / name, settings)
    done = stack.ragstone("restore", str(folder / "b.tar.gz"))
    assert done.returncode == 0, done.stderr
    assert "vectors" in done.stdout
    assert str(folder / name / "profile.yaml") in done.stdout
    stack.start()
    try:
        yield stack.wait_ready()
    finally:
        stack.stop()


def mending(stack: Stack) -> dict[str, int]:
    """Jobs that make vectors again, by whether they have ended."""
    with stack.api() as api:
        jobs = [job for job in api.jobs().items if job.kind is JobKind.MEND]
    return {"all": len(jobs), "over": sum(job.state.final for job in jobs)}


def answers_the_same(stack: Stack, asked: Answer) -> None:
    """At once by exact words, and when the vectors are there again without a word of it."""
    first = stack.ask(QUESTION)
    assert first.text == asked.text
    assert first.citations[0].quote == asked.citations[0].quote
    assert mending(stack)["all"] == 1
    until(lambda: mending(stack)["over"] == 1 and "vectors_incomplete" not in stack.ask(QUESTION).degraded, 30)
    again = stack.ask(QUESTION)
    assert (again.text, again.degraded) == (asked.text, asked.degraded)
    cited = [(one.document_id, one.version, one.chunk_id, one.start, one.end, one.quote) for one in again.citations]
    assert cited == [
        (one.document_id, one.version, one.chunk_id, one.start, one.end, one.quote) for one in asked.citations
    ]
    with httpx.Client(base_url=stack.base_url, timeout=30) as client:
        source = client.get(f"/v1/documents/{asked.citations[0].document_id}/source")
        # The batch that was under way goes on.
        until(lambda: client.get(f"/v1/documents/boat-{PIECES - 1}").status_code == 200, 30)
    assert source.text == NOTES["notice.md"]


def test_nothing_forgotten_is_in_it(asked: Answer, folder: Path) -> None:
    assert "six weeks" in asked.text
    with tarfile.open(folder / "b.tar.gz") as tar:
        for info in tar:
            body = tar.extractfile(info)
            assert body is not None
            assert not found_in(info.name.encode() + body.read(), [CANARY]), info.name


def test_on_another_machine_it_answers_the_same(asked: Answer, folder: Path) -> None:
    with restored(folder, "new", {}) as stack:
        answers_the_same(stack, asked)
        assert stack.run.profile == str(folder / "new" / "profile.yaml")
        findings = json.loads(stack.ragstone("doctor", "--repair", "--json").stdout)
        assert all(finding["level"] != "fail" for finding in findings), findings


def test_in_postgresql_it_answers_the_same(asked: Answer, folder: Path) -> None:
    with postgresql() as url, restored(folder, "many", {"DATABASE_URL": url}) as stack:
        answers_the_same(stack, asked)
        assert not (folder / "many" / "catalog.db").exists()


@contextmanager
def postgresql() -> Iterator[str]:
    """A throw-away server of this test's own, where PostgreSQL is installed."""
    server = subprocess.Popen(
        ["tests/with_postgres.sh", "sh", "-c", 'echo "$DATABASE_URL"; cat'],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        if not url:
            pytest.skip("PostgreSQL is not installed here")
        yield url
    finally:
        server.stdin.close()
        server.wait(30)
