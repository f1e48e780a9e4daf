"""Files that were made to break readers: each fails alone, within its limits, and leaves nothing behind.

The files are written by ``gen_broken.py`` of the public test data, which is not part of the project.
"""

import io
import json
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from services.ingestor.adapters.parsing.limits import ParseLimits
from services.ingestor.adapters.parsing.sandbox import SandboxedParsers
from services.ingestor.domain.documents import Extracted
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.unit.ingestor.fake_documents import incoming

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited, and told, by Linux")

ROOT = Path(__file__).parents[3]
SHARED = Path(__file__).parents[4] / "shared"
GENERATOR = SHARED / "data" / "files" / "gen_broken.py"
CASES = SHARED / "cases" / "files"

SECONDS = 20.0
"""The slowest takes a tenth of it on an idle machine."""

PARENT_BYTES = 60_000_000
"""What a document of 20 MB may add to its worker: its bytes, and at most twice its text."""


@dataclass(frozen=True)
class Outcome:
    extracted: Extracted | None
    error: RagstoneError | None
    seconds: float


@dataclass(frozen=True)
class Broken:
    folder: Path
    rows: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Broken:
    if not GENERATOR.exists():
        pytest.skip(f"the public test data is not there: {GENERATOR}")
    folder = tmp_path_factory.mktemp("broken")
    subprocess.run([sys.executable, str(GENERATOR), str(folder), "--big"], check=True, stdout=subprocess.DEVNULL)
    rows = [json.loads(line) for line in (folder / "expect.jsonl").read_text().splitlines()]
    return Broken(folder, {row["file"]: row for row in rows})


@pytest.fixture(scope="module")
def parsers() -> Iterator[SandboxedParsers]:
    """One for all files, as in a worker: what an earlier file breaks shows in a later one."""
    made = SandboxedParsers(ParseLimits(), lambda text: None)
    yield made
    made.close()


def tried(parsers: SandboxedParsers, name: str, data: bytes) -> Outcome:
    began = time.monotonic()
    try:
        extracted = parsers.parse(incoming("doc", filename=name, media_type="application/octet-stream"), data)
        return Outcome(extracted, None, time.monotonic() - began)
    except RagstoneError as error:
        return Outcome(None, error, time.monotonic() - began)


def case(name: str) -> bytes:
    path = CASES / name
    if not path.exists():
        pytest.skip(f"the public test data is not there: {path}")
    return path.read_bytes()


def readers() -> list[int]:
    mine = psutil.Process().children()
    return [one.pid for one in mine if "services.ingestor.adapters.parsing.child" in " ".join(one.cmdline())]


def peak_above_now(forget: bool = False) -> int:
    """Peak memory of this process, bytes; ``forget`` begins anew."""
    if forget:
        Path("/proc/self/clear_refs").write_text("5")
    lines = Path("/proc/self/status").read_text().splitlines()
    told = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith(("VmHWM", "VmRSS"))}
    return told["VmRSS"] if forget else told["VmHWM"]


def snapshot() -> set[str]:
    """Everything beside the files of other programs that such a name could have reached."""
    places = (Path("/tmp"), Path("/etc"), Path("/"), Path.home(), ROOT, ROOT.parent, Path.cwd())
    return {str(path) for place in places for path in place.iterdir() if "evil" in path.name or path.is_file()}


def expected(row: dict[str, Any], outcome: Outcome) -> bool:
    error = outcome.error
    match row["expect"]:
        case "ok":
            return error is None
        case "reject":
            return error is not None and error.code in (
                ErrorCode.UNREADABLE_DOCUMENT,
                ErrorCode.BODY_TOO_LARGE,
                ErrorCode.DOCUMENT_EMPTY,
            )
        case "empty":
            return error is not None and error.code == ErrorCode.DOCUMENT_EMPTY
        case "ok_or_reject" | "reject_or_no_leak":
            return error is None or error.code in (ErrorCode.UNREADABLE_DOCUMENT, ErrorCode.BODY_TOO_LARGE)
    return False


@pytest.mark.slow
def test_every_broken_file_ends_as_expected(broken: Broken, parsers: SandboxedParsers) -> None:
    """All 48 one after the other through one sandbox, with an ordinary file after each."""
    assert len(broken.rows) >= 48
    sibling = b"# Pumps\n\nThe pump in hall seven is oiled on Mondays."
    tried(parsers, "sibling.md", sibling)
    before, wrong, slow, large = snapshot(), [], [], []
    for name, row in broken.rows.items():
        data = (broken.folder / name).read_bytes()
        start = peak_above_now(forget=True)
        outcome = tried(parsers, name, data)
        if (added := peak_above_now() - start) > PARENT_BYTES:
            large.append((name, added))
        if not expected(row, outcome):
            wrong.append((name, row["expect"], outcome.error and outcome.error.detail))
        if outcome.error is not None and name not in outcome.error.detail:
            wrong.append((name, "a reason with its name", outcome.error.detail))
        if outcome.seconds > SECONDS:
            slow.append((name, outcome.seconds))
        if outcome.extracted is not None and socket.gethostname() in outcome.extracted.text:
            wrong.append((name, "no leak", outcome.extracted.text[:200]))
        if tried(parsers, "sibling.md", sibling).error is not None:
            wrong.append((name, "an unharmed sibling", ""))
        assert len(readers()) <= 1
    assert not wrong
    assert not slow
    assert not large, "the worker itself stays small"
    assert snapshot() == before


def test_what_is_read_of_them_is_whole(broken: Broken, parsers: SandboxedParsers) -> None:
    """A file that is read must not have lost what it says."""
    needles = {
        "minimal.docx": "A plain minimal document.",
        "html-renamed.txt": "Really HTML",
        "unclosed.html": "visible end",
        "bom.json": "Zürich",
        "formula.csv": "SUM(1)",
        "nul.txt": "after NUL bytes",
        "controls.txt": "evil",
        "crlf-mac.txt": "line two\nline three",
        "injection.md": "The daily allowance is 42 euros.",
        "fm-bad.md": "Body text survives.",
        "table-wide.md": "v399",
        "no-spaces.txt": "あ" * 20_000,
        "long-token.txt": "A" * 300_000,
        "-rf.md": "Odd file name.",
    }
    for name, needle in needles.items():
        outcome = tried(parsers, name, (broken.folder / name).read_bytes())
        assert outcome.extracted is not None, (name, outcome.error)
        assert needle in outcome.extracted.text, name


def test_an_office_file_that_inflates_to_300_mb(parsers: SandboxedParsers) -> None:
    data = case("h43_inflates_300mb.docx")
    tried(parsers, "warm.md", b"# Warm")
    pids, start = readers(), peak_above_now(forget=True)
    for name in ("report.docx", "report.txt", "report.zip", "report", "report.pdf"):
        outcome = tried(parsers, name, data)
        assert outcome.error is not None
        assert outcome.seconds < 10
    honest = tried(parsers, "report.docx", data)
    assert honest.error is not None
    assert honest.error.code == ErrorCode.BODY_TOO_LARGE
    assert "RAGSTONE_ARCHIVE_MAX_" in honest.error.detail
    assert peak_above_now() - start < PARENT_BYTES
    assert tried(parsers, "after.md", b"# After\n\nAn ordinary file.").error is None
    assert readers() == pids, "the reader itself lived on"


def test_an_office_file_of_50_000_entries(parsers: SandboxedParsers) -> None:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for n in range(50_000):
            archive.writestr(f"word/{n}.xml", b"")
    outcome = tried(parsers, "entries.docx", into.getvalue())
    assert outcome.error is not None
    assert "RAGSTONE_ARCHIVE_MAX_ENTRIES" in outcome.error.detail
    assert outcome.seconds < 10


def test_a_page_tree_that_contains_itself(parsers: SandboxedParsers) -> None:
    outcome = tried(parsers, "loop.pdf", case("q50_page_tree_loop.pdf"))
    assert outcome.error is not None, "never a success without a text"
    assert outcome.error.code in (ErrorCode.UNREADABLE_DOCUMENT, ErrorCode.DOCUMENT_EMPTY)
    assert outcome.seconds < SECONDS
