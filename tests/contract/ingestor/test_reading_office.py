"""Word and PowerPoint files: everything in its place, and nothing of a hostile one."""

import io
import zipfile
from pathlib import Path

import pytest

from services.ingestor.adapters.parsers.files import FileParsers
from services.ingestor.domain.documents import Extracted
from services.shared.contracts.errors import ErrorCode, RagstoneError
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.fakes import TimeUp

SHARED = Path(__file__).parents[4] / "shared"
FILES = SHARED / "data" / "files"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def parse(data: bytes, name: str = "a.docx") -> Extracted:
    sent = incoming("doc", filename=name, media_type="application/octet-stream")
    return FileParsers(20_000_000, TimeUp).parse(sent, data)


def shared(path: Path) -> bytes:
    if not path.exists():
        pytest.skip("the shared files are not beside this checkout")
    return path.read_bytes()


def p(words: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space='preserve'>{words}</w:t></w:r></w:p>"


def table(*rows: str) -> str:
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"


def cell(content: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{content}</w:tc>"


def docx(body: str, *, prolog: str = "", **parts: str) -> bytes:
    """A Word file with this body; ``parts`` are further parts by the kind of their relation."""
    relations = "".join(f"<Relationship Id='r{kind}' Type='{R}/{kind}' Target='{kind}.xml'/>" for kind in parts)
    head = "<?xml version='1.0'?>" + prolog
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        namespace = "xmlns='http://schemas.openxmlformats.org/package/2006/relationships'"
        office = f"<Relationship Id='r1' Type='{R}/officeDocument' Target='/word/document.xml'/>"
        archive.writestr("_rels/.rels", f"<Relationships {namespace}>{office}</Relationships>")
        archive.writestr("word/_rels/document.xml.rels", f"<Relationships {namespace}>{relations}</Relationships>")
        archive.writestr("word/document.xml", f"{head}<w:document xmlns:w='{W}'><w:body>{body}</w:body></w:document>")
        for kind, content in parts.items():
            archive.writestr(f"word/{kind}.xml", f"<w:root xmlns:w='{W}'>{content}</w:root>")
    return out.getvalue()


def test_a_table_between_paragraphs_stays_between_them() -> None:
    text = parse(shared(SHARED / "cases" / "files" / "p03_table_between_paragraphs.docx")).text
    assert text.index("service sheet") < text.index("SK-91") < text.index("logbook")
    assert "| Model | Oil change | Seal kit |\n|---|---|---|" in text
    assert "| Heron 30 | every 250 hours | SK-91 |" in text


def test_merged_and_nested_tables_are_flattened() -> None:
    text = parse(shared(FILES / "docx-tables.docx")).text
    assert "| d | e, f; g&t, h | i |" in text
    # What is merged downwards is said in each of its rows.
    assert "| a | b |  |\n|---|---|---|\n| a | c | d |\n| e |  | d |" in text


def test_headings_and_numbers_come_from_the_styles() -> None:
    styles = (
        "<w:style w:styleId='berschrift2'><w:name w:val='heading 2'/></w:style>"
        "<w:style w:styleId='Own'><w:name w:val='Own'/><w:basedOn w:val='berschrift2'/></w:style>"
    )
    level = "<w:lvl w:ilvl='{0}'><w:start w:val='1'/><w:numFmt w:val='{1}'/><w:lvlText w:val='{2}'/></w:lvl>"
    numbering = (
        "<w:abstractNum w:abstractNumId='0'>"
        + level.format(0, "decimal", "%1.")
        + level.format(1, "lowerLetter", "%1.%2)")
        + "</w:abstractNum><w:abstractNum w:abstractNumId='1'>"
        + level.format(0, "bullet", "•")
        + level.format(1, "bullet", "•")
        + "</w:abstractNum><w:num w:numId='5'><w:abstractNumId w:val='0'/></w:num>"
        + "<w:num w:numId='6'><w:abstractNumId w:val='1'/></w:num>"
    )

    def item(words: str, number: int, depth: int) -> str:
        return p(words, f"<w:numPr><w:ilvl w:val='{depth}'/><w:numId w:val='{number}'/></w:numPr>")

    body = p("Rules", "<w:pStyle w:val='Own'/>") + item("First", 5, 0) + item("Inner", 5, 1) + item("Second", 5, 0)
    body += p("Things") + item("Far in", 6, 1) + item("Outer", 6, 0) + item("Inner", 6, 1) + p("End")
    text = parse(docx(body, styles=styles, numbering=numbering)).text
    assert text.startswith("## Rules\n\n1. First\n\n1.a) Inner\n\n2. Second\n\n")
    # Four spaces before the first item would make code of it.
    assert "Things\n\n- Far in\n- Outer\n  - Inner\n\nEnd\n" in text


def test_what_is_wrapped_tracked_or_boxed_is_read_and_what_is_deleted_is_not() -> None:
    box = f"<w:r><w:drawing><w:txbxContent>{p('Boxed.')}</w:txbxContent></w:drawing></w:r>"
    body = (
        f"<w:sdt><w:sdtContent>{p('Controlled.')}</w:sdtContent></w:sdt>"
        "<w:p><w:ins><w:r><w:t>Inserted.</w:t></w:r></w:ins><w:del><w:r><w:delText>Gone.</w:delText></w:r></w:del>"
        "<w:r><w:instrText>PAGE</w:instrText></w:r>"
        f"{box}</w:p>"
    )
    assert parse(docx(body)).text == "Controlled.\n\nInserted.\n\nBoxed.\n"


def test_notes_and_comments_follow_what_they_belong_to() -> None:
    body = (
        "<w:p><w:r><w:t>Prices are fixed.</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r>"
        "<w:r><w:commentReference w:id='0'/></w:r></w:p>" + p("Next.")
    )
    notes = "<w:footnote w:id='0' w:type='separator'>" + p("") + "</w:footnote><w:footnote w:id='2'>" + p("Until May.")
    comments = f"<w:comment w:id='0' w:author='Ann'>{p('Really?')}</w:comment>"
    text = parse(docx(body, footnotes=notes + "</w:footnote>", comments=comments)).text
    assert text == "Prices are fixed.\n\n[Note: Until May.]\n\n[Comment by Ann: Really?]\n\nNext.\n"


def test_signs_that_mean_something_in_markdown_stay_words() -> None:
    text = parse(docx(p("# no heading") + p("a list&lt;int&gt; of &lt;b&gt;") + table(cell(p("a|b"))))).text
    assert text == "\\# no heading\n\na list\\<int> of \\<b>\n\n| a\\|b |\n|---|\n"


def test_a_word_file_of_pictures_is_no_success() -> None:
    with pytest.raises(RagstoneError, match="it holds pictures only") as caught:
        parse(shared(FILES / "docx-images.docx"))
    assert caught.value.code == ErrorCode.DOCUMENT_EMPTY


def test_three_thousand_tables_in_each_other_are_refused() -> None:
    n = 3000
    deep = "<w:tbl><w:tr><w:tc>" * n + p("deep") + ("<w:p/></w:tc></w:tr></w:tbl>") * n
    with pytest.raises(RagstoneError, match="nests or expands more than a document does") as caught:
        parse(docx(deep))
    assert caught.value.code == ErrorCode.UNREADABLE_DOCUMENT
    few = "<w:tbl><w:tr><w:tc>" * 60 + p("deep") + ("<w:p/></w:tc></w:tr></w:tbl>") * 60
    assert "deep" in parse(docx(few)).text


@pytest.mark.parametrize(
    "entities", ["<!ENTITY x SYSTEM 'file:///etc/hostname'>", "<!ENTITY y 'lol'><!ENTITY x '&y;&y;&y;'>"]
)
def test_entities_are_refused(entities: str) -> None:
    with pytest.raises(RagstoneError, match="declares entities"):
        parse(docx(p("secret: &x;"), prolog=f"<!DOCTYPE d [{entities}]>"))


def deck() -> bytes:
    from pptx import Presentation
    from pptx.util import Inches

    made = Presentation()
    first = made.slides.add_slide(made.slide_layouts[1])
    first.shapes.title.text = "Roadmap"
    frame = first.placeholders[1].text_frame
    frame.text = "Ship the ferry"
    inner = frame.add_paragraph()
    inner.text, inner.level = "in spring", 1
    first.notes_slide.notes_text_frame.text = "Say thanks."
    made.slides.add_slide(made.slide_layouts[6])
    third = made.slides.add_slide(made.slide_layouts[6])
    cells = third.shapes.add_table(2, 2, 0, 0, Inches(3), Inches(1)).table
    for n, words in enumerate(("Port", "Ships", "Lund", "7")):
        cells.cell(n // 2, n % 2).text = words
    group = third.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "Grouped words"
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def test_slides_are_sections_with_their_places() -> None:
    found = parse(deck(), "a.pptx")
    assert found.text.startswith("# Roadmap\n\n- Ship the ferry\n  - in spring\n\nNotes: Say thanks.\n\n# Slide 3\n\n")
    assert "| Port | Ships |\n|---|---|\n| Lund | 7 |" in found.text
    assert "Grouped words" in found.text
    assert [place.label for place in found.places] == ["slide 1", "slide 3"]
    assert found.text[found.places[1].start :].startswith("# Slide 3")
    assert found.title == "Roadmap"


def test_the_real_slides() -> None:
    found = parse(shared(FILES / "pptx-table.pptx"), "a.pptx")
    assert "# A Slide with a Table" in found.text
    assert "| Purple | Orange | Yellow |" in found.text


def test_a_presentation_without_its_parts_is_damaged() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("ppt/presentation.xml", "<p/>")
    with pytest.raises(RagstoneError, match=r"a\.pptx cannot be read") as caught:
        parse(out.getvalue(), "a.pptx")
    assert caught.value.code == ErrorCode.UNREADABLE_DOCUMENT


OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("a.pdf", docx(p("x")), "it is a Word file, whatever its name says; rename it to .docx"),
        ("a.docx", b"%PDF-1.7 x", "it is a PDF, whatever its name says; rename it to .pdf"),
        ("a.docx", deck(), "it is a PowerPoint file, whatever its name says; rename it to .pptx"),
        ("a.txt", deck(), "it is a PowerPoint file"),
        ("a.docx", OLD, "Office before 2007; save it as .docx"),
        ("a.docx", OLD + "EncryptedPackage".encode("utf-16-le"), "it is locked with a password; remove it"),
        ("a.docx", b"{\\rtf1 hello}", "it is an RTF file; save it as .docx"),
        ("a.docx", b"plain words", "it is no .docx file"),
        ("a.doc", OLD, "save it as .docx"),
        ("a.ppt", OLD, "save it as .pptx"),
        ("a.xls", OLD, "save it as .xlsx"),
    ],
)
def test_a_file_that_is_something_else_says_what_and_what_to_do(name: str, data: bytes, what: str) -> None:
    with pytest.raises(RagstoneError) as caught:
        parse(data, name)
    assert what in caught.value.detail
    assert caught.value.code in (ErrorCode.UNREADABLE_DOCUMENT, ErrorCode.UNSUPPORTED_MEDIA_TYPE)


def test_a_web_page_named_txt_is_read_as_one() -> None:
    found = parse(b"<!DOCTYPE html>\n<html><body><p>Really a page.</p></body></html>", "a.txt")
    assert found.text == "Really a page.\n"
    assert found.warning == "a.txt holds a web page and was read as one"
    assert parse(b"In HTML, <html> is the root.", "a.txt").text == "In HTML, <html> is the root."
