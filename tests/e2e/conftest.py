"""The stack that end-to-end tests share."""

from collections.abc import Iterator, Mapping

import pytest

from tests.e2e.stack import SCALE, Stack, running_stack

LEFT_OUT: Mapping[str, str] = {
    "test_memory.py": "measures processes of its own on one machine, whatever stands beside them",
    "test_local_run.py": "is about `ragstone up` as the one that starts and ends everything on one machine, in time",
}
"""Files that `make test-scale` has no use for, and why."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say of each of these why it is skipped."""
    for item in items:
        if SCALE and item.path.name in LEFT_OUT:
            item.add_marker(pytest.mark.skip(reason=LEFT_OUT[item.path.name]))


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
