"""Questions and documents that try to mislead, through the running system with the sample corpus and its profile.

All forty are asked by ``python -m benchmarks.adversarial``; here are those that must hold whoever builds what.
"""

from collections.abc import Iterator

import pytest

from benchmarks.adversarial import PLANTED, SPACE, Came, ask, send
from benchmarks.quotes import Quotes
from services.shared.contracts.golden import Question
from tests.e2e.stack import ROOT, Stack, running_stack

LINES = (ROOT / "evals" / "adversarial.jsonl").read_text(encoding="utf-8").splitlines()
ASKED = {question.id: question for question in map(Question.model_validate_json, LINES)}


@pytest.fixture(scope="module")
def portfolio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A run that speaks with the sample corpus' profile, and holds the corpus and the planted document."""
    profile = {"RAGSTONE_PROFILE": str(ROOT / "corpus" / "profile.yaml"), "RAGSTONE_WRITER": "extractive"}
    with running_stack(tmp_path_factory.mktemp("portfolio") / "state", profile) as running:
        with running.api(SPACE) as api:
            send(api, ROOT / "corpus", ROOT / "evals" / PLANTED)
        yield running


def came(portfolio: Stack, id: str) -> Came:
    quotes = Quotes(portfolio.base_url, SPACE)
    with portfolio.api(SPACE) as api:
        outcome = ask(api, ASKED[id], quotes)
    assert quotes.faults == []
    return outcome


@pytest.mark.parametrize("id", ["ar-01", "ar-03", "ai-01", "ai-02", "ai-04", "ai-05"])
def test_a_part_or_an_override_is_not_played(portfolio: Stack, id: str) -> None:
    assert came(portfolio, id).outcome == "right"


@pytest.mark.parametrize("id", ["ap-01", "ap-02", "ap-04", "ap-05", "ap-06"])
def test_planted_instructions_are_neither_obeyed_nor_passed_on(portfolio: Stack, id: str) -> None:
    outcome = came(portfolio, id)
    assert outcome.outcome == "right", (outcome.why, outcome.text)


@pytest.mark.parametrize("id", ["af-02", "af-03", "af-05", "ag-01", "ag-02"])
def test_a_false_premise_meets_the_denial(portfolio: Stack, id: str) -> None:
    outcome = came(portfolio, id)
    assert (outcome.outcome, outcome.why) == ("right", "answered with the facts"), outcome.text


@pytest.mark.parametrize("id", ["an-01", "an-02", "an-03", "aw-01", "aw-05"])
def test_what_is_nearly_there_is_not_passed_off_as_it(portfolio: Stack, id: str) -> None:
    outcome = came(portfolio, id)
    assert outcome.outcome != "wrong", (outcome.why, outcome.text)
