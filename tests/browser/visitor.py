"""Somebody in front of a real browser, who notices what a person would not: errors in the console, forbidden content,
requests to elsewhere, and what a screen reader would stumble over."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Route, expect

WHOLE = os.environ.get("RAGSTONE_TEST_BROWSER") == "whole"
whole = pytest.mark.skipif(not WHOLE, reason="`make test-browser` runs these")

ANSWERED = "What does she know about PostgreSQL?"
ABSTAINED = "What is her favourite pizza topping?"
DECLINED = "Are you a robot?"
PATIENCE_MS = 20_000

expect.set_options(timeout=PATIENCE_MS)

# Broken rules of the page's Content-Security-Policy reach the console, and this list even where nobody logs them.
_LISTEN = """
window.brokenRules = [];
addEventListener("securitypolicyviolation", (event) => {
  window.brokenRules.push(`forbidden: ${event.violatedDirective} ${event.blockedURI}`);
});
"""


class Visitor:
    """One page in a browser of its own, and what went wrong in it.

    ``foreseen`` holds paths whose requests may fail, since the test wants them to.
    """

    def __init__(self, context: BrowserContext, base_url: str) -> None:
        context.add_init_script(_LISTEN)
        context.set_default_timeout(PATIENCE_MS)
        self.context = context
        self.base_url = base_url
        self.foreseen = set[str]()
        self.faults: list[str] = []
        self.origins = {base_url}
        self.page = context.new_page()
        self.watch(self.page)

    def watch(self, page: Page) -> Page:
        """Notice what goes wrong in another page of this browser."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"error in a script: {error}"))
        page.on("request", self._requested)
        return page

    def _said(self, message: ConsoleMessage) -> None:
        path = urlsplit(message.location.get("url", "")).path
        if message.type in ("error", "warning") and path not in self.foreseen:
            self.faults.append(f"{message.type} in the console: {message.text} ({path})")

    def _requested(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https") and f"{parts.scheme}://{parts.netloc}" not in self.origins:
            self.faults.append(f"a request to elsewhere: {request.url}")

    def end(self) -> None:
        """Nothing went wrong that was not foreseen."""
        for page in self.context.pages:
            if page.url.startswith("http"):
                self.faults += page.evaluate("window.brokenRules ?? []")
        assert not self.faults, "\n".join(self.faults)

    def open(self, path: str = "/") -> Page:
        """Go to a path of the gateway and wait until the page is itself."""
        self.page.goto(self.base_url + path)
        return self.page

    def ask(self, question: str) -> None:
        """Type a question, send it by the keyboard and wait for its whole answer."""
        self.page.get_by_label("Your question").fill(question)
        self.page.keyboard.press("Enter")
        self.answered()

    def answered(self) -> None:
        """Wait until the answer is complete."""
        expect(self.page.locator("#answers .tools")).to_be_visible()

    def is_accessible(self, page: Page | None = None) -> None:
        """Nothing that axe finds: labels, roles, contrast, order of headings."""
        results = Axe().run(page or self.page).response
        found = [
            f"{rule['id']}: {node['target']} {node.get('failureSummary', '')}"
            for rule in results["violations"]
            for node in rule["nodes"]
        ]
        assert not found, "\n".join(found)

    def fits_the_width(self) -> None:
        """Nothing has to be scrolled to sideways."""
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{wide} px too wide"

    def is_told(self, *events: tuple[str, Mapping[str, Any]]) -> None:
        """The next questions are answered with exactly these server-sent events, for what no real answer shows."""
        body = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)

        def answer(route: Route) -> None:
            route.fulfill(status=200, content_type="text/event-stream", body=body)

        self.page.route("**/v1/ask", answer)


def screens() -> Path | None:
    """Where pictures of the page are to be kept, if anywhere."""
    folder = os.environ.get("RAGSTONE_SCREENSHOTS")
    return Path(folder) if folder else None
