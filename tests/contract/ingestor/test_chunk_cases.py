"""Cases of chunking from elsewhere, with the real parsers, the real tokenizer and the real model."""

import re
from pathlib import Path

import numpy as np
import pytest

from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Chunk, Extracted, title_of
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.embedder import Embedder
from services.shared.models.loader import load_embedder
from tests.unit.ingestor.fake_documents import incoming

CASES = Path(__file__).parents[4] / "shared" / "cases" / "files"


@pytest.fixture(scope="module")
def model() -> Embedder:
    return load_embedder(EmbedderSettings())


def read(name: str) -> Extracted:
    file = CASES / name
    if not file.exists():
        pytest.skip(f"the case file {name} is not beside this checkout")
    return FileParsers(20_000_000, TimeoutError).parse(incoming(name, filename=name), file.read_bytes())


def chunks_of(extracted: Extracted, name: str, model: Embedder) -> list[Chunk]:
    title = title_of(incoming(name, filename=name), extracted)
    return cut(extracted, title, Limits(150, model.spec.max_tokens), model.count_tokens)


def test_comment_lines_in_code_are_no_headings(model: Embedder) -> None:
    name = "c07_fence_hash.md"
    chunks = chunks_of(read(name), name, model)
    titles = {title for chunk in chunks for title in chunk.section.split(" > ")}
    assert titles == {"Backup guide", "Nightly job", "Restore", "C# client"}
    copy = next(chunk for chunk in chunks if "cp /srv/ledger" in chunk.text)
    assert copy.section.split(" > ")[-1] == "Nightly job"
    assert "# stop the writer first" in copy.text
    assert "# copy the snapshot" in copy.text
    restore = next(chunk for chunk in chunks if "restore(" in chunk.text)
    assert "open the snapshot read only" in restore.text


def test_each_piece_of_a_long_table_has_whole_rows_and_the_columns_names(model: Embedder) -> None:
    name = "c08_long_table.md"
    chunks = chunks_of(read(name), name, model)
    holding = [chunk for chunk in chunks if "V-0" in chunk.text]
    assert len(holding) > 1
    for chunk in holding:
        assert "Closing bar" in chunk.text
        assert chunk.section == "Valve settings > Main hall"
        rows = [line for line in chunk.text.splitlines() if line.startswith("|")]
        assert all(line.endswith("|") and line.count("|") == 6 for line in rows)
    for n in range(1, 81):
        assert sum(f"V-{n:03}" in chunk.text for chunk in chunks) == 1
    row = next(line for chunk in holding for line in chunk.text.splitlines() if "V-057" in line)
    assert row.split("|")[4].strip() == "7.7"


def test_a_text_without_spaces_fits_and_its_end_is_found(model: Embedder) -> None:
    name = "c09_zh_no_spaces.txt"
    extracted = read(name)
    chunks = chunks_of(extracted, name, model)
    assert len(chunks) >= 5
    assert max(model.count_tokens([chunk.search_text for chunk in chunks])) <= model.spec.max_tokens
    assert "".join(chunk.text for chunk in chunks) == extracted.text.strip()
    # The text says the same few clauses over and over, each time with another number, and the model knows English.
    clause = re.findall(r"滤网型号为乙字四十二号第\d+次", extracted.text[-100:])[-1]
    vectors = model.embed_documents([chunk.search_text for chunk in chunks])
    nearest = np.argsort(-(model.embed_questions([clause]) @ vectors.T)[0], kind="stable")[:3]
    assert any(clause in chunks[n].text for n in nearest)
