"""The shipped critic: whole, refused when it is not, and sensible."""

import json
import shutil
from pathlib import Path

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.models.critic.answerability import answerability
from services.shared.models.critic.features import compare
from services.shared.models.critic.runtime import SHIPPED, load, shipped
from services.shared.models.critic.weights import MANIFEST, WEIGHTS
from tests.unit.models_critic.cases import candidates, question


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the shipped critic that a test may damage."""
    return Path(shutil.copytree(SHIPPED, tmp_path / "critic"))


def refusal(folder: Path) -> str:
    with pytest.raises(RagstoneError) as refused:
        load(folder)
    assert refused.value.code is ErrorCode.MODEL_UNAVAILABLE
    return refused.value.detail


def test_the_shipped_critic_likes_the_passage_that_holds_the_question() -> None:
    relevant = shipped().judge(compare(question(), candidates()))
    assert all(0 <= chance <= 1 for chance in relevant)
    assert relevant[0] == max(relevant)
    assert relevant[0] > 0.5 > relevant[4]


def test_no_candidate_no_verdict() -> None:
    assert shipped().judge(compare(question(), [])) == []


def test_an_answerable_question_is_more_likely_answered_than_a_stranger() -> None:
    critic = shipped()

    def answerable(text: str, similarities: list[float | None]) -> float:
        compared = compare(question(text), candidates(similarities=similarities))
        return critic.answerable(answerability(compared, critic.judge(compared)))

    near = answerable("quarterly fees London office 2019", [0.71, 0.64, 0.35, 0.41, 0.12])
    far = answerable("zebra stripes moon fees", [0.15, 0.14, 0.1, 0.12, 0.1])
    assert near > 0.5 > far


def test_changed_weights_are_refused(copy: Path) -> None:
    content = (copy / WEIGHTS).read_text()
    (copy / WEIGHTS).write_text(content.replace("1", "2", 1))
    assert "SHA-256" in refusal(copy)


def test_a_cut_off_file_is_refused(copy: Path) -> None:
    (copy / MANIFEST).write_text((copy / MANIFEST).read_text()[:40])
    assert "does not hold what it should" in refusal(copy)


def test_missing_weights_are_refused(copy: Path) -> None:
    (copy / WEIGHTS).unlink()
    assert "cannot be read" in refusal(copy)


def test_weights_for_other_features_are_refused(copy: Path) -> None:
    import hashlib

    weights = json.loads((copy / WEIGHTS).read_text())
    weights["features"][0] = "something_else"
    content = json.dumps(weights).encode()
    (copy / WEIGHTS).write_bytes(content)
    manifest = json.loads((copy / MANIFEST).read_text())
    manifest["sha256"] = hashlib.sha256(content).hexdigest()
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert "other features" in refusal(copy)


def test_the_shipped_critic_was_not_trained_on_what_it_reports() -> None:
    manifest = shipped().manifest
    assert "squad2-dev9" not in {source.name for source in manifest.sources}
    assert manifest.held_out["relevance"] >= 0.975
