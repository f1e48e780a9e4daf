"""Keys in the page: the first one, others, and what a key does not open."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from services.shared.contracts.keys import NewKey, Role
from tests.browser.gateways import Keyed
from tests.browser.owner.owning import Owner, problem
from tests.browser.visitor import Visitor, whole
from tests.e2e.stack import Stack, running_stack

pytestmark = whole

REFUSED = {"/v1/me", "/v1/warmup", "/v1/keys"}


@pytest.fixture
def keyless(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack of one test's own: with its first key it is another one for ever."""
    with running_stack(tmp_path_factory.mktemp("keyless") / "state") as running:
        yield running


def enter(owner: Owner, secret: str) -> None:
    """Show a key to the page."""
    owner.visitor.foreseen |= REFUSED
    owner.visitor.open("/")
    owner.page.get_by_label("Key", exact=True).fill(secret)
    owner.page.keyboard.press("Enter")


def test_the_first_key_is_the_owners_and_the_tab_goes_on_with_it(
    keyless: Stack, visitors: Callable[..., Visitor]
) -> None:
    owner = Owner(visitors(keyless.base_url))
    owner.see("keys")
    expect(owner.page.get_by_text("There is no key yet")).to_be_visible()
    owner.page.get_by_role("button", name="Create a key").click()
    expect(owner.dialog.get_by_label("What it may do").get_by_role("option")).to_have_count(1)
    owner.dialog.get_by_label("What it is for").fill("my own")
    owner.confirm("Create it")
    expect(owner.dialog.locator(".secret")).to_have_text(re.compile("^rs_"))
    owner.confirm("Close")
    expect(owner.row("my own")).to_contain_text("admin")
    owner.page.reload()
    expect(owner.row("my own")).to_be_visible()
    stranger = visitors(keyless.base_url)
    stranger.foreseen |= REFUSED
    expect(stranger.open().get_by_role("alert")).to_contain_text("This needs a key")


def test_a_key_is_made_copied_once_and_revoked(keyed: Keyed, visitors: Callable[..., Visitor]) -> None:
    visitor = visitors(keyed.stack.base_url, permissions=["clipboard-read", "clipboard-write"])
    owner = Owner(visitor)
    enter(owner, keyed.admin)
    owner.go("Keys")
    owner.page.get_by_role("button", name="Create a key").click()
    owner.dialog.get_by_label("What it is for").fill("shop window")
    owner.dialog.get_by_label("It stands in a web page").check()
    owner.confirm("Create it")
    expect(owner.dialog.get_by_role("alert")).to_contain_text("please fill this in")
    owner.dialog.get_by_label("Web addresses").fill("no address")
    owner.confirm("Create it")
    expect(owner.dialog.get_by_role("alert")).to_contain_text("no web address")
    owner.dialog.get_by_label("Web addresses").fill("https://shop.example")
    owner.confirm("Create it")
    secret = owner.dialog.locator(".secret").inner_text()
    owner.confirm("Copy")
    expect(owner.dialog).to_contain_text("Copied.")
    assert owner.page.evaluate("navigator.clipboard.readText()") == secret
    owner.confirm("Close")
    expect(owner.dialog.locator(".secret")).to_have_count(0)
    assert secret not in owner.page.content()
    owner.row("shop window").get_by_role("button", name="Revoke").click()
    owner.confirm("Revoke it")
    expect(owner.row("shop window")).to_contain_text("Revoked")


def test_what_was_typed_stays_when_the_server_does_not_answer(keyed: Keyed, visitors: Callable[..., Visitor]) -> None:
    owner = Owner(visitors(keyed.stack.base_url))
    enter(owner, keyed.admin)
    owner.go("Keys")
    owner.page.get_by_role("button", name="Create a key").click()
    owner.dialog.get_by_label("What it is for").fill("a colleague")
    owner.dialog.get_by_label("What it may do").select_option("write")
    owner.page.route(
        "**/v1/keys", lambda route: route.fulfill(**problem("catalog_unavailable", "The catalog is away.", 503))
    )
    owner.confirm("Create it")
    expect(owner.dialog.get_by_role("alert")).to_contain_text("The catalog is away.")
    expect(owner.dialog.get_by_label("What it is for")).to_have_value("a colleague")
    owner.confirm("Cancel")
    owner.page.get_by_role("button", name="Create a key").click()
    expect(owner.dialog.get_by_label("What it is for")).to_have_value("a colleague")
    expect(owner.dialog.get_by_label("What it may do")).to_have_value("write")


def test_who_may_write_sees_all_views_but_the_keys(keyed: Keyed, visitors: Callable[..., Visitor]) -> None:
    owner = Owner(visitors(keyed.stack.base_url))
    enter(owner, keyed.key(NewKey(name="editor", role=Role.WRITE)))
    expect(owner.page.get_by_role("tab", name="Indexes")).to_be_visible()
    expect(owner.page.get_by_role("tab", name="Keys")).to_have_count(0)
    owner.go("Work")
    expect(owner.page.locator("#jobs .row").first).to_be_visible()
    expect(owner.page.get_by_text("Key “editor”: write, space main.")).to_be_visible()
    owner.page.get_by_role("button", name="Put the key away").click()
    expect(owner.page.get_by_role("alert")).to_contain_text("This needs a key")


def test_a_key_that_is_revoked_meanwhile_is_asked_for_in_the_view(
    keyed: Keyed, visitors: Callable[..., Visitor]
) -> None:
    owner = Owner(visitors(keyed.stack.base_url))
    enter(owner, keyed.key(NewKey(name="brief", role=Role.WRITE)))
    owner.go("Gaps")
    expect(owner.page.get_by_text("Nothing is open")).to_be_visible()
    owner.page.evaluate("sessionStorage.setItem('ragstone.key', 'rs_0123456789ab_wrong')")
    owner.visitor.foreseen |= {"/v1/gaps"}
    owner.page.get_by_role("button", name=re.compile("^Dismissed")).click()
    box = owner.page.locator("#view-gaps")
    expect(box.get_by_role("alert")).to_contain_text("does not open it")
    box.get_by_label("Key", exact=True).fill(keyed.admin)
    owner.page.keyboard.press("Enter")
    expect(box.get_by_role("alert")).to_have_count(0)
    expect(owner.page.get_by_text("Nothing was dismissed")).to_be_visible()
