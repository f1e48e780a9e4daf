"""An owner's shortest way: bring a file in, ask about it, forget it."""

from playwright.sync_api import expect

from tests.browser.owner.owning import Owner, file
from tests.browser.visitor import Visitor

LAMP = "# The lamp of Sollerup\n\nThe harbour lamp of Sollerup burns rapeseed oil and is painted green.\n"
QUESTION = "What does the harbour lamp of Sollerup burn?"


def test_a_file_is_brought_in_asked_about_and_forgotten(visitor: Visitor) -> None:
    owner = Owner(visitor)
    page = owner.page
    owner.see("documents")
    owner.send(file("lamp.md", LAMP))
    expect(owner.sent("lamp.md")).to_contain_text("Done")
    page.get_by_label("Search titles").fill("sollerup")
    row = page.locator("#documents").get_by_role("listitem").filter(has_text="The lamp of Sollerup")
    expect(row).to_be_visible()

    owner.go("Ask")
    visitor.ask(QUESTION)
    expect(page.locator("#answers")).to_contain_text("rapeseed oil")
    expect(page.locator("#answers .sources")).to_contain_text("The lamp of Sollerup")

    owner.go("Documents")
    row.get_by_role("button", name="Forget").click()
    expect(owner.dialog).to_contain_text("cannot be brought back")
    owner.confirm("Forget it")
    expect(owner.dialog).to_contain_text("is forgotten")
    expect(owner.dialog.get_by_role("listitem").first).to_have_text("1 version")
    owner.confirm("Close")
    expect(row).to_have_count(0)
    owner.go("Ask")
    visitor.ask(QUESTION)
    expect(page.locator("#answers .answer")).to_have_attribute("data-status", "abstained")
