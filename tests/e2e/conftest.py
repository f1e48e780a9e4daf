"""The stack that end-to-end tests share."""

from collections.abc import Iterator

import pytest

from tests.e2e.stack import Stack, running_stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The whole of Ragstone with short leases, started once. Use a space of your own; tests share it.

    A test that kills parts, or needs other settings, starts its own with ``running_stack``.
    """
    with running_stack(tmp_path_factory.mktemp("stack") / "state") as running:
        yield running


@pytest.fixture
def space(request: pytest.FixtureRequest) -> str:
    """A space of this test's own."""
    name = "".join(char if char.isascii() and char.isalnum() else "-" for char in request.node.name.lower())
    return f"t-{name}"[:60].strip("-")
