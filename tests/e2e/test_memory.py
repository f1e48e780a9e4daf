"""How much memory the stack takes: the gateway holds no model, and the formula of the runbook is right.

The quick version has two worker processes and one retriever; ``RAGSTONE_TEST_REPEATS=whole`` one, two and four,
beside one retriever and two.
"""

import sys
from itertools import product

import pytest

from benchmarks.memory_formula import FORMULAS, GATEWAY_MB, LIBRARY, Measured, Started, measured, used
from tests.e2e.stack import WHOLE

NUMBERS = list(product((1, 2, 4), (1, 2))) if WHOLE else [(2, 1)]
QUESTIONS = 20 if WHOLE else 5
OFF_AT_MOST = 0.2

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is shared")


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], Measured]:
    """By worker processes and retrievers."""
    found = {}
    for workers, retrievers in NUMBERS:
        folder = tmp_path_factory.mktemp("memory")
        with Started(folder, workers, retrievers, LIBRARY).running() as started:
            used(started, QUESTIONS)
            found[workers, retrievers] = measured(started)
    return found


def test_the_gateway_is_small_however_many_workers_there_are(sizes: dict[tuple[int, int], Measured]) -> None:
    gateways = [size.largest["gateway"] for size in sizes.values()]
    assert max(gateways) < GATEWAY_MB
    assert max(gateways) < 1.1 * min(gateways), gateways


def test_all_together_take_what_the_formula_says(sizes: dict[tuple[int, int], Measured]) -> None:
    for (workers, retrievers), size in sizes.items():
        expected = FORMULAS[LIBRARY].expected(workers, retrievers)
        assert abs(size.total - expected) <= OFF_AT_MOST * expected, (workers, retrievers, size, expected)
