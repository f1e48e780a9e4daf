"""The owner's views without a mouse, without sight, with little light and with large thumbs; and their pictures."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.owner.owning import Owner
from tests.browser.test_screens import WINDOWS, taken
from tests.browser.visitor import Visitor, screens, whole
from tests.e2e.stack import Stack

TOO_SMALL = """() => [...document.querySelectorAll("button, a, select, summary, label.pick, input:not(.pick-input)")]
  .filter((it) => it.checkVisibility() && !it.matches(".skip"))
  .map((it) => [it.textContent.trim() || it.name, it.getBoundingClientRect()])
  .filter(([, box]) => box.height < 44 && box.height > 1)
  .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""


@whole
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_and_nothing_is_too_wide(
    small: Stack, visitors: Callable[..., Visitor], scheme: str, width: int
) -> None:
    touch = {"has_touch": True, "is_mobile": True} if width < 600 else {}
    size = {"width": width, "height": 800}
    owner = Owner(visitors(small.base_url, color_scheme=scheme, viewport=size, **touch))
    opens = {
        "documents": re.compile("^Forget"),
        "work": re.compile("^Retry all"),
        "gaps": re.compile("^Add a negative"),
        "evaluations": re.compile("^Start an"),
        "indexes": re.compile("^Build another"),
        "keys": re.compile("^Create a key"),
    }
    for view, opener in opens.items():
        shown = owner.see(view)
        button = shown.get_by_role("button", name=opener).first
        expect(button).to_be_visible()
        owner.visitor.is_accessible()
        owner.visitor.fits_the_width()
        assert not touch or owner.page.evaluate(TOO_SMALL) == []
        button.click()
        expect(owner.dialog).to_be_visible()
        owner.visitor.is_accessible()
        owner.page.keyboard.press("Escape")
        expect(owner.dialog).to_be_hidden()
        expect(button).to_be_focused()


@whole
def test_a_file_is_forgotten_by_keyboard_alone(owner: Owner) -> None:
    page = owner.page
    owner.see("documents")
    page.get_by_label("Search titles").focus()
    page.keyboard.type("garsdale")
    expect(page.locator("#documents .row")).to_have_count(1)
    for name in ("What was understood", "Original", "Forget"):
        page.keyboard.press("Tab")
        expect(owner.row("Garsdale").get_by_role("button", name=name)).to_be_focused()
    page.keyboard.press("Enter")
    expect(owner.dialog.get_by_role("heading")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(owner.dialog).to_contain_text("is forgotten")
    expect(owner.dialog.get_by_role("heading")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#view-documents")).to_be_focused()


@pytest.mark.skipif(screens() is None, reason="RAGSTONE_SCREENSHOTS names no folder")
@pytest.mark.parametrize("window", WINDOWS)
def test_pictures_of_the_owners_views(stack: Stack, visitors: Callable[..., Visitor], window: str) -> None:
    owner = Owner(visitors(stack.base_url, **WINDOWS[window]))
    stack.ask("What is her favourite pizza topping?")
    for view in ("documents", "work", "gaps", "evaluations", "indexes", "keys"):
        expect(owner.see(view).locator(".row, .empty").first).to_be_visible()
        taken(owner.page, f"owner-{view}-{window}")
