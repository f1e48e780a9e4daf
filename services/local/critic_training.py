"""Training the critic from a folder of data sets: read, fit, measure on what was held out, write."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from services.local import critic_figures
from services.local.critic_figures import Exam
from services.local.critic_material import (
    HELD_OUT,
    TRAINED_ON,
    Shelf,
    lessons_of,
    read,
    training_lessons,
    training_shelves,
)
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.index.analyser import ANALYSER_VERSION
from services.shared.models.critic import training
from services.shared.models.critic.answerability import answerability
from services.shared.models.critic.features import Compared
from services.shared.models.critic.runtime import Critic
from services.shared.models.critic.training import Kind, Lesson
from services.shared.models.critic.weights import MANIFEST, WEIGHTS, Manifest, Source, Weights

if TYPE_CHECKING:
    from services.shared.models.embedder import Embedder

DIGITS = 7
"""Significant digits of a weight in the file: far finer than what a fit on a few thousand questions can tell."""

Say = Callable[[str], None]


def make(data: Path, into: Path, embedder: "Embedder", *, seed: int, say: Say) -> Critic:
    """Train on every known data set under ``data`` and write the critic to a folder.

    Raises: RagstoneError (invalid_request) when the folder holds none of them.
    """
    shelves = training_shelves(data, embedder, seed, say)
    if not shelves:
        names = ", ".join(known.folder for known in TRAINED_ON)
        raise RagstoneError(
            ErrorCode.INVALID_REQUEST, f"There is nothing to train on in {data}: it holds none of {names}."
        )
    lessons = training_lessons(shelves, seed)
    say(f"{len(lessons)} questions to learn from; fitting")
    weights = _rounded(training.train(lessons, seed))
    manifest = _manifest(weights, lessons, embedder, seed)
    critic = Critic(weights, manifest)
    examined = held_out(data, embedder, say)
    if examined is not None:
        manifest = manifest.model_copy(update={"held_out": figures(critic, examined)})
    write(into, weights, manifest)
    return Critic(weights, manifest)


def held_out(data: Path, embedder: "Embedder", say: Say) -> Exam | None:
    """The questions that no critic is trained on; None when they are not there."""
    folder = data / HELD_OUT.folder
    if not folder.is_dir():
        say(f"{HELD_OUT.folder} is not there: nothing is measured")
        return None
    shelf: Shelf = read(folder, HELD_OUT, embedder, seed=0, cut=False)
    return Exam([*lessons_of(shelf, [], seed=0), *critic_figures.strangers(data, shelf, embedder.embed_questions)])


def figures(critic: Critic, exam: Exam) -> dict[str, float]:
    """Areas under the ROC curve by name, to four places."""

    def answers(compared: Compared) -> float:
        return critic.answerable(answerability(compared, critic.judge(compared)))

    scores = {
        "relevance": exam.relevance(critic.judge),
        "top_of_vectors_right": exam.top(critic.judge, critic_figures.by_vectors, ""),
        "top_of_fusion_right": exam.top(critic.judge, critic_figures.by_fusion, ""),
        "top_of_critic_right": exam.top(critic.judge, critic.judge, ""),
        "answerable_or_written_unanswerable": exam.answerable(answers, Kind.UNANSWERABLE),
        "answerable_or_off_topic": exam.answerable(answers, Kind.ARTICLE_OUT, Kind.FOREIGN),
        "answerable_or_left_out": exam.answerable(answers, Kind.LEFT_OUT),
    }
    return {name: round(one.auc(), 4) for name, one in scores.items()}


def write(into: Path, weights: Weights, manifest: Manifest) -> None:
    """Two files in a folder: the weights, and the manifest with their SHA-256."""
    into.mkdir(parents=True, exist_ok=True)
    (into / WEIGHTS).write_bytes(_content(weights))
    (into / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _content(weights: Weights) -> bytes:
    return (json.dumps(weights.model_dump(mode="json"), separators=(",", ":")) + "\n").encode()


def _rounded(weights: Weights) -> Weights:
    rounded = json.loads(weights.model_dump_json(), parse_float=lambda number: float(f"{float(number):.{DIGITS}g}"))
    return Weights.model_validate(rounded)


def _manifest(weights: Weights, lessons: Sequence[Lesson], embedder: "Embedder", seed: int) -> Manifest:
    asked = [one for one in lessons if one.kind is Kind.ASKED]
    questions = Counter(one.source for one in asked)
    rows = Counter(one.source for one in asked for _ in one.relevant)
    licence = {known.folder.rsplit("/", 1)[-1]: known.licence for known in TRAINED_ON}
    return Manifest(
        sha256=hashlib.sha256(_content(weights)).hexdigest(),
        seed=seed,
        embedder=embedder.spec.name,
        analyser=ANALYSER_VERSION,
        sources=[
            Source(name=name, licence=licence[name], questions=number, rows=rows[name])
            for name, number in questions.items()
        ],
        held_out={},
        versions={name: version(name) for name in ("numpy", "scikit-learn")},
    )
