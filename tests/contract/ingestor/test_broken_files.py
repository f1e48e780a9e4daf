"""Broken and hostile files, read in this process: each fails alone with its name, or gives its text."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.real_files import MAX_BYTES, NeverPassing, expectations, outcome_of
from services.ingestor.adapters.parsers.files import FileParsers

GENERATOR = Path(__file__).parents[4] / "shared" / "data" / "files" / "gen_broken.py"

TEXTS: dict[str, list[str]] = {
    "html-renamed.txt": ["Really HTML"],
    "minimal.docx": ["A plain minimal document."],
    "unclosed.html": ["Unclosed", "cell one", "cell two", "after", "visible end"],
    "deep.html": ["needle in the deep"],
    "bom.json": ["with a BOM", "Zürich"],
    "lines.jsonl.json": ["first", "second"],
    "unbalanced.csv": ["ada", "never closed", "bob"],
    "formula.csv": ['=HYPERLINK("http://evil.example","x")', "@SUM(1)"],
    "nul.txt": ["before", "after NUL bytes"],
    "invalid-utf8.md": ["café and", "then valid €"],
    "crlf-mac.txt": ["line one\nline two\nline three"],
    "fm-bad.md": ["Body text survives."],
    "table-wide.md": ["v399"],
    "injection.md": ["The daily allowance is 42 euros."],
}
"""Words that must not be lost where a file is read."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not GENERATOR.exists():
        pytest.skip("the sample files are not beside this checkout")
    out = tmp_path_factory.mktemp("broken")
    subprocess.run([sys.executable, str(GENERATOR), str(out)], check=True, capture_output=True, timeout=60)
    return out


def test_each_broken_file_is_read_or_refused_as_expected(folder: Path) -> None:
    parsers = FileParsers(MAX_BYTES, NeverPassing)
    rows: list[dict[str, Any]] = [
        row | {"contains": TEXTS.get(row["file"], [])} for row in expectations(folder / "expect.jsonl")
    ]
    outcomes = {row["file"]: outcome_of(parsers, folder, row) for row in rows}
    assert {row["file"]: why for row in rows if (why := outcomes[row["file"]].differs(row["expect"]))} == {}
    nameless = [name for name, one in outcomes.items() if one.error and name not in one.error.detail]
    assert nameless == []
    assert {name: one.seconds for name, one in outcomes.items() if one.seconds > 20} == {}
    assert len(rows) >= 45


def test_nothing_is_written_outside(folder: Path) -> None:
    row = {"file": "zip-slip.docx"}
    evil = Path("/tmp/evil.txt")
    before = evil.exists()
    outcome_of(FileParsers(MAX_BYTES, NeverPassing), folder, row)
    assert evil.exists() == before
