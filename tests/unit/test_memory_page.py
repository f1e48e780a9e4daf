"""The runbook's formula of memory is the one that the benchmark and the test of the stack count with."""

from pathlib import Path

import pytest

from benchmarks.memory_formula import FORMULAS, GATEWAY_MB

RUNBOOK = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text()


@pytest.mark.parametrize("library", FORMULAS)
def test_the_runbook_has_the_formula(library: str) -> None:
    assert f"| {library} | {FORMULAS[library]} |" in RUNBOOK


def test_the_runbook_says_how_small_the_gateway_is() -> None:
    assert f"below {GATEWAY_MB} MB" in RUNBOOK
