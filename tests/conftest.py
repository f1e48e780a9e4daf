"""How the tests are shared out when two processes run them: a folder that starts servers stays in one process."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent
LONGEST_FIRST = ("e2e", "contract/ingestor", "contract/local", "veto")
"""The folders that take minutes: what is short fills the gaps at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests that share servers, and begin with the longest groups."""
    for item in items:
        folder = _folder(item)
        if not folder.startswith("unit"):
            item.add_marker(pytest.mark.xdist_group(folder))
    items.sort(key=_turn)


def _folder(item: pytest.Item) -> str:
    parts = item.path.relative_to(ROOT).parts
    return "/".join(parts[:2] if parts[0] == "contract" else parts[:1])


def _turn(item: pytest.Item) -> int:
    folder = _folder(item)
    if folder in LONGEST_FIRST:
        return LONGEST_FIRST.index(folder)
    return len(LONGEST_FIRST) + (folder == "unit")
