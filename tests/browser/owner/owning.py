"""What an owner does with the page over and over: go to a view, send files, answer a dialog."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypedDict

import psutil
from playwright.sync_api import Locator, expect

from tests.browser.visitor import Visitor
from tests.e2e.stack import Stack

SENT = "/v1/documents"
TOWNS = ("Aldmoor", "Brackwater", "Corvane", "Dunhollow", "Eskmere", "Fennick", "Garsdale", "Hexley")


class SentFile(TypedDict):
    """A file that was never on a disk, as Playwright takes it."""

    name: str
    mimeType: str
    buffer: bytes


def file(name: str, text: str) -> SentFile:
    """A text as a file."""
    return {"name": name, "mimeType": "", "buffer": text.encode()}


def problem(code: str, detail: str, status: int) -> dict[str, Any]:
    """An answer that says what went wrong."""
    body = {"type": "about:blank", "title": code, "status": status, "detail": detail, "code": code, "request_id": "r"}
    return {"status": status, "content_type": "application/problem+json", "body": json.dumps(body)}


class Owner:
    """Somebody who may change what the answers rest on."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.page = visitor.page

    def see(self, view: str) -> Locator:
        """Open the page at a view, such as documents."""
        self.page.goto("about:blank")
        self.visitor.open(f"/#{view}")
        shown = self.page.locator(f"#view-{view}")
        expect(shown).to_be_visible()
        return shown

    def go(self, tab: str) -> None:
        """To another view, as people do."""
        self.page.get_by_role("tab", name=tab).click()

    def send(self, *files: SentFile) -> None:
        """Choose files in the view of documents."""
        self.page.get_by_label("Choose files").set_input_files(files)

    def sent(self, name: str) -> Locator:
        """The line of a file that was sent."""
        return (
            self.page.get_by_role("region", name="Files that were sent").get_by_role("listitem").filter(has_text=name)
        )

    def row(self, text: str) -> Locator:
        """The line of a list that says this."""
        return self.page.locator(".owner:not([hidden]) .row").filter(has_text=text)

    @property
    def dialog(self) -> Locator:
        """What asks for a word first."""
        return self.page.locator("#owner-dialog")

    def confirm(self, button: str) -> None:
        """Press a button of the dialog."""
        self.dialog.get_by_role("button", name=button, exact=True).click()

    def said(self) -> Locator:
        """What the page said in passing."""
        return self.page.locator("#owner-said")


@contextmanager
def resting(stack: Stack) -> Iterator[None]:
    """The workers take nothing up meanwhile."""
    workers = [one for one in stack.family() if "services.ingestor" in one.cmdline() and "worker" in one.cmdline()]
    assert workers
    for worker in workers:
        worker.suspend()
    try:
        yield
    finally:
        for worker in workers:
            with_children = [worker, *worker.children(recursive=True)]
            for one in with_children:
                if one.is_running() and one.status() == psutil.STATUS_STOPPED:
                    one.resume()
