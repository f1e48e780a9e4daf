"""Answers of every form fit and read right: long ones, tables, code, other directions, small and large screens."""

import pytest
from playwright.sync_api import expect

from tests.browser import answers
from tests.browser.visitor import ANSWERED, Visitor, whole

pytestmark = whole

LONG = "Verbatim is what stands here word for word. " * 68 + "[1]"
WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 3
TABLE = "| Name | " + " | ".join(f"Column {n}" for n in range(12)) + " |\n|" + "---|" * 13 + "\n| a [1] |" + " b |" * 12
CODE = "```\n" + "very_long_call(" + "argument, " * 40 + ")\n```"
FORMS = {"long": LONG, "word": f"{WORD} [1].", "table": TABLE, "code": f"Look [1]:\n\n{CODE}"}


@pytest.mark.parametrize("form", FORMS)
def test_a_phone_is_wide_enough_for_every_form(phone: Visitor, form: str) -> None:
    phone.is_told(answers.whole(answers.answer(FORMS[form])))
    phone.open()
    phone.ask(ANSWERED + " " + WORD)
    phone.fits_the_width()
    phone.page.get_by_role("button", name="Why this answer?").click()
    expect(phone.page.locator(".why")).to_be_visible()
    phone.fits_the_width()


def test_at_twice_the_size_nothing_is_lost(visitor: Visitor) -> None:
    page = visitor.open()
    # What zooming does to a window of 1,280 px, and then larger letters on top.
    page.set_viewport_size({"width": 640, "height": 430})
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    visitor.ask(ANSWERED)
    visitor.fits_the_width()
    page.locator(".chip").first.click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Close")).to_be_in_viewport()
    visitor.fits_the_width()


def test_an_answer_from_right_to_left_reads_so(visitor: Visitor) -> None:
    visitor.is_told(answers.whole(answers.answer("نعم، لقد فعلت ذلك [1].\n\nAnd in English [1].")))
    page = visitor.open()
    visitor.ask("هل فعلت ذلك؟")
    directions = page.locator("#answers .said p").evaluate_all("all => all.map(it => getComputedStyle(it).direction)")
    assert directions == ["rtl", "ltr"]
    asked = page.locator("#answers .asked").evaluate("it => getComputedStyle(it).direction")
    assert asked == "rtl"


def test_tables_and_code_are_what_they_are(visitor: Visitor) -> None:
    visitor.is_told(answers.whole(answers.answer(f"{TABLE}\n\n{CODE}\n\n<b onclick=alert(1)>text</b> [1]")))
    page = visitor.open()
    visitor.ask(ANSWERED)
    expect(page.locator(".said").get_by_role("columnheader")).to_have_count(13)
    expect(page.locator(".said pre code")).to_contain_text("very_long_call")
    expect(page.locator(".said")).to_contain_text("<b onclick=alert(1)>text</b>")
    expect(page.locator(".said b")).to_have_count(0)
    visitor.is_accessible()


def test_the_written_answer_says_by_whom_and_what_was_missing(visitor: Visitor) -> None:
    visitor.is_told(answers.whole(answers.answer("Verbatim [1].", degraded=["sentences_dropped", "new_thing"])))
    page = visitor.open()
    visitor.ask(ANSWERED)
    expect(page.locator(".notes")).to_contain_text("written by qwen3:8b")
    expect(page.locator(".notes")).to_contain_text(
        "a sentence was left out that the documents do not support; new thing"
    )


def test_paper_shows_answer_and_quotes_and_no_buttons(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.ask(ANSWERED)
    page.emulate_media(media="print")
    expect(page.locator(".said")).to_be_visible()
    expect(page.locator(".quote").first).to_be_visible()
    for gone in (".top", ".ask", ".tools", "#earlier"):
        expect(page.locator(gone)).to_be_hidden()
