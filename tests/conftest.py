"""How the tests are shared out when two processes run them: a folder that starts servers stays in one process."""

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent
LONGEST_FIRST = ("e2e", "contract/ingestor", "chaos", "contract/local", "veto")
"""The folders that take minutes: what is short fills the gaps at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest groups."""
    items.sort(key=_turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Shares out whole folders, and the unit tests by file.

    The plugin's own groups change the node ids, which pytest 9.2 does not let it do: marks have no effect.
    """
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    scheduling = LoadScopeScheduling(config, log)
    scheduling._split_scope = share_of
    return scheduling


def share_of(nodeid: str) -> str:
    """What a test has to stay together with: its folder's tests, or among the unit tests its file's."""
    file = nodeid.split("::", 1)[0].removeprefix("tests/")
    group = _group(Path(file).parts)
    return file if group == "unit" else group


def _group(parts: tuple[str, ...]) -> str:
    """The folder that keeps its servers to itself, from a test file's path below ``tests``."""
    return "/".join(parts[:2] if parts[0] == "contract" else parts[:1])


def _turn(item: pytest.Item) -> int:
    group = _group(item.path.relative_to(ROOT).parts)
    if group in LONGEST_FIRST:
        return LONGEST_FIRST.index(group)
    return len(LONGEST_FIRST) + (group == "unit")
