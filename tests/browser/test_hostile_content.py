"""Documents, titles, file names and questions that are markup stay text, wherever the page shows them."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from services.shared.contracts.answers import AnswerStatus
from services.shared.contracts.documents import DocumentIn
from services.shared.contracts.jobs import JobState
from tests.browser import answers
from tests.browser.visitor import Visitor, whole
from tests.e2e.stack import Stack, running_stack, until

pytestmark = whole

MARKUP = (
    "<script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)></svg>"
    '<a href="javascript:alert(4)">link</a><iframe srcdoc="<script>alert(5)</script>"></iframe>'
    '"><b onmouseover=alert(6)>bold</b>'
)
LINK = '[a link](javascript:alert(7)) ![a picture](x" onerror="alert(8)) <javascript:alert(9)>'
TURNED = "\u202egnp.exe\u202c"
TITLE = f"Harbour {MARKUP} {TURNED}"
FACT = "The harbour master of Quillan is Odo Brask."
TEXT = f"# Quillan {MARKUP}\n\n{FACT} {MARKUP}\n\n{LINK}\n\nThe quay {TURNED} of Quillan is long."
NAME = "<img src=x onerror=alert(9)>.md"
QUESTION = "Who is the harbour master of Quillan?"
GROWN = "script:not([src]), svg [onload], img[onerror], iframe:not([src]), [href^='javascript:' i], [onmouseover]"
"""What the page itself never has."""


@pytest.fixture(scope="module")
def harbour(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Holds hostile documents."""
    with running_stack(tmp_path_factory.mktemp("hostile") / "state") as running:
        with running.api() as api:
            job = api.submit_text(DocumentIn(id="harbour", title=TITLE, text=TEXT, type="<b>type</b>", tags=["<i>tag"]))
            until(lambda: api.job(job.id).state.final, 60)
            assert api.job(job.id).state is JobState.SUCCEEDED
        for name, content in (
            (NAME, b"# Odd\n\nThe pier of Quillan is made of oak."),
            ("<b>torn.pdf", b"%PDF-1.4 no"),
        ):
            sent = httpx.post(f"{running.base_url}/v1/documents", files={"files": (name, content)}, trust_env=False)
            assert sent.status_code == 202, sent.text
        asked = running.ask("What is the anthem of <img src=x onerror=alert(10)>?")
        assert asked.status is AnswerStatus.ABSTAINED, asked.text
        yield running


@pytest.fixture
def wary(harbour: Stack, visitors: Callable[..., Visitor]) -> Visitor:
    """Somebody to whom a dialog is a fault."""
    visitor = visitors(harbour.base_url)

    def opened(dialog: Any) -> None:
        visitor.faults.append(f"a script ran: {dialog.message}")
        dialog.dismiss()

    visitor.page.on("dialog", opened)
    return visitor


def nothing_grew(page: Page) -> None:
    """No element of the documents' making is in the page."""
    page.wait_for_timeout(300)
    assert page.locator(GROWN).count() == 0, page.locator(GROWN).first.evaluate("one => one.outerHTML")


def test_an_answer_and_its_source(wary: Visitor) -> None:
    page = wary.open()
    wary.ask(QUESTION)
    expect(page.locator("#answers")).to_contain_text("Odo Brask")
    nothing_grew(page)
    page.locator(".chip").first.click()
    panel = page.get_by_role("dialog")
    expect(panel).to_contain_text("onerror=alert(2)")
    nothing_grew(page)
    # Nothing of a title turns the words around it.
    assert "\u202e" not in panel.get_by_role("heading").first.inner_text() or panel.get_by_role(
        "heading"
    ).first.evaluate("one => ['isolate', 'plaintext', 'isolate-override'].includes(getComputedStyle(one).unicodeBidi)")


def test_the_source_as_a_page_of_its_own(wary: Visitor) -> None:
    page = wary.open("/v1/documents/harbour/source?as=text#0-40")
    expect(page.locator("body")).to_contain_text("Odo Brask")
    nothing_grew(page)


def test_whatever_a_writer_says(wary: Visitor) -> None:
    """As if all that a model and the documents say were hostile."""
    said = f"{FACT} {MARKUP} {LINK} [1]"
    citation = answers.CITATION.model_copy(
        update={
            "title": TITLE, "section": MARKUP, "place": MARKUP, "quote": MARKUP, "source": "javascript:alert(10)",
            "url": "javascript:alert(11)", "document_id": NAME,
        }
    )  # fmt: skip
    whole_answer = answers.answer(said, citations=[citation], sub_questions=[MARKUP], degraded=[MARKUP])
    wary.is_told(answers.stage("write"), answers.sentence(said), answers.whole(whole_answer))
    page = wary.open()
    wary.ask(QUESTION)
    nothing_grew(page)
    for button in page.locator("#answers .tools button").all():
        if "why" in button.inner_text().lower():
            button.click()
    nothing_grew(page)


def test_a_question_that_is_markup_and_its_history(wary: Visitor) -> None:
    wary.is_told(answers.whole(answers.answer(MARKUP, status=AnswerStatus.ABSTAINED, citations=[], claims=[])))
    page = wary.open()
    wary.ask(MARKUP)
    nothing_grew(page)
    page.reload()
    nothing_grew(page)


@pytest.mark.parametrize("view", ["documents", "work", "gaps"])
def test_the_owners_lists(wary: Visitor, view: str) -> None:
    page = wary.open(f"/#{view}")
    shown = page.locator(f"#view-{view}")
    expect(shown).to_be_visible()
    expect(shown).to_contain_text("alert(" if view != "work" else "torn")
    nothing_grew(page)
    if view == "documents":
        shown.get_by_role("button", name="What was understood").first.click()
        expect(page.get_by_role("dialog").first).to_be_visible()
        nothing_grew(page)
