"""A stack that holds little, and its owner."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.browser.owner.owning import SENT, TOWNS, Owner
from tests.browser.visitor import Visitor
from tests.e2e.stack import Stack, running_stack


@pytest.fixture(scope="session")
def small(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Without keys, with a few documents, and taking small ones only."""
    folder = tmp_path_factory.mktemp("owner") / "state"
    with running_stack(folder, {"RAGSTONE_DOCUMENT_MAX_BYTES": "20000"}) as running:
        for number, town in enumerate(TOWNS):
            text = f"# {town}\n\nThe mill of {town} was built in {1700 + number} by the guild of weavers of {town}."
            running.add(text, f"towns/{town.lower()}.md")
        # Something to do in each view.
        httpx.post(running.base_url + SENT, files={"files": ("worn.pdf", b"%PDF-1.4 nothing")}, trust_env=False)
        running.ask("What is the anthem of Hexley?")
        yield running


@pytest.fixture
def owner(small: Stack, visitors: Callable[..., Visitor]) -> Owner:
    """Somebody at a desk who owns the small stack."""
    return Owner(visitors(small.base_url))
