"""Time grows with the text and not with its square, whatever stands in it; with bounds for a busy machine."""

import re
import time

import pytest

from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Extracted
from services.shared.contracts.places import Place
from tests.e2e.stack import WHOLE
from tests.unit.ingestor.chunk_material import tokens

PART = 1 if WHOLE else 3
"""What the long texts are divided by: a square shows in a third of them too."""
LONGEST_S = 6.0 if WHOLE else 3.0
"""Processor time; each takes a few tenths of a second to one second when whole, and a square would take minutes."""

COLUMNS = 400
WIDE = "".join(f"| column {n} " for n in range(COLUMNS)) + "|\n" + "|---" * COLUMNS + "|\n"
WIDE += ("".join(f"| v{n} " for n in range(COLUMNS)) + "|\n") * 60
TALL = "| a | b | c |\n|---|---|---|\n" + "".join(
    f"| row {n} | {n * 7} | words of {n} |\n" for n in range(15_000 // PART)
)

TEXTS = {
    "one token of many letters": "x" * (300_000 // PART),
    "many times the same letter, without spaces": "あ" * (20_000 // PART),
    "one line of a whole text": "Some words of a sentence, and others. " * (27_000 // PART),
    "one line of a whole text without a stop": "word " * (200_000 // PART),
    "a table of 400 columns": WIDE,
    "a table of many rows": TALL,
    "many headings": "".join(f"{'#' * (1 + n % 6)} Heading {n}\n" for n in range(30_000 // PART)),
    "many headings with a text each": "".join(f"# Heading {n}\n\nText {n}.\n\n" for n in range(15_000 // PART)),
    "many items of a list": "".join(f"- item {n}\n" for n in range(20_000 // PART)),
    "lists in lists in lists": "".join(f"{'  ' * n}- item {n}\n" for n in range(200)),
    "a letter with many accents": "e" + "\u0301" * (100_000 // PART),
    "many flags": "🇩🇪" * (50_000 // PART),
    "an endless emoji": "👩\u200d" * (50_000 // PART),
    "an endless consonant": "क\u094d" * (50_000 // PART),
    "fences that open and never close": "```\n" * (50_001 // PART),
    "backticks": "` " * (100_000 // PART),
    "brackets": "[a](" * (50_000 // PART),
    "tags that never close": "<a " * (100_000 // PART),
    "comments that never close": "<!--" * (50_000 // PART),
    "stars": "**a" * (50_000 // PART),
    "bars": "|" * (200_000 // PART),
    "many blank lines": "\n" * (1_000_000 // PART) + "x",
    "carriage returns": "a\r" * (300_000 // PART),
}


@pytest.mark.parametrize("markdown", [True, False], ids=["markdown", "plain"])
@pytest.mark.parametrize("name", TEXTS)
def test_it_is_cut_in_time_that_grows_with_its_length(name: str, markdown: bool) -> None:
    began = time.process_time()
    chunks = cut(Extracted(TEXTS[name], markdown), "Title", Limits(150, 256), tokens)
    assert time.process_time() - began < LONGEST_S
    assert max(tokens([chunk.search_text for chunk in chunks]), default=0) <= 256


def test_thousands_of_places_cost_each_chunk_its_own_only() -> None:
    places = [Place(start=found.end(), label=f"row {n}") for n, found in enumerate(re.finditer("\n", TALL))]
    began = time.process_time()
    chunks = cut(Extracted(TALL, markdown=True, places=places), "Title", Limits(150, 256), tokens)
    assert time.process_time() - began < LONGEST_S
    assert sum(len(chunk.places) for chunk in chunks) < len(places) + len(chunks)
