"""`ragstone critic`: from a folder of data sets to a critic that can be loaded."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from services.local.commands.critic import critic_app
from services.local.critic_material import TRAINED_ON, read
from services.local.critic_training import make
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.models.critic.runtime import SHIPPED, load
from services.shared.models.embedder import Embedder

SUBJECTS = ("harbour", "bakery", "museum", "railway", "orchard", "library", "theatre", "quarry")
HELD_OUT = "Steam engine"


class WordEmbedder:
    """Every word has its own direction: texts are near when they share words."""

    spec = SimpleNamespace(name="words")

    def embed_documents(
        self, texts: Sequence[str], keep_going: Callable[[int], bool] | None = None
    ) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, hashlib.sha256(word.encode()).digest()[0] % 64] += 1
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1), dtype=np.float32)

    embed_questions = embed_documents


EMBEDDER = cast(Embedder, WordEmbedder())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one small collection in the place of XQuAD's."""
    folder = tmp_path / TRAINED_ON[0].folder
    folder.mkdir(parents=True)
    corpus, questions, judged = [], [], ["query-id\tcorpus-id\tscore"]
    for number, subject in enumerate((*SUBJECTS, HELD_OUT)):
        for part, deed in enumerate(("opened in spring", "closed for repairs")):
            id = f"p{number}-{part}"
            corpus.append({"_id": id, "title": subject, "text": f"The {subject} {deed} after year 19{number}{part}."})
            questions.append({"_id": f"q{id}", "text": f"Which year was it that the {subject} {deed}?"})
            judged.append(f"q{id}\t{id}\t1")
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    (folder / "qrels.tsv").write_text("\n".join(judged) + "\n")
    return tmp_path


def test_training_writes_a_critic_that_can_be_loaded_and_says_what_it_was_made_of(data: Path, tmp_path: Path) -> None:
    made = make(data, tmp_path / "out", EMBEDDER, seed=1, say=lambda line: None)
    loaded = load(tmp_path / "out")
    assert loaded.weights == made.weights
    assert [(one.name, one.questions) for one in loaded.manifest.sources] == [("xquad-a-en", 2 * len(SUBJECTS))]
    assert loaded.manifest.held_out == {}


def test_texts_of_barred_titles_and_their_questions_are_left_out(data: Path) -> None:
    shelf = read(data / TRAINED_ON[0].folder, TRAINED_ON[0], EMBEDDER, seed=0, barred={HELD_OUT})
    assert len(shelf.texts) == 2 * len(SUBJECTS) == len(shelf.questions)
    assert not any(HELD_OUT in text for text in shelf.texts)


def test_a_passage_that_is_left_out_is_no_candidate(data: Path) -> None:
    shelf = read(data / TRAINED_ON[0].folder, TRAINED_ON[0], EMBEDDER, seed=0)
    asked, vector = shelf.questions[0], shelf.question_vectors[0]
    _, places = shelf.ask(asked.text, vector)
    _, without = shelf.ask(asked.text, vector, asked.meant)
    assert asked.meant <= set(places)
    assert not asked.meant & set(without)


def test_a_folder_without_any_of_the_sets_is_an_error_that_names_them(tmp_path: Path) -> None:
    with pytest.raises(RagstoneError) as failed:
        make(tmp_path, tmp_path / "out", EMBEDDER, seed=0, say=lambda line: None)
    assert failed.value.code is ErrorCode.INVALID_REQUEST
    assert TRAINED_ON[0].folder in failed.value.detail


def test_show_prints_the_shipped_critics_manifest() -> None:
    shown = CliRunner().invoke(critic_app, ["show", "--json"])
    assert shown.exit_code == 0
    assert json.loads(shown.output)["sha256"] == hashlib.sha256((SHIPPED / "weights.json").read_bytes()).hexdigest()
