"""The models of a process, given out by what an index recorded of them. The models are real and tiny."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.settings import EmbedderSettings
from services.shared.models import embedders as registry
from services.shared.models.embedder import Embedder
from services.shared.models.embedders import Embedders

from . import tiny

TEXTS = ["Green tea is brewed at eighty degrees.", "Otters hold hands while they sleep."]


def by(model: Path, **settings: object) -> EmbedderSettings:
    own = EmbedderSettings(embedder=str(model), embedder_backend="torch", embedder_precision="float32")
    return own.model_copy(update=settings)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny.role_model(tmp_path / "first", seed=1)


def refused(embedders: Embedders, recorded: registry.Recorded) -> str:
    with pytest.raises(RagstoneError) as caught:
        embedders.of(recorded)
    assert caught.value.code is ErrorCode.MODEL_UNAVAILABLE
    return caught.value.detail


def test_what_was_recorded_is_given_with_its_own_prompts_whatever_is_configured(model: Path) -> None:
    made = Embedders(by(model)).new()
    embedders = Embedders(by(model, embedder="another", embedder_query_prompt="task: ", embedder_document_prompt="x"))
    again = embedders.of(made.spec)
    assert again.spec == made.spec
    assert (made.spec.query_prompt, made.spec.document_prompt) == (tiny.QUERY, tiny.PASSAGE)
    assert np.allclose(again.embed_questions(TEXTS), made.embed_questions(TEXTS), atol=1e-6)
    assert np.allclose(again.embed_documents(TEXTS), made.embed_documents(TEXTS), atol=1e-6)


def test_indexes_of_one_model_with_other_prompts_share_it_and_not_its_vectors(model: Path) -> None:
    embedders = Embedders(by(model))
    one = embedders.new()
    other = embedders.new(str(model), "task: ", None)
    assert (other.spec.query_prompt, other.spec.document_prompt) == ("task: ", tiny.PASSAGE)
    assert (embedders.loads, other.encoder) == (1, one.encoder)
    assert np.allclose(one.embed_documents(TEXTS), other.embed_documents(TEXTS), atol=1e-6)
    assert not np.allclose(one.embed_questions(TEXTS), other.embed_questions(TEXTS), atol=1e-3)


def test_the_configured_prompts_make_the_configured_embedder(model: Path) -> None:
    spec = Embedders(by(model, embedder_query_prompt="task: ")).new().spec
    assert (spec.query_prompt, spec.document_prompt) == ("task: ", tiny.PASSAGE)


def test_twenty_threads_load_it_once(model: Path) -> None:
    recorded = Embedders(by(model)).new().spec
    embedders = Embedders(by(model))
    gate = threading.Barrier(20)

    def ask(_: int) -> Embedder:
        gate.wait(30)
        return embedders.of(recorded)

    assert not embedders.loaded(recorded)
    with ThreadPoolExecutor(20) as pool:
        encoders = {id(one.encoder) for one in pool.map(ask, range(20))}
    assert (len(encoders), embedders.loads, embedders.loaded(recorded)) == (1, 1, True)


def test_files_that_were_changed_are_refused_and_both_revisions_named(model: Path, tmp_path: Path) -> None:
    recorded = Embedders(by(model)).new().spec
    embedders = Embedders(by(model))
    shutil.rmtree(model)
    shutil.move(tiny.role_model(tmp_path / "second", seed=2), model)
    said = refused(embedders, recorded)
    changed = embedders.new().spec
    assert changed.revision != recorded.revision
    for part in (str(model), recorded.revision[:12], changed.revision[:12], "ragstone reembed"):
        assert part in said
    assert embedders.loads == 1, "what is refused is not loaded"


def test_a_model_in_memory_outlives_the_change_of_its_files(model: Path, tmp_path: Path) -> None:
    embedders = Embedders(by(model))
    recorded = embedders.new().spec
    before = embedders.of(recorded).embed_documents(TEXTS)
    shutil.rmtree(model)
    shutil.move(tiny.role_model(tmp_path / "second", seed=2), model)
    other = embedders.new()
    assert other.spec.revision != recorded.revision, "a new index is made with the files as they are now"
    assert np.allclose(embedders.of(recorded).embed_documents(TEXTS), before, atol=1e-6)
    assert not np.allclose(other.embed_documents(TEXTS), before, atol=1e-2)


def test_another_width_than_recorded_is_refused(model: Path) -> None:
    embedders = Embedders(by(model))
    recorded = embedders.new().spec
    said = refused(embedders, replace(recorded, dimension=768))
    assert "768" in said
    assert str(recorded.dimension) in said


def test_a_model_that_is_gone_is_said_and_had_again_when_it_is_back(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Embedders(by(model)).new().spec
    embedders = Embedders(by(model))
    shutil.move(model, tmp_path / "away")
    assert str(model) in refused(embedders, recorded)
    shutil.move(tmp_path / "away", model)
    refused(embedders, recorded)
    monkeypatch.setattr(registry, "AGAIN_S", 0.0)
    assert embedders.of(recorded).spec == recorded


def test_an_embedder_that_nobody_has_loaded_yet_is_said(model: Path) -> None:
    recorded = Embedders(by(model)).new().spec
    assert "no worker has loaded it" in refused(Embedders(by(model)), replace(recorded, revision=""))


def test_the_least_recently_used_is_let_go_and_what_nobody_wants(model: Path, tmp_path: Path) -> None:
    second, third = (str(tiny.role_model(tmp_path / str(seed), seed=seed)) for seed in (2, 3))
    embedders = Embedders(by(model), kept=2)
    first = embedders.new().spec
    other = embedders.new(second).spec
    embedders.of(first)
    assert not embedders.room
    newest = embedders.new(third).spec
    assert [embedders.loaded(one) for one in (first, other, newest)] == [True, False, True]
    embedders.let_go(all_but={(newest.name, newest.revision)})
    assert [embedders.loaded(one) for one in (first, newest)] == [False, True]
    assert embedders.of(first).spec == first
    assert embedders.loads == 4


def test_an_export_alone_is_enough_and_one_of_other_files_is_refused(model: Path, tmp_path: Path) -> None:
    from services.shared.models.export import export

    settings = EmbedderSettings(embedder=str(model), embedder_precision="float32", model_cache=tmp_path / "cache")
    export(settings)
    recorded = Embedders(settings).new().spec
    shutil.rmtree(model)
    embedders = Embedders(settings)
    assert embedders.of(recorded).engine == "onnx in float32"
    assert embedders.new().spec == recorded
    said = refused(embedders, replace(recorded, revision="0" * 64))
    assert "000000000000" in said
    assert recorded.revision[:12] in said
