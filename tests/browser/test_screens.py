"""Pictures of the page for its documentation, taken where RAGSTONE_SCREENSHOTS names a folder for them."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.visitor import ABSTAINED, ANSWERED, Visitor, screens
from tests.e2e.stack import Stack

pytestmark = pytest.mark.skipif(screens() is None, reason="RAGSTONE_SCREENSHOTS names no folder")

LARGEST_BYTES = 150_000
COLOURS = 96
WINDOWS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True},
}


def taken(page: Page, name: str) -> None:
    """Keep what is seen now; nothing may blink or still be loading."""
    folder = screens()
    assert folder is not None
    folder.mkdir(parents=True, exist_ok=True)
    page.wait_for_load_state("networkidle")
    path = folder / f"{name}.png"
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide", scale="css")))
    # A page has few colours; a table of them makes a third of the size.
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    assert path.stat().st_size < LARGEST_BYTES


@pytest.mark.parametrize("window", WINDOWS)
def test_the_page(stack: Stack, visitors: Callable[..., Visitor], window: str) -> None:
    visitor = visitors(stack.base_url, **WINDOWS[window])
    page = visitor.open()
    expect(page.get_by_role("tab", name="Ask")).to_be_visible()
    taken(page, f"asking-{window}")
    visitor.ask(ABSTAINED)
    taken(page, f"abstained-{window}")
    visitor.ask(ANSWERED)
    taken(page, f"answered-{window}")
    page.locator(".chip").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("## ")
    taken(page, f"source-{window}")


@pytest.mark.parametrize("window", WINDOWS)
def test_the_widget(stack: Stack, visitors: Callable[..., Visitor], window: str) -> None:
    page = visitors(stack.base_url, **WINDOWS[window]).open("/widget-example")
    page.get_by_role("button", name="Ask the documents").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Your question").fill(ANSWERED)
    page.keyboard.press("Enter")
    expect(dialog.locator(".tools")).to_be_visible()
    dialog.locator(".asked").scroll_into_view_if_needed()
    taken(page, f"widget-{window}")


def test_why(stack: Stack, visitors: Callable[..., Visitor]) -> None:
    visitor = visitors(stack.base_url, viewport={"width": 1280, "height": 1100})
    page = visitor.open()
    visitor.ask("What has Juno done with Kafka and queues?")
    page.get_by_role("button", name="Why this answer?").click()
    expect(page.get_by_role("table", name="What was found")).to_be_visible()
    page.locator(".why").scroll_into_view_if_needed()
    taken(page, "why-light")
