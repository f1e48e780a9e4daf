"""A long table, cut as a document is cut, answers a question for one cell over HTTP."""

import json
from pathlib import Path

import pytest

from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Extracted
from services.shared.contracts.search import Passage
from tests.contract.generator.test_generator_service import NOWHERE, generator, scoring_app, served
from tests.unit.generator.fakes import passage, request

TABLE = Path(__file__).parents[4] / "shared" / "cases" / "files" / "c08_long_table.md"


@pytest.fixture(scope="module")
def chunks() -> list[Passage]:
    if not TABLE.exists():
        pytest.skip("the case files are not beside this checkout")
    extracted = Extracted(TABLE.read_text(), markdown=True)
    found = cut(extracted, "Valve settings", Limits(150, 256), lambda texts: [len(text) // 3 for text in texts])
    assert len(found) > 2
    return [passage(one.text, title="Valve settings", section=one.section, lead=one.lead) for one in found[:20]]


@pytest.mark.parametrize(
    ("question", "holds", "lacks"),
    [
        ("What is the closing pressure of valve V-057?", "Closing bar: 7.7", "8.7"),
        ("What is the opening pressure of valve V-057?", "Opening bar: 8.7", "7.7"),
    ],
)
@pytest.mark.parametrize("scored", [True, False], ids=["with scores", "by words alone"])
async def test_one_cell_of_a_long_table(
    chunks: list[Passage], question: str, holds: str, lacks: str, scored: bool
) -> None:
    async with served(scoring_app()) as url, generator(url if scored else NOWHERE, writer="extractive") as client:
        response = await client.post("/write", content=request(question, *chunks).model_dump_json())
    *sentences, done = [json.loads(line) for line in response.text.splitlines()]
    assert done["reason"] is None
    (sentence,) = sentences
    assert sentence["text"] == f"Valve: V-057; {holds}"
    assert lacks not in sentence["text"]
    assert any("V-057" in span["quote"] for span in sentence["spans"])
    for span in sentence["spans"]:
        assert chunks[span["passage"]].text[span["start"] : span["end"]] == span["quote"]
