"""The description of the API, as people read it: everything comes from the gateway."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor, whole

pytestmark = whole


def test_every_door_is_shown_and_can_be_tried(visitor: Visitor) -> None:
    page = visitor.open("/docs")
    doors = page.locator(".opblock")
    expect(doors.filter(has_text="/v1/ask").first).to_be_visible()
    assert doors.count() >= 45
    me = doors.filter(has_text="/v1/me")
    me.locator(".opblock-summary-control").click()
    me.get_by_role("button", name="Try it out").click()
    me.get_by_role("button", name="Execute").click()
    expect(me.locator(".responses-table.live-responses-table")).to_contain_text('"role": "admin"')
    page.get_by_role("button", name="Authorize").first.click()
    expect(page.locator(".dialog-ux")).to_contain_text("A key of this gateway")
