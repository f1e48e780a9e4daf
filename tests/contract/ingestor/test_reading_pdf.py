"""PDF files read by the real library: order, pages, what repeats, and what cannot be read."""

import json
from pathlib import Path

import pytest

from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.documents import Extracted
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.places import place_of
from tests.contract.ingestor.pdf_maker import LEFT, PICTURE, RIGHT, Mark, line_by_line, pdf
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.fakes import TimeUp

SHARED = Path(__file__).parents[4] / "shared"
FILES = SHARED / "data" / "files"


def parse(data: bytes, name: str = "a.pdf") -> Extracted:
    sent = incoming("doc", filename=name, media_type="application/pdf")
    return FileParsers(20_000_000, TimeUp).parse(sent, data)


def shared(path: Path) -> bytes:
    if not path.exists():
        pytest.skip("the shared files are not beside this checkout")
    return path.read_bytes()


def lines(y: float, *words: str, x: float = 60) -> list[Mark]:
    return [(x, y - 12 * n, line) for n, line in enumerate(words)]


def test_columns_are_read_one_after_the_other_however_they_are_drawn() -> None:
    text = " ".join(parse(line_by_line()).text.split())
    assert " ".join(LEFT) in text
    assert " ".join(RIGHT) in text
    assert text.index(LEFT[-1]) < text.index(RIGHT[0])
    assert parse(line_by_line()).title == "A short history of a harbour"


def test_a_two_column_article_is_read_in_order_without_cut_words() -> None:
    found = parse(shared(FILES / "pdf-two-column-latex.pdf"))
    order = ["Abstract", "consectetuer adipiscing", "Nam dui ligula", "Quisque ullamcorper", "Suspendisse vel felis"]
    places = [found.text.find(part) for part in order]
    assert -1 not in places
    assert places == sorted(places)
    assert "| Czech Republic | 10.7 | 78,866 | Prague | Czech |" in found.text
    assert not any(line.strip().isdigit() for line in found.text.split("\n"))
    at = found.text.index("Aenean faucibus pede")
    assert place_of(found.places, at, at + 10) == "page 2"


def test_a_hyphen_goes_when_it_only_ends_its_line() -> None:
    words = ["The well-known painter saw the har-", "bour once more, and the well-", "known baker waved. In 2019-"]
    text = parse(pdf([lines(700, *words, "2020 both left.")])).text
    assert "saw the harbour once" in text
    assert "the well-known baker" in text
    assert "2019-2020" in text


def test_running_headers_footers_and_page_numbers_are_left_out() -> None:
    pages = []
    for n in range(1, 6):
        side = "Harbour Office" if n % 2 else "Annual report 2024"
        body = lines(700, f"Section {n} tells of the {n * 7} ships", f"that came in week {n * 3} of the year.")
        pages.append([(60.0, 800.0, side), *body, (290.0, 30.0, f"- {n + 10} -")])
    found = parse(pdf(pages))
    assert "tells of the 21 ships that came in week 9" in found.text
    assert [word for word in ("Harbour Office", "- 13 -", "- 11 -") if word in found.text] == []
    # On two of five pages, a line is not said to be a running one.
    assert "Annual report" in found.text


def test_what_two_pages_say_alike_stays() -> None:
    found = parse(pdf([lines(700, "Closed on Mondays."), lines(700, "Closed on Mondays.")]))
    assert found.text.count("Closed on Mondays.") == 2
    assert [place.label for place in found.places] == ["page 1", "page 2"]


def test_a_sentence_goes_on_over_the_page_and_each_page_keeps_its_place() -> None:
    found = parse(pdf([lines(700, "The ferry leaves the", "harbour at nine and"), lines(700, "comes back at noon.")]))
    assert "harbour at nine and comes back at noon." in found.text
    assert place_of(found.places, 0, len(found.text)) == "page 1 to page 2"
    assert found.text[found.places[1].start :].startswith("comes back")


def test_paragraphs_are_told_by_their_gaps_and_ends() -> None:
    first = lines(700, "This paragraph runs over the width of the", "page and ends here.")
    second = lines(664, "After a gap another one begins, which is", "as long as the first.")
    assert parse(pdf([first + second])).text.count("\n\n") == 1


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_turned_page_is_read_like_an_upright_one(turn: int) -> None:
    assert "harbour at nine" in parse(pdf([lines(700, "The ferry leaves the", "harbour at nine.")], rotate=turn)).text


def test_a_table_keeps_its_columns() -> None:
    rows = [("Model", "Oil change", "Seal kit"), ("Heron 12", "400 hours", "SK-77"), ("Heron 30", "250 hours", "SK-91")]
    marks = [(60 + 120 * c, 700 - 14 * r, cell) for r, row in enumerate(rows) for c, cell in enumerate(row)]
    text = parse(pdf([[(60, 740, "Service intervals of our pumps."), *marks]])).text
    assert "| Model | Oil change | Seal kit |\n|---|---|---|\n| Heron 12 |" in text
    assert "| Heron 30 | 250 hours | SK-91 |" in text


def test_what_was_filled_into_a_form_is_text() -> None:
    content = "BT /F 10 Tf 2 4 Td (Ada Holm) Tj ET"
    form = pdf(
        [lines(700, "Name:")],
        catalog="/AcroForm<</Fields[6 0 R]/DR<</Font<</F 3 0 R>>>>/DA(/F 10 Tf)>>",
        page_extra="/Annots[6 0 R]",
        more=[
            "<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(Ada Holm)/DA(/F 10 Tf)/F 4/Rect[120 696 300 712]"
            "/AP<</N 7 0 R>>>>",
            "<</Type/XObject/Subtype/Form/BBox[0 0 180 16]/Resources<</Font<</F 3 0 R>>>>"
            f"/Length {len(content)}>>stream\n{content}\nendstream",
        ],
    )
    assert "Ada Holm" in parse(form).text


def test_pages_that_are_pictures_are_named_in_a_warning() -> None:
    found = parse(pdf([lines(700, "The first page says a lot of things to its readers."), PICTURE, lines(700, "End.")]))
    assert found.warning == "a.pdf holds pictures and no text on 1 of its 3 pages (page 2); run OCR if they matter"
    assert [place.label for place in found.places] == ["page 1", "page 3"]


def test_attached_files_are_named_in_a_warning() -> None:
    found = parse(shared(FILES / "pdf-attachment.pdf"), "offer.pdf")
    assert found.warning == "files attached to offer.pdf were not read (image.png); send them by themselves"


def test_a_pdf_of_pictures_is_no_success() -> None:
    for path in (SHARED / "cases" / "files" / "p02_image_only.pdf", FILES / "pdf-scan-no-text.pdf"):
        with pytest.raises(RagstoneError, match=r"no text was found in scan\.pdf: it holds pictures") as caught:
            parse(shared(path), "scan.pdf")
        assert caught.value.code == ErrorCode.DOCUMENT_EMPTY


def test_a_locked_pdf_says_that_it_is_locked() -> None:
    with pytest.raises(RagstoneError, match=r"pay\.pdf cannot be read: it is locked with a password") as caught:
        parse(shared(FILES / "pdf-encrypted-userpw.pdf"), "pay.pdf")
    assert caught.value.code == ErrorCode.UNREADABLE_DOCUMENT
    assert "encryption" in parse(shared(FILES / "pdf-encrypted-ownerpw.pdf")).text


def test_arabic_is_read_from_right_to_left() -> None:
    text = parse(shared(FILES / "pdf-arabic-rtl.pdf")).text
    # Two vowelled words, each letter before the one that follows it in reading.
    assert text.count("\u062d\u064e\u0628\u064a\u0628\u064a") == 2
    assert "habibi" in text


def test_every_pdf_of_the_collection_is_read_as_expected() -> None:
    rows = [json.loads(line) for line in shared(FILES / "files.jsonl").decode().splitlines()]
    for row in (row for row in rows if row["kind"] == "pdf" and row["expect"] in ("ok", "ok_or_reject")):
        words = " ".join(parse(shared(FILES / row["file"])).text.split())
        assert [part for part in row["contains"] if part not in words] == [], row["file"]


@pytest.mark.parametrize("data", [b"%PDF-1.7\n", b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj", b"x" * 5000])
def test_a_damaged_pdf_says_so(data: bytes) -> None:
    with pytest.raises(RagstoneError, match=r"a\.pdf cannot be read: it is") as caught:
        parse(data)
    assert caught.value.code == ErrorCode.UNREADABLE_DOCUMENT


def test_pages_that_contain_each_other_end() -> None:
    with pytest.raises(RagstoneError, match="none of its pages can be opened"):
        parse(shared(SHARED / "cases" / "files" / "q50_page_tree_loop.pdf"))
