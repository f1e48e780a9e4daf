"""A real browser in front of a real stack that has read the sample documents."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from services.shared.contracts.jobs import JobState
from services.shared.contracts.keys import NewKey, Role
from tests.browser.gateways import Keyed, made_key
from tests.browser.visitor import Visitor
from tests.e2e.stack import ROOT, Stack, running_stack, until

CHROMIUM = os.environ.get("RAGSTONE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
READING_S = 180.0


@pytest.fixture(scope="session")
def chromium() -> str:
    """The system's Chromium; none is downloaded."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: install the package chromium, or name one in RAGSTONE_CHROMIUM")
    return CHROMIUM


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """Ended with its module: Playwright keeps an event loop running in this thread, and other tests have their own."""
    # As root, which containers often are, Chromium starts without its sandbox only.
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=[*sandbox, *QUIET])
        yield running
        running.close()


@pytest.fixture(scope="session")
def stack(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Without keys, with all sample documents."""
    with _reading_stack(tmp_path_factory.mktemp("browser") / "state") as running:
        yield running


@pytest.fixture(scope="session")
def keyed(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """With keys: an own stack, since after the first key everybody needs one."""
    with _reading_stack(tmp_path_factory.mktemp("keyed") / "state") as running:
        yield Keyed(running, made_key(running, NewKey(name="owner", role=Role.ADMIN), None))


@contextmanager
def _reading_stack(folder: Path) -> Iterator[Stack]:
    corpus = ROOT / "corpus"
    with running_stack(folder, {"RAGSTONE_PROFILE": str(corpus / "profile.yaml")}, "--ingest", str(corpus)) as running:
        until(lambda: _has_read(running), READING_S, 0.5, running.said)
        yield running


def _has_read(stack: Stack) -> bool:
    with stack.api() as api:
        counts = api.jobs().counts
    return counts[JobState.SUCCEEDED] > 0 and counts[JobState.QUEUED] + counts[JobState.RUNNING] == 0


@pytest.fixture
def visitors(browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Makes visitors of an address, each with a browser profile of its own; at the end all must be content."""
    there: list[Visitor] = []

    def visit(base_url: str, **options: Any) -> Visitor:
        there.append(Visitor(browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options}), base_url))
        return there[-1]

    yield visit
    for visitor in there:
        visitor.end()
        visitor.context.close()


@pytest.fixture
def visitor(stack: Stack, visitors: Callable[..., Visitor]) -> Visitor:
    """Somebody at a desk."""
    return visitors(stack.base_url)


@pytest.fixture
def phone(stack: Stack, visitors: Callable[..., Visitor]) -> Visitor:
    """Somebody with a small phone."""
    return visitors(stack.base_url, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
