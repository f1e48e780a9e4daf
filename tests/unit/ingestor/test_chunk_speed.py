"""Time grows with the text and not with its square, whatever stands in it; with bounds for a busy machine."""

import re
import time

import pytest

from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Extracted
from services.shared.contracts.places import Place
from tests.unit.ingestor.chunk_material import tokens

LONGEST_S = 6.0
"""Processor time; each takes a few tenths of a second to one second alone, and a square would take minutes."""

COLUMNS = 400
WIDE = "".join(f"| column {n} " for n in range(COLUMNS)) + "|\n" + "|---" * COLUMNS + "|\n"
WIDE += ("".join(f"| v{n} " for n in range(COLUMNS)) + "|\n") * 60
TALL = "| a | b | c |\n|---|---|---|\n" + "".join(f"| row {n} | {n * 7} | words of {n} |\n" for n in range(15_000))

TEXTS = {
    "one token of 300,000 letters": "x" * 300_000,
    "20,000 times the same letter, without spaces": "あ" * 20_000,
    "one line of a megabyte": "Some words of a sentence, and others. " * 27_000,
    "one line of a megabyte without a stop": "word " * 200_000,
    "a table of 400 columns": WIDE,
    "a table of 15,000 rows": TALL,
    "30,000 headings": "".join(f"{'#' * (1 + n % 6)} Heading {n}\n" for n in range(30_000)),
    "15,000 headings with a text each": "".join(f"# Heading {n}\n\nText {n}.\n\n" for n in range(15_000)),
    "20,000 items of a list": "".join(f"- item {n}\n" for n in range(20_000)),
    "lists in lists in lists": "".join(f"{'  ' * n}- item {n}\n" for n in range(200)),
    "a letter with 100,000 accents": "e" + "\u0301" * 100_000,
    "50,000 flags": "🇩🇪" * 50_000,
    "an endless emoji": "👩\u200d" * 50_000,
    "an endless consonant": "क\u094d" * 50_000,
    "fences that open and never close": "```\n" * 50_001,
    "backticks": "` " * 100_000,
    "brackets": "[a](" * 50_000,
    "tags that never close": "<a " * 100_000,
    "comments that never close": "<!--" * 50_000,
    "stars": "**a" * 50_000,
    "bars": "|" * 200_000,
    "a million blank lines": "\n" * 1_000_000 + "x",
    "carriage returns": "a\r" * 300_000,
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
