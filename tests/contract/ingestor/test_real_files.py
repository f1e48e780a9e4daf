"""Real files of every kind, some broken or locked, are read or refused as their list says."""

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.real_files import MAX_BYTES, NeverPassing, expectations, outcome_of
from services.ingestor.adapters.parsers.files import FileParsers
from services.shared.contracts.places import place_of

REAL_FILES = Path(__file__).parents[4] / "shared" / "data" / "files"
ROWS = expectations(REAL_FILES / "files.jsonl")
PLACES = {"pdf": "page ", "pptx": "slide ", "xlsx": "sheet ", "csv": "row ", "ipynb": "cell ", "epub": "chapter "}
"""How the places of a kind begin."""

MARKED_UP = ("html", "epub", "eml", "docx")

PLACED = [row for row in ROWS if row["kind"] in PLACES and row["expect"] == "ok"]
"""Those whose text stands at places that a citation names."""

without_data = pytest.mark.skipif(not ROWS, reason="the sample files are not beside this checkout")


@pytest.fixture(scope="module")
def parsers() -> FileParsers:
    return FileParsers(MAX_BYTES, NeverPassing)


@without_data
@pytest.mark.parametrize("row", ROWS, ids=[row["file"] for row in ROWS])
def test_a_real_file(parsers: FileParsers, row: dict[str, Any]) -> None:
    outcome = outcome_of(parsers, REAL_FILES, row)
    assert outcome.differs(row["expect"]) is None
    assert outcome.left == [], "boilerplate is left in the text"
    if outcome.error:
        assert row["file"] in outcome.error.detail


@without_data
@pytest.mark.parametrize("row", PLACED, ids=[row["file"] for row in PLACED])
def test_a_real_file_names_its_places(parsers: FileParsers, row: dict[str, Any]) -> None:
    outcome = outcome_of(parsers, REAL_FILES, row)
    assert outcome.extracted is not None
    places = outcome.extracted.places
    at = next(n for n, char in enumerate(outcome.text) if char.isalnum())
    assert (place_of(places, at, at + 1) or "").startswith(PLACES[row["kind"]])
    assert [place.start for place in places] == sorted({place.start for place in places})
    assert all(place.start < len(outcome.text) for place in places)


@without_data
@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] in MARKED_UP], ids=lambda row: row["file"])
def test_no_raw_tag_is_left(parsers: FileParsers, row: dict[str, Any]) -> None:
    outcome = outcome_of(parsers, REAL_FILES, row)
    words = re.sub(r"^```.*?^```|`[^`\n]*`", "", outcome.text, flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"</?[A-Za-z][^<>@]*>", words) == [], "an address in angle brackets is no tag"


@without_data
def test_no_row_is_left_out() -> None:
    assert {row["file"] for row in ROWS} == {
        path.name for path in REAL_FILES.iterdir() if path.suffix not in (".py", ".jsonl")
    }
