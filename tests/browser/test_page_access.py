"""The page without a mouse, without sight, with little light and with large thumbs."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import ABSTAINED, ANSWERED, DECLINED, Visitor, whole
from tests.e2e.stack import Stack

pytestmark = whole

TABS_MAX = 40
TOUCH_PX = 44


def tab_to(visitor: Visitor, wanted: str) -> None:
    """Press Tab until the focus is on what a selector names."""
    for _ in range(TABS_MAX):
        visitor.page.keyboard.press("Tab")
        if visitor.page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
            return
    raise AssertionError(f"Tab never reached {wanted}")


def test_everything_can_be_done_by_keyboard_alone(visitor: Visitor) -> None:
    page = visitor.open()
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type(ANSWERED)
    page.keyboard.press("Enter")
    visitor.answered()
    tab_to(visitor, ".chip")
    ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator("#panel-title")).to_be_focused()
    tab_to(visitor, "#panel-text")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('.chip')")
    tab_to(visitor, ".tool[data-verdict=good]")
    page.keyboard.press("Space")
    expect(page.locator(".told")).to_contain_text("Thank you")
    tab_to(visitor, ".comment textarea")
    tab_to(visitor, ".earlier")
    page.keyboard.press("Enter")
    expect(page.get_by_role("article")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Your question")).to_be_focused()


def test_the_tabs_of_the_owner_follow_the_arrows(visitor: Visitor) -> None:
    page = visitor.open()
    tab = page.get_by_role("tab", name="Ask")
    tab.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Documents")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Documents")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.get_by_role("tabpanel", name="Ask")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing(stack: Stack, visitors: Callable[..., Visitor], scheme: str, width: int) -> None:
    visitor = visitors(stack.base_url, color_scheme=scheme, viewport={"width": width, "height": 800})
    page = visitor.open()
    expect(page.get_by_role("tab", name="Documents")).to_be_visible()
    visitor.is_accessible()
    for question in (ABSTAINED, DECLINED, ANSWERED):
        visitor.ask(question)
        visitor.is_accessible()
    page.get_by_role("button", name="Why this answer?").click()
    page.get_by_role("button", name="Show every step").click()
    expect(page.get_by_role("table", name="Found by words")).to_be_visible()
    page.get_by_role("button", name="Helpful", exact=True).click()
    expect(page.locator(".comment form")).to_be_visible()
    visitor.is_accessible()
    page.locator(".chip").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("## ")
    visitor.is_accessible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_widget(stack: Stack, visitors: Callable[..., Visitor], scheme: str) -> None:
    visitor = visitors(stack.base_url, color_scheme=scheme)
    page = visitor.open("/widget-example")
    page.get_by_role("button", name="Ask the documents").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Your question").fill(ANSWERED)
    page.keyboard.press("Enter")
    expect(dialog.locator(".tools")).to_be_visible()
    visitor.is_accessible()
    dialog.locator(".chip").first.click()
    expect(dialog.locator(".source mark")).to_be_visible()
    visitor.is_accessible()


def test_the_schemes_differ_and_both_are_used(stack: Stack, visitors: Callable[..., Visitor]) -> None:
    grounds = [
        visitors(stack.base_url, color_scheme=scheme).open().evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    ]
    assert grounds == ["rgb(250, 248, 243)", "rgb(19, 23, 22)"]


def test_nothing_moves_for_those_who_asked_for_that(stack: Stack, visitors: Callable[..., Visitor]) -> None:
    for wanted, moving in (("no-preference", "pulse"), ("reduce", "none")):
        page = visitors(stack.base_url, reduced_motion=wanted).open()
        page.evaluate(
            """() => {
                document.getElementById("progress").hidden = false;
                document.querySelector("#steps li").dataset.state = "now";
            }"""
        )
        step = page.locator("#steps li").first
        assert step.evaluate("it => getComputedStyle(it, '::before').animationName") == moving


def test_thumbs_hit_what_they_want_on_a_phone(phone: Visitor) -> None:
    page = phone.open()
    small = """() => [...document.querySelectorAll("button, a, input, label:has(input), summary")]
      .filter((it) => it.checkVisibility() && !it.matches(".chip, .skip, .unseen, label input"))
      .map((it) => [it.textContent.trim() || it.id, it.getBoundingClientRect()])
      .filter(([, box]) => box.height < 44 && box.height > 1)
      .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""
    assert page.evaluate(small) == []
    phone.fits_the_width()
    phone.ask(ANSWERED)
    assert page.evaluate(small) == []
    # A number in the running text is small, and reacts around itself.
    reach = page.locator(".chip").first.evaluate(
        """it => { const box = it.getBoundingClientRect(), more = getComputedStyle(it, "::after");
             return [box.height - 2 * parseFloat(more.top), box.width - 2 * parseFloat(more.left)]; }"""
    )
    assert reach[0] >= TOUCH_PX - 4
    page.locator(".chip").first.tap()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate(small) == []
    phone.fits_the_width()
    # What lies behind cannot be reached.
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('#panel')")
    page.get_by_role("button", name="Close the source").tap()
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_those_who_listen_hear_each_sentence_once(visitor: Visitor) -> None:
    page = visitor.open()
    page.evaluate(
        """() => { window.heard = [];
          const hear = (change) => change.addedNodes.forEach((it) => heard.push(it.textContent));
          const there = document.getElementById("heard");
          new MutationObserver((changes) => changes.forEach(hear)).observe(there, { childList: true }); }"""
    )
    visitor.ask(ANSWERED)
    heard = page.evaluate("window.heard")
    assert heard[-1].startswith("Answered from ")
    assert len(heard) == len(set(heard)) > 2
    assert not any("[1]" in sentence for sentence in heard)
