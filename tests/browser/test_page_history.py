"""Earlier questions stay in the browser, and nothing breaks where a browser keeps nothing."""

from playwright.sync_api import expect

from tests.browser.visitor import ANSWERED, Visitor, whole

pytestmark = whole

KEPT = "ragstone.history"


def test_the_history_can_be_cleared_and_switched_off(visitor: Visitor) -> None:
    page = visitor.open()
    earlier = page.get_by_role("region", name="Earlier questions")
    visitor.ask(ANSWERED)
    expect(earlier.get_by_role("listitem")).to_have_count(1)
    earlier.get_by_role("button", name="Clear all").click()
    expect(earlier.get_by_role("listitem")).to_have_count(0)
    assert page.evaluate(f"localStorage.getItem('{KEPT}')") is None
    earlier.get_by_label("Keep them in this browser").uncheck()
    visitor.ask(ANSWERED)
    expect(earlier).to_contain_text("Nothing is kept.")
    page.reload()
    expect(earlier.get_by_label("Keep them in this browser")).not_to_be_checked()
    assert page.evaluate(f"localStorage.getItem('{KEPT}')") is None


def test_broken_entries_are_left_out(visitor: Visitor) -> None:
    page = visitor.open()
    for broken in ("{", "7", '[null, 1, {"question": 3}, {"question": "x", "answer": {}}]'):
        page.evaluate("([name, text]) => localStorage.setItem(name, text)", [KEPT, broken])
        page.reload()
        expect(page.get_by_text("What you ask appears here.")).to_be_visible()
    visitor.ask(ANSWERED)
    expect(page.get_by_role("region", name="Earlier questions").get_by_role("listitem")).to_have_count(1)


def test_a_browser_that_keeps_nothing_asks_all_the_same(visitor: Visitor) -> None:
    visitor.context.add_init_script(
        """for (const name of ["localStorage", "sessionStorage"])
             Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError"); } });"""
    )
    page = visitor.open()
    visitor.ask(ANSWERED)
    expect(page.get_by_role("region", name="Earlier questions").get_by_role("listitem")).to_have_count(1)


def test_what_was_asked_before_is_never_sent(visitor: Visitor) -> None:
    page = visitor.open()
    visitor.ask(ANSWERED)
    page.reload()
    expect(page.get_by_role("region", name="Earlier questions").get_by_role("listitem")).to_have_count(1)
    with page.expect_request("**/v1/ask") as asked:
        visitor.ask("Has she run Kubernetes in production?")
    assert "PostgreSQL" not in (asked.value.post_data or "")
