"""The process that reads files: what it may do, and what becomes of a file that kills or hangs it."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.adapters.parsing.limits import OPEN_FILES, ParseLimits
from services.ingestor.adapters.parsing.sandbox import SandboxedParsers
from services.ingestor.ports.content import TakesLong
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.contract.ingestor.poisoned_reading import (
    LIMITS,
    POISONED,
    children,
    only_child,
    read,
    refused,
    tells_swedish,
)
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.fakes import TimeUp

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not every limit is known elsewhere than on Linux")


@pytest.fixture
def parsers() -> Iterator[SandboxedParsers]:
    made = SandboxedParsers(LIMITS, tells_swedish, POISONED)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (
            "a.md",
            "---\ntitle: Pumps\nnot: [It never rains here.]\nlist: [1, 2.5, yes]\n---\n# Hall\n\nÜber ☂️.".encode(),
        ),
        ("a.html", b"<html><title>T</title><body><p>One long sentence about pumps in a hall.</p></body></html>"),
        ("a.json", b'{"id": 1, "text": "half \\ud800 is no letter"}'),
        ("a.json", '{"id": 1, "text": "whole \U0001f600"}'.encode()),
        ("a.ndjson", b'{"text": "one"}\nnot json\n{"text": "two"}\n'),
        ("a.txt", "gr\xfc\xdfe aus M\xfcnchen".encode("cp1252")),
        ("a.txt", b"\x89PNG no text"),
        ("a.xyz", b"what is this"),
        ("a.md", b" \n"),
    ],
)
def test_it_reads_what_the_parsers_read(name: str, data: bytes) -> None:
    def outcome(parse: Callable[..., object]) -> object:
        try:
            return parse(incoming("doc", filename=name, media_type=""), data)
        except RagstoneError as error:
            return error.code, error.detail

    here = outcome(FileParsers(1_000_000, TimeUp, tells_swedish).parse)
    sandboxed = SandboxedParsers(ParseLimits(), tells_swedish)
    there = outcome(sandboxed.parse)
    sandboxed.close()
    assert repr(there).replace("()", "[]") == repr(here).replace("()", "[]")


def test_one_process_reads_many(parsers: SandboxedParsers) -> None:
    assert read(parsers, "first") == "first"
    pid = only_child()
    assert [read(parsers, f"text {n}") for n in range(50)] == [f"text {n}" for n in range(50)]
    assert only_child() == pid


def test_it_is_confined(parsers: SandboxedParsers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_ADMIN_KEY", "secret")
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:secret@host/db")
    with open("/dev/null", "rb") as held:
        os.set_inheritable(held.fileno(), True)
        told = read(parsers, "TELL")
    assert "'RLIMIT_FSIZE': 0" in told
    assert "'RLIMIT_CORE': 0" in told
    assert f"'RLIMIT_NOFILE': {OPEN_FILES}" in told
    assert "'RLIMIT_AS': -1" not in told
    assert "RAGSTONE" not in told
    assert "DATABASE_URL" not in told
    assert "stdin=''" in told
    opened = told.split("open=[")[1].split("]")[0].split(", ")
    assert len(opened) <= 6, "three of its own, two pipes, and the folder that it looks into"


def test_nothing_is_written(parsers: SandboxedParsers, tmp_path: Path) -> None:
    assert read(parsers, f"WRITE {tmp_path / 'a.txt'}") == "could not write: File too large"
    assert all(not path.read_bytes() for path in tmp_path.iterdir())


def test_what_libraries_print_spoils_no_answer(parsers: SandboxedParsers) -> None:
    assert read(parsers, "PRINT") == "it printed"
    assert read(parsers, "and after") == "and after"


@pytest.mark.parametrize("deed", ["KILL", "CRASH", "EXIT", "FORGE"])
@pytest.mark.parametrize("fresh", [True, False])
def test_a_file_that_kills_its_reader_fails_alone(parsers: SandboxedParsers, deed: str, fresh: bool) -> None:
    if not fresh:
        read(parsers, "an innocent file")
    began = time.monotonic()
    assert "the program that reads it broke off on this file" in refused(parsers, deed)
    assert time.monotonic() - began < 10
    assert read(parsers, "the next file") == "the next file"
    assert len(children()) == 1


def test_how_it_died_is_told(parsers: SandboxedParsers) -> None:
    assert "SIGKILL" in refused(parsers, "KILL")
    assert "SIGSEGV" in refused(parsers, "CRASH")


@pytest.mark.parametrize("deed", ["HANG", "SPIN"])
def test_a_file_that_never_ends_is_ended(parsers: SandboxedParsers, deed: str) -> None:
    read(parsers, "an innocent file")
    began = time.monotonic()
    reason = refused(parsers, deed)
    assert "took longer than 2 seconds" in reason
    assert "RAGSTONE_PARSE_TIMEOUT_S" in reason
    assert 1.9 < time.monotonic() - began < 6
    assert read(parsers, "the next file") == "the next file"


def test_one_that_takes_longer_than_it_is_given_for_now_is_not_refused(parsers: SandboxedParsers) -> None:
    waits = incoming("doc", filename="a.txt", media_type="text/plain")
    for deed in (b"HANG", b"WAIT 1 second"):
        with pytest.raises(TakesLong):
            parsers.parse(waits, deed, 0.3)
    assert read(parsers, "WAIT 1 second") == "WAIT 1 second"
    with pytest.raises(RagstoneError, match="took longer than 2 seconds"):
        parsers.parse(waits, b"HANG", 5.0)
    assert len(children()) <= 1


def test_a_file_that_eats_memory_is_stopped(parsers: SandboxedParsers) -> None:
    reason = refused(parsers, "EAT")
    assert "more than 200,000,000 bytes of memory" in reason
    assert "made to break readers" in reason, "no setting helps a file of one byte"
    with pytest.raises(RagstoneError, match="RAGSTONE_PARSE_MEMORY_BYTES"):
        parsers.parse(incoming("doc", filename="a.txt", media_type="text/plain", size_bytes=1_000_000), b"EAT")
    assert read(parsers, "the next file") == "the next file"


def test_a_library_that_hides_its_want_of_memory_is_not_believed(parsers: SandboxedParsers) -> None:
    read(parsers, "an innocent file")
    reason = refused(parsers, "MISTAKE")
    assert "ValueError: unknown error" in reason
    assert "RAGSTONE_PARSE_MEMORY_BYTES allows 200,000,000" in reason
    assert "RAGSTONE_PARSE_MEMORY_BYTES" not in refused(parsers, b"\x89PNG no text")


def test_a_process_that_stays_large_is_replaced(parsers: SandboxedParsers) -> None:
    read(parsers, "one")
    pid = only_child()
    assert read(parsers, "KEEP 40000000") == "kept"
    assert only_child() == pid
    assert read(parsers, "KEEP 90000000") == "kept"
    assert children() == []
    assert read(parsers, "two") == "two"


def test_a_process_is_replaced_after_its_share_of_documents() -> None:
    parsers = SandboxedParsers(replace(LIMITS, documents=3), tells_swedish, POISONED)
    pids = []
    for n in range(7):
        pids.append(read(parsers, "TELL").split()[0])
        assert len(children()) == (n % 3 != 2)
    parsers.close()
    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [3, 3, 1]


def test_a_reader_that_cannot_start_is_nobodys_fault() -> None:
    """The job is put off, not failed."""
    for command in (("/nonexistent/python",), (sys.executable, "-c", "raise SystemExit(3)")):
        with pytest.raises(RagstoneError) as caught:
            read(SandboxedParsers(LIMITS, tells_swedish, command), "text")
        assert caught.value.code == ErrorCode.BUSY
        assert "cannot be started" in caught.value.detail


def test_more_text_than_allowed_is_refused_before_it_comes_over() -> None:
    parsers = SandboxedParsers(replace(LIMITS, text_bytes=1000), tells_swedish, POISONED)
    assert len(read(parsers, "a" * 1000)) == 1000
    with pytest.raises(RagstoneError, match="RAGSTONE_MAX_TEXT_BYTES") as caught:
        read(parsers, "ä" * 501)
    assert caught.value.code == ErrorCode.BODY_TOO_LARGE
    parsers.close()


def test_a_file_that_is_too_large_starts_no_process() -> None:
    parsers = SandboxedParsers(replace(LIMITS, document_bytes=10), tells_swedish, POISONED)
    with pytest.raises(RagstoneError, match="RAGSTONE_MAX_DOCUMENT_BYTES"):
        read(parsers, "a" * 11)
    assert children() == []
