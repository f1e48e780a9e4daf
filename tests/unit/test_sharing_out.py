"""Two processes never share a folder that starts servers."""

import pytest

from tests.conftest import share_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tests/e2e/test_survival.py::test_a", "tests/e2e/test_survival.py::test_b[x/y::z]"),
        ("tests/e2e/test_survival.py::test_a", "tests/e2e/test_truthful.py::test_a"),
        ("tests/contract/catalog/test_a.py::test_a[sqlite]", "tests/contract/catalog/test_b.py::test_b"),
        ("tests/unit/kit/test_a.py::test_a", "tests/unit/kit/test_a.py::test_b"),
    ],
)
def test_these_stay_in_one_process(one: str, other: str) -> None:
    assert share_of(one) == share_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tests/e2e/test_a.py::test_a", "tests/contract/kit/test_a.py::test_a"),
        ("tests/contract/kit/test_a.py::test_a", "tests/contract/index/test_a.py::test_a"),
        ("tests/unit/kit/test_a.py::test_a", "tests/unit/kit/test_b.py::test_a"),
    ],
)
def test_these_may_run_side_by_side(one: str, other: str) -> None:
    assert share_of(one) != share_of(other)
