"""The shipped grounding model over the real embedder: whole, refused when it is not, better than chance."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.grounding import Grounding, Pair
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.embedders import Embedders
from services.shared.models.grounding.grounder import Grounder, load_grounder
from services.shared.models.grounding.runtime import SHIPPED, load, shipped
from services.shared.models.grounding.weights import MANIFEST, WEIGHTS
from services.shared.models.source import MINILM_SHA256
from tests.contract.models import tiny

PAIRS = Path(__file__).parents[2] / "unit/models_grounding/pairs.jsonl"
FERRY = "The Bramley ferry leaves Port Ansel at 07:40 and 16:10 on weekdays. A single ticket costs 4.50 euros."


@pytest.fixture(scope="module")
def grounder() -> Grounder:
    return load_grounder(Embedders(EmbedderSettings()))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the shipped model that a test may damage."""
    return Path(shutil.copytree(SHIPPED, tmp_path / "grounding"))


def refusal(folder: Path) -> str:
    with pytest.raises(RagstoneError) as refused:
        load(folder)
    assert refused.value.code is ErrorCode.MODEL_UNAVAILABLE
    return refused.value.detail


def supported(grounder: Grounder, pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [one.supported for one in grounder.ground([Pair(claim=claim, evidence=text) for claim, text in pairs])]


def test_own_pairs_are_told_apart(grounder: Grounder) -> None:
    """The product's own pairs; none of them was trained on. The bound is a little under what benchmarks print."""
    cases = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    assert len(cases) >= 60
    values = np.array(supported(grounder, [(case["claim"], case["evidence"]) for case in cases]))
    right = np.array([case["label"] == "supported" for case in cases])
    above = (values[right][:, None] > values[~right][None, :]).mean()
    assert above >= 0.8


def test_probabilities_are_what_they_say(grounder: Grounder) -> None:
    found = grounder.ground(
        [
            Pair(claim="On weekdays the ferry leaves Port Ansel at 07:40 and at 16:10.", evidence=FERRY),
            Pair(claim="On weekdays the ferry does not leave Port Ansel at 07:40.", evidence=FERRY),
            Pair(claim="Barley is grown on most farms of the valley.", evidence=FERRY),
        ]
    )
    same, denied, stranger = found
    assert same.supported > denied.supported > stranger.supported
    assert same.supported > 0.5 > stranger.supported
    assert denied.contradicted > stranger.contradicted
    assert all(0 <= one.supported + one.contradicted <= 1 for one in found)


def test_nothing_is_said_of_texts_without_words(grounder: Grounder) -> None:
    silent = Grounding(supported=0.0, contradicted=0.0)
    assert grounder.ground([]) == []
    pairs = [Pair(claim="", evidence=FERRY), Pair(claim="It is so.", evidence=" … "), Pair(claim="?", evidence="!")]
    assert grounder.ground(pairs) == [silent] * 3


def test_an_answer_does_not_depend_on_the_other_pairs(grounder: Grounder) -> None:
    claim = "A ticket costs 4.50 euros."
    alone = supported(grounder, [(claim, FERRY)])
    among = supported(grounder, [("A much longer claim " * 20, FERRY), (claim, FERRY), (claim, "Other text.")])
    assert among[1] == pytest.approx(alone[0], abs=1e-4)


def test_the_end_of_a_long_evidence_is_read(grounder: Grounder) -> None:
    filler = "The wind came from the west and the harbour was quiet all day. " * 40
    claim = "A single ticket costs 4.50 euros."
    without, within = supported(grounder, [(claim, filler), (claim, filler + FERRY)])
    assert within > without + 0.3


def test_other_scripts_are_read(grounder: Grounder) -> None:
    same, other = supported(grounder, [("渡船七點開。", "渡船七點開。"), ("渡船七點開。", "The bridge is closed.")])
    assert same > other


def test_another_embedder_gets_the_trained_one_beside_it(tmp_path: Path) -> None:
    folder = tiny.role_model(tmp_path / "roles")
    embedders = Embedders(EmbedderSettings(embedder=str(folder), model_cache=tmp_path / "cache"))
    own = embedders.new().spec
    grounder = load_grounder(embedders)
    assert own.revision != MINILM_SHA256
    assert embedders.loaded(own)
    assert grounder.reader.embedder.spec.revision == MINILM_SHA256
    same, stranger = supported(grounder, [("A ticket costs 4.50 euros.", FERRY), ("Barley grows here.", FERRY)])
    assert same > stranger


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
    weights = json.loads((copy / WEIGHTS).read_text())
    weights["features"][0] = "something_else"
    content = json.dumps(weights).encode()
    (copy / WEIGHTS).write_bytes(content)
    manifest = json.loads((copy / MANIFEST).read_text())
    manifest["sha256"] = hashlib.sha256(content).hexdigest()
    (copy / MANIFEST).write_text(json.dumps(manifest))
    assert "other features" in refusal(copy)


def test_the_shipped_weights_come_from_open_licences_alone() -> None:
    manifest = shipped().manifest
    assert not any("climate" in source.name for source in manifest.sources)
    assert all(source.licence and source.pairs for source in manifest.sources)
