"""The way of most visitors: ask, read, open the source, go on."""

from playwright.sync_api import expect

from services.shared.contracts.answers import AskRequest
from tests.browser.visitor import ANSWERED, Visitor
from tests.e2e.stack import Stack


def test_an_answer_opens_its_source_at_the_quoted_place(visitor: Visitor, stack: Stack) -> None:
    page = visitor.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ask about Juno Tarkwell")
    visitor.ask(ANSWERED)
    with stack.api() as api:
        first = api.ask(AskRequest(question=ANSWERED)).citations[0]
    chip = page.locator("#answers .chip").first
    chip.click()
    panel = page.get_by_role("dialog", name=first.title)
    expect(panel.locator("mark")).to_have_text(first.quote)
    expect(panel).to_contain_text("## ")  # more than the quote: what stands around it
    assert panel.locator("mark").evaluate("""mark => {
        const [box, inside] = [mark.closest(".source-text"), mark].map((one) => one.getBoundingClientRect());
        return inside.top >= box.top && inside.bottom <= box.bottom;
    }"""), "the marked place is out of sight"
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(chip).to_be_focused()


def test_an_earlier_answer_comes_back_after_a_new_start(visitor: Visitor) -> None:
    page = visitor.open()
    page.get_by_role("button", name="Has she run Kubernetes in production?").click()
    visitor.answered()
    said = page.locator("#answers .said").inner_text()
    page.reload()
    page.get_by_role("region", name="Earlier questions").get_by_role("button", name="Has she run Kubernetes").click()
    expect(page.locator("#answers .said")).to_have_text(said)


def test_the_widget_on_a_page_answers(visitor: Visitor) -> None:
    page = visitor.open("/widget-example")
    page.get_by_role("button", name="Ask the documents").click()
    dialog = page.get_by_role("dialog", name="Ask the documents")
    dialog.get_by_label("Your question").fill(ANSWERED)
    page.keyboard.press("Enter")
    expect(dialog.locator(".answer .chip").first).to_be_visible()
    expect(dialog.locator(".answer")).to_have_attribute("data-status", "answered")
