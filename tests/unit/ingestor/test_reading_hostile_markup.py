"""Markup that was made to break readers: it is read in a few seconds or refused with a reason for people."""

import time
from collections.abc import Callable

import pytest

from services.ingestor.adapters.parsers import eml, html_bounds, rst
from services.shared.contracts.errors import RagstoneError
from tests.unit.ingestor.fake_documents import incoming
from tests.unit.ingestor.workbooks import read, zipped

SECONDS = 10.0
"""Processor time; each takes a tenth of it."""

MAIL = "From: a@b.example\nSubject: s\nMIME-Version: 1.0\n"
PARTS = MAIL + "Content-Type: multipart/mixed; boundary=b\n\n" + "--b\n\nneedle\n" * 50_000

FLOODS: dict[str, Callable[[], str]] = {
    "attributes.html": lambda: "<p " + " ".join(f'a{n}="{n}"' for n in range(200_000)) + ">needle</p>",
    "quoted.html": lambda: "<p " + " ".join(f"a{n}='>'" for n in range(100_000)) + ">needle</p>",
    "value.html": lambda: '<p title="' + "a " * 500_000 + '">needle</p>',
    "siblings.html": lambda: "<body>" + "<p>needle</p>" * 100_000,
    "deep.html": lambda: "<body>" + "<div>" * 50_000 + "needle",
    "unclosed.html": lambda: "<body>" + "<b>needle " * 100_000,
    "entities.html": lambda: "<p>" + "&amp;" * 200_000 + " needle",
    "tagless.html": lambda: "needle " * 150_000,
    "comments.html": lambda: "<p>needle</p>" + "<!-- " * 100_000,
    "many.rst": lambda: "*a* `needle <http://x>`_\n\n" * 20_000,
    "inserted.rst": lambda: ".. |a| replace:: " + "x" * 9_000 + "\n\nneedle\n\n" + ("|a| " * 300 + "\n\n") * 100,
    "parts.eml": lambda: PARTS,
    "commas.eml": lambda: MAIL + "To: " + "," * 1_000_000 + "\n\nneedle",
    "named.eml": lambda: MAIL + 'Content-Disposition: inline; x="' + "a" * 1_000_000 + '"\n\nneedle',
    "brackets.md": lambda: "needle " + "[" * 500_000,
    "quotes.md": lambda: (">" * 200 + " needle\n") * 2_000,
}


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_read_in_seconds(name: str) -> None:
    page = FLOODS[name]()
    began = time.process_time()
    found = read(page, name)
    assert time.process_time() - began < SECONDS
    assert "needle" in found.text


def test_ordinary_pages_keep_their_attributes() -> None:
    page = '<p class="a" title="x > y">one</p><!-- <p --><script>if (a <b "</script><p lang=en hidden>two</p>'
    assert html_bounds.with_few_attributes(page) == page


def test_of_too_many_attributes_the_first_are_kept() -> None:
    page = "<p " + " ".join(f"a{n}='>'" for n in range(2_000)) + ">needle</p>"
    kept = html_bounds.with_few_attributes(page)
    assert kept.endswith(f"a{html_bounds.ATTRIBUTES_MAX - 1}='>'>needle</p>")


def test_raised_and_lowered_letters_are_text() -> None:
    body = "<p>It grew<sup>[10]</sup><sup><a>[11]</a></sup> to 10<sup>6</sup> t of CO<sub>2</sub>, the 2<sup>nd</sup>"
    page = f"<html><body><article>{body} <u>most</u>.</p><p>{'Words of an article. ' * 80}</p></article>"
    for name, text in (("a.html", page), ("a.eml", MAIL + "Content-Type: text/html; charset=utf-8\n\n" + page)):
        assert "It grew to 10⁶ t of CO2, the 2nd most." in read(text, name).text


def test_a_mail_is_cut_at_the_part_that_is_too_much() -> None:
    found = read(PARTS, "parts.eml")
    assert found.text.count("needle") > eml.PARTS_MAX - 2
    assert "more than 2,000 parts" in (found.warning or "")


def test_a_long_text_keeps_its_words_without_structure() -> None:
    found = read("Title\n=====\n\n" + "word *more*\n\n" * (rst.SOURCE_MAX // 10), "long.rst")
    assert not found.markdown
    assert "plain text" in (found.warning or "")


ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "xml",
    [
        f'<!DOCTYPE d [<!ENTITY l0 "lol">{ENTITIES}]><d a="&l9;">&l9;</d>',
        "<d>" + "<t>" * 5_000 + "</t>" * 5_000 + "</d>",
    ],
)
def test_hostile_xml_is_told_in_words(xml: str) -> None:
    with pytest.raises(RagstoneError) as caught:
        read(zipped({"word/document.xml": xml}), "bomb.docx")
    assert "nests or expands more than a document does" in caught.value.detail
    assert "damaged" not in caught.value.detail
    assert "XML_" not in caught.value.detail


def test_damaged_xml_is_told_with_its_line() -> None:
    with pytest.raises(RagstoneError, match=r"a part of it is damaged \(line 2\); save it anew"):
        read(zipped({"word/document.xml": "<d>\n<a></d>"}), "a.docx")


def test_a_number_of_many_digits_is_text() -> None:
    digits = "7" * 200_000
    assert read(f'{{"big": {digits}, "small": 5}}', "a.json").text == f"big: {digits}\nsmall: 5"


def test_a_device_s_name_is_told_as_its_owner_wrote_it() -> None:
    assert incoming("notes/nul.txt", filename="_nul.txt").name == "nul.txt"
    assert incoming("a", filename="_b.txt").name == "_b.txt"
    assert incoming("_b.txt", filename="_b.txt").name == "_b.txt"
