"""A gateway with keys: the page asks for one, shows what it allows, and sources stay closed without it."""

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import expect

from services.shared.contracts.keys import NewKey, Role
from tests.browser.gateways import Keyed
from tests.browser.visitor import ANSWERED, PATIENCE_MS, Visitor, whole

pytestmark = whole

SOURCE = "/v1/documents/skills/postgresql.md/source"
BROWSER = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}


@pytest.fixture
def stranger(keyed: Keyed, visitors: Callable[..., Visitor]) -> Visitor:
    """Somebody without a key, whose first requests are refused."""
    visitor = visitors(keyed.stack.base_url)
    visitor.foreseen |= {"/v1/me", "/v1/ask", "/v1/warmup", SOURCE}
    return visitor


def test_the_page_takes_a_key_and_keeps_it_for_the_tab(keyed: Keyed, stranger: Visitor) -> None:
    page = stranger.open()
    expect(page.get_by_role("alert")).to_contain_text("This needs a key")
    field = page.get_by_label("Key", exact=True)
    stranger.is_accessible()
    field.fill("rs_0123456789ab_wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("does not open it")
    page.get_by_label("Key", exact=True).fill(keyed.key(NewKey(name="reader")))
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    stranger.ask(ANSWERED)
    page.locator(".chip").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("## ")
    page.reload()
    stranger.ask(ANSWERED)
    expect(page.get_by_role("tab")).to_have_count(0)
    other = stranger.watch(stranger.context.new_page())
    other.goto(stranger.base_url)
    expect(other.get_by_role("alert")).to_contain_text("This needs a key")


def test_a_question_that_was_refused_is_asked_again_with_the_key(keyed: Keyed, stranger: Visitor) -> None:
    page = stranger.open("/?q=" + ANSWERED)
    page.get_by_role("button", name="Ask", exact=True).click()
    box = page.get_by_role("article")
    box.get_by_label("Key", exact=True).fill(keyed.key(NewKey(name="reader")))
    box.get_by_role("button", name="Use this key").click()
    stranger.answered()


def test_only_who_may_write_sees_the_owners_tab(keyed: Keyed, stranger: Visitor) -> None:
    page = stranger.open()
    page.get_by_label("Key", exact=True).fill(keyed.key(NewKey(name="writer", role=Role.WRITE)))
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Documents")).to_be_visible()


def test_a_source_opens_as_a_page_that_holds_nothing_and_asks_for_the_key(keyed: Keyed, stranger: Visitor) -> None:
    with httpx.Client(base_url=keyed.stack.base_url, trust_env=False) as client:
        shell = client.get(SOURCE, headers=BROWSER)
        other = client.get("/v1/documents/nobody-has-it/source", headers=BROWSER)
        refused = [
            client.get(SOURCE),
            client.get(SOURCE, params={"as": "original"}, headers=BROWSER),
            client.get(SOURCE, headers={"Accept": "text/plain"}),
            client.get("/v1/documents/skills/postgresql.md", headers=BROWSER),
        ]
    assert shell.status_code == 200
    assert "Tarkwell" not in shell.text
    assert shell.text == other.text
    assert [response.status_code for response in refused] == [401] * 4
    page = stranger.open(f"{SOURCE}?as=text#22-60")
    page.get_by_label("Key", exact=True).fill(keyed.key(NewKey(name="reader")))
    page.keyboard.press("Enter")
    expect(page.locator("#text")).to_contain_text("PostgreSQL")
    expect(page.locator("mark")).to_be_visible()
    with page.expect_download(timeout=PATIENCE_MS) as downloading:
        page.get_by_role("button", name="Download the original").click()
    assert downloading.value.suggested_filename.endswith(".md")


def test_the_source_in_a_new_tab_knows_the_key(keyed: Keyed, stranger: Visitor) -> None:
    page = stranger.open()
    page.get_by_label("Key", exact=True).fill(keyed.key(NewKey(name="reader")))
    page.keyboard.press("Enter")
    stranger.ask(ANSWERED)
    page.locator(".chip").first.click()
    with stranger.context.expect_page() as opening:
        page.get_by_role("link", name="Open the whole source").click()
    tab = stranger.watch(opening.value)
    expect(tab.locator("mark")).to_be_visible()
