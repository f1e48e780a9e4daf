"""The widget on a web page of somebody else, whose rules are strict and whose styles are loud."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Locator, expect

from services.shared.contracts.keys import NewKey
from tests.browser.gateways import ForeignSite, Keyed, foreign_site
from tests.browser.visitor import ANSWERED, Visitor, whole

pytestmark = whole


@pytest.fixture
def site(keyed: Keyed) -> Iterator[ForeignSite]:
    """With a public key that names it."""
    with foreign_site(keyed.stack.base_url) as running:
        running.key = keyed.key(NewKey(name="website", public=True, allowed_origins=[running.base_url]))
        yield running


@pytest.fixture
def guest(site: ForeignSite, visitors: Callable[..., Visitor]) -> Visitor:
    """Somebody on that site."""
    visitor = visitors(site.base_url)
    visitor.origins.add(site.gateway)
    visitor.foreseen.add("/favicon.ico")
    return visitor


def opened(guest: Visitor) -> Locator:
    """The dialog, after a press on the button."""
    guest.page.get_by_role("button", name="Ask about Juno").click()
    dialog = guest.page.get_by_role("dialog", name="Ask about Juno")
    expect(dialog).to_be_visible()
    return dialog


def asked(guest: Visitor, dialog: Locator) -> None:
    """Ask by keyboard and wait for the whole answer."""
    expect(dialog.get_by_label("Your question")).to_be_focused()
    guest.page.keyboard.type(ANSWERED)
    guest.page.keyboard.press("Enter")
    expect(dialog.locator(".tools")).to_be_visible()


def test_a_page_of_another_origin_gets_cited_answers(guest: Visitor) -> None:
    page = guest.open()
    dialog = opened(guest)
    asked(guest, dialog)
    chip = dialog.locator(".chip").first
    chip.click()
    source = dialog.get_by_role("region", name="Source")
    expect(source.locator("mark")).to_be_in_viewport()
    expect(source.locator(".source-text")).to_contain_text("## ")
    expect(source.get_by_role("button", name="Back to the answer")).to_be_focused()
    page.keyboard.press("Escape")
    expect(chip).to_be_focused()
    dialog.get_by_role("button", name="Helpful", exact=True).click()
    expect(dialog.locator(".told")).to_contain_text("Thank you")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Ask about Juno")).to_be_focused()


def test_the_focus_stays_in_the_dialog(guest: Visitor) -> None:
    page = guest.open()
    opened(guest)
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.matches('ragstone-widget, body')")


def test_neither_reaches_into_the_other(guest: Visitor, site: ForeignSite) -> None:
    page = guest.open("/?")
    dialog = opened(guest)
    send = dialog.get_by_role("button", name="Ask", exact=True)
    assert send.evaluate("it => getComputedStyle(it).backgroundColor") == "rgb(28, 101, 84)"
    assert send.evaluate("it => getComputedStyle(it).color") == "rgb(255, 255, 255)"
    assert dialog.evaluate("it => it.getBoundingClientRect().width") > 300
    assert (
        page.get_by_role("link", include_hidden=True).evaluate("it => getComputedStyle(it).fontFamily") == "monospace"
    )
    names = "Object.keys(window).filter((name) => !/^(brokenRules|axe)/.test(name))"
    with_widget = page.evaluate(names)
    page.route("**/widget.js", lambda route: route.fulfill(content_type="text/javascript", body=""))
    page.reload()
    assert with_widget == page.evaluate(names)


def test_a_phone_is_filled_by_it(site: ForeignSite, visitors: Callable[..., Visitor]) -> None:
    guest = visitors(site.base_url, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    guest.origins.add(site.gateway)
    guest.foreseen.add("/favicon.ico")
    guest.open()
    dialog = opened(guest)
    box = dialog.bounding_box()
    assert box == {"x": 0, "y": 0, "width": 360, "height": 740}
    asked(guest, dialog)
    guest.fits_the_width()


def test_the_theme_can_be_chosen(guest: Visitor, site: ForeignSite) -> None:
    site.theme = "dark"
    guest.open()
    dialog = opened(guest)
    assert dialog.evaluate("it => getComputedStyle(it).backgroundColor") == "rgb(19, 23, 22)"


def test_a_page_that_no_key_names_is_told_so(keyed: Keyed, guest: Visitor, site: ForeignSite) -> None:
    guest.foreseen.add("/v1/ask")
    site.key = keyed.key(NewKey(name="elsewhere", public=True, allowed_origins=["https://example.com"]))
    guest.open()
    dialog = opened(guest)
    dialog.get_by_label("Your question").fill(ANSWERED)
    guest.page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("not set up for it yet")


def test_the_script_may_be_kept_and_is_open_to_all(keyed: Keyed) -> None:
    with httpx.Client(base_url=keyed.stack.base_url, trust_env=False) as client:
        first = client.get("/widget.js", headers={"Origin": "https://example.com"})
        again = client.get("/widget.js", headers={"If-None-Match": first.headers["etag"]})
        page = client.get("/", headers={"Origin": "https://example.com"})
    assert first.headers["access-control-allow-origin"] == "*"
    assert "max-age" in first.headers["cache-control"]
    assert first.headers["x-content-type-options"] == "nosniff"
    assert again.status_code == 304
    assert "access-control-allow-origin" not in page.headers
