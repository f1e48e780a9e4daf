"""From a file to its chunks: each one names the place in the original where its words stand."""

import re

from services.ingestor.domain.chunking import Limits, cut
from services.ingestor.domain.documents import Chunk, Extracted
from services.shared.contracts.places import place_of
from tests.unit.ingestor.test_reading_mail import mail
from tests.unit.ingestor.workbooks import read, sheet_xml, workbook


def chunks_of(extracted: Extracted) -> list[Chunk]:
    return cut(extracted, "Title", Limits(60, 256), lambda texts: [len(text) // 4 for text in texts])


def cited(chunks: list[Chunk], words: str) -> str | None:
    """How a citation of these words calls their place: by the chunk's own places, offsets in the whole text."""
    chunk = next(one for one in chunks if words in one.text)
    start = chunk.start + chunk.text.index(words) - chunk.lead
    return place_of(chunk.places, start, start + len(words))


def test_every_row_of_a_long_table_is_cited_by_its_number() -> None:
    lines = ["name,price,note"] + [f"item-{n:04d},{n},a few words about this one" for n in range(2, 1502)]
    chunks = chunks_of(read("\n".join(lines), "long.csv"))
    assert len(chunks) > 100
    for n in (2, 3, 57, 700, 1501):
        assert cited(chunks, f"item-{n:04d}") == f"row {n}"
    for chunk in chunks:
        rows = [int(number) for number in re.findall(r"item-(\d+)", chunk.text)]
        assert [place.label for place in chunk.places][-len(rows) :] == [f"row {n}" for n in rows]
        assert "| name | price | note |" in chunk.text


def test_an_attachment_is_cited_by_its_name_and_its_own_place() -> None:
    message = mail()
    rows = {1: ["name", "price"], **{n: [f"item-{n:04d}", float(n)] for n in range(2, 402)}}
    sheet = workbook({"Prices": sheet_xml(rows)})
    message.add_attachment(sheet, maintype="application", subtype="octet-stream", filename="prices.xlsx")
    message.add_attachment("The delivery takes nine days.", filename="terms.txt")
    chunks = chunks_of(read(message.as_bytes(), "offer.eml"))
    assert cited(chunks, "Please see the offer") == "message"
    for n in (2, 200, 401):
        assert cited(chunks, f"item-{n:04d}") == f"attachment prices.xlsx, sheet Prices, row {n}"
    assert cited(chunks, "nine days") == "attachment terms.txt"


def test_every_chunk_is_a_piece_of_the_text() -> None:
    message = mail(body="Hello,\n\n" + "a line\n-- \n" * 30)
    message.add_attachment("# A\n\nwords\n\n## B\n\nmore words\n", filename="notes.md")
    found = read(message.as_bytes(), "offer.eml")
    for chunk in chunks_of(found):
        assert chunk.text[chunk.lead :] == found.text[chunk.start : chunk.end]
    sections = [chunk.section for chunk in chunks_of(found)]
    assert "Offer > Attachment notes.md > A > B" in sections
