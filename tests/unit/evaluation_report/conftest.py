"""The full report is drawn once: its plots take a second."""

import pytest

from services.shared.contracts.evaluation import Evaluation
from services.shared.evaluation.report.html import html
from tests.unit.evaluation_report.fixture import evaluation
from tests.unit.evaluation_report.page import Page


@pytest.fixture(scope="session")
def run() -> Evaluation:
    return evaluation()


@pytest.fixture(scope="session")
def written(run: Evaluation) -> str:
    return html(run)


@pytest.fixture(scope="session")
def page(written: str) -> Page:
    return Page(written)
