"""Exported models: the same vectors without torch, one good folder, and nothing that is not known to be right."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.settings import EmbedderSettings
from services.shared.models import exports
from services.shared.models.backends import Use
from services.shared.models.background import export_beside
from services.shared.models.embedder import Embedder
from services.shared.models.export import export, wanting
from services.shared.models.exports import Manifest
from services.shared.models.loader import load_embedder

from . import tiny
from .conftest import Together

TEXTS = ["The tea is hot.", "", "pump", "THE PUMP of the fountain: 8,5 + x? " * 20, "ä ö ü 東京", "query: passage: x"]

SERVE = """
import sys
from services.retriever.app import create_app
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.loader import load_embedder
embedder = load_embedder(EmbedderSettings(embedder=sys.argv[1], model_cache=sys.argv[2]))
embedder.embed_questions(["How hot is tea?"])
embedder.embed_documents(["Tea is hot.", "Pumps are not."])
heavy = {"torch", "transformers", "sentence_transformers", "onnx", "onnxscript"}
print(embedder.engine, sorted(heavy & set(sys.modules)))
"""


def by_torch(settings: EmbedderSettings) -> Embedder:
    return load_embedder(settings.model_copy(update={"embedder_backend": "torch", "embedder_precision": "float32"}))


def folder_of(settings: EmbedderSettings) -> Path:
    (folder,) = exports.exports_of(settings, "float32")
    return folder


@pytest.fixture
def copied(together: Together, tmp_path: Path) -> EmbedderSettings:
    """The exported model in a cache of this test's own."""
    assert together.settings.model_cache is not None
    shutil.copytree(together.settings.model_cache, tmp_path / "cache")
    return together.settings.model_copy(update={"model_cache": tmp_path / "cache", "embedder_precision": "float32"})


def test_two_workers_at_once_leave_one_good_folder(together: Together) -> None:
    assert together.returned == [0, 0], together.logs
    assert sorted(log.count("model_exported") for log in together.logs) == [0, 1]
    assert together.settings.model_cache is not None
    (folder,) = [path for path in together.settings.model_cache.iterdir() if path.is_dir()]
    manifest = exports.verified(folder)
    assert manifest is not None
    assert sorted(path.name for path in folder.iterdir()) == sorted([*manifest.files, "manifest.json"])
    assert (manifest.query_prompt, manifest.document_prompt) == (tiny.QUERY, tiny.PASSAGE)
    assert manifest.modules == ["Transformer", "Pooling (mean)", "Normalize"]
    assert manifest.lowest_cosine >= 0.9999
    assert manifest.checked_texts >= 12
    assert set(manifest.versions) >= {"torch", "onnx", "onnxruntime", "sentence-transformers"}


def test_it_gives_the_vectors_of_sentence_transformers(together: Together) -> None:
    quick, exact = load_embedder(together.settings), by_torch(together.settings)
    assert (quick.engine, exact.engine) == ("onnx in float32", "torch in float32")
    assert quick.spec == exact.spec
    assert quick.count_tokens(TEXTS) == exact.count_tokens(TEXTS)
    for ask in (Embedder.embed_documents, Embedder.embed_questions):
        assert ask(quick, TEXTS) == pytest.approx(ask(exact, TEXTS), abs=1e-5)
    assert quick.embed_documents([]).shape == (0, 32)
    alone = np.concatenate([quick.embed_questions([text]) for text in TEXTS])
    assert quick.embed_questions(TEXTS) == pytest.approx(alone, abs=1e-5)


def test_threads_share_it(together: Together) -> None:
    quick = load_embedder(together.settings)
    expected, wrong = quick.embed_documents(TEXTS), []

    def ask() -> None:
        for _ in range(20):
            if not np.allclose(quick.embed_documents(TEXTS), expected, atol=1e-5):
                wrong.append(1)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_a_process_that_serves_it_never_imports_torch(together: Together) -> None:
    words = [sys.executable, "-c", SERVE, together.settings.embedder, str(together.settings.model_cache)]
    served = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    assert served.stdout.splitlines()[-1] == "onnx in float32 []"


def test_an_export_that_an_image_brings_along_is_served_and_not_made_again(together: Together, tmp_path: Path) -> None:
    empty = tmp_path / "cache"
    shipped = together.settings.model_copy(
        update={"shipped_models": together.settings.model_cache, "model_cache": empty, "embedder_precision": "float32"}
    )
    assert load_embedder(shipped).engine == "onnx in float32"
    assert not wanting(shipped)
    assert export(shipped) == folder_of(shipped)
    assert not empty.exists(), "nothing is written where nothing is missing"


@pytest.mark.parametrize("name", ["model.onnx.data", "model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_refused_and_torch_serves(copied: EmbedderSettings, name: str) -> None:
    with (folder_of(copied) / name).open("r+b") as file:
        file.seek(-5, 2)
        file.write(b"?")
    with capture_logs() as logged:
        embedder = load_embedder(copied)
    assert embedder.engine == "torch in float32 (not exported yet)"
    said = [line for line in logged if line["event"] == "export_damaged"]
    assert [line["log_level"] for line in said] == ["warning"]
    assert name in said[0]["why"]
    assert wanting(copied)


@pytest.mark.parametrize("lost", ["model.onnx.data", "manifest.json"])
def test_an_export_that_lacks_a_file_is_refused(copied: EmbedderSettings, lost: str) -> None:
    (folder_of(copied) / lost).unlink()
    assert load_embedder(copied).engine == "torch in float32 (not exported yet)"


def test_another_prompt_pooling_or_weight_needs_another_export(copied: EmbedderSettings, tmp_path: Path) -> None:
    assert not wanting(copied)
    for number, file in enumerate(["config_sentence_transformers.json", "1_Pooling/config.json", "model.safetensors"]):
        other = shutil.copytree(copied.embedder, tmp_path / str(number) / "model")
        settings = copied.model_copy(update={"embedder": str(other)})
        assert not wanting(settings), "a copy of the model needs no export of its own"
        with (other / file).open("ab") as changed:
            changed.write(b" ")
        assert wanting(settings)


def test_a_copy_of_the_model_goes_by_the_name_it_was_given(copied: EmbedderSettings, tmp_path: Path) -> None:
    other = shutil.copytree(copied.embedder, tmp_path / "elsewhere" / "model")
    embedder = load_embedder(copied.model_copy(update={"embedder": str(other)}))
    assert (embedder.engine, embedder.spec.name) == ("onnx in float32", str(other))


def test_an_export_alone_serves_where_the_model_is_not(copied: EmbedderSettings) -> None:
    folder = folder_of(copied)
    manifest = Manifest.model_validate_json((folder / "manifest.json").read_bytes())
    nowhere = copied.model_copy(update={"embedder": "/nowhere/model"})
    with pytest.raises(RagstoneError, match="neither a folder nor"):
        load_embedder(nowhere)
    (folder / "manifest.json").write_text(manifest.model_copy(update={"name": "/nowhere/model"}).model_dump_json())
    assert load_embedder(nowhere).engine == "onnx in float32"
    assert load_embedder(nowhere).spec.revision == load_embedder(copied).spec.revision
    shutil.copytree(folder, folder.with_name(folder.name.replace(manifest.source[:12], "0" * 12)))
    with pytest.raises(RagstoneError, match="neither a folder nor"):
        load_embedder(nowhere)


def test_another_models_graph_is_not_taken_for_this_one(copied: EmbedderSettings, tmp_path: Path) -> None:
    from services.shared.models import graph
    from services.shared.models.onnx_encoder import OnnxEncoder
    from services.shared.models.torch_encoder import load_model

    folder = folder_of(copied)
    manifest = exports.verified(folder)
    assert manifest is not None
    encoder = OnnxEncoder(folder, manifest, threads=1)
    same = load_model("same", Path(copied.embedder), precision="float32", threads=1)
    assert graph.compare(same, encoder, manifest.spec, "float32")[0] >= 0.9999
    stranger = load_model("stranger", tiny.role_model(tmp_path, seed=2), precision="float32", threads=1)
    for precision in ("float32", "int8"):
        with pytest.raises(graph.CannotExport, match="not those of sentence-transformers"):
            graph.compare(stranger, encoder, manifest.spec, precision)


def test_what_cannot_be_exported_is_noted_once_and_torch_says_why(tmp_path: Path) -> None:
    model = tiny.role_model(tmp_path, pooling="cls", include_prompt=False)
    settings = EmbedderSettings(embedder=str(model), model_cache=tmp_path / "cache", embedder_precision="float32")
    assert wanting(settings)
    for _ in range(2):
        with pytest.raises(RagstoneError, match="leaves the prompt out") as refused:
            export(settings)
        assert refused.value.code == ErrorCode.MODEL_UNAVAILABLE
    assert not wanting(settings)
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()] == []
    embedder = load_embedder(settings)
    assert embedder.engine.startswith("torch in float32 (it cannot be exported: ")
    from sentence_transformers import SentenceTransformer

    original = SentenceTransformer(str(model), device="cpu")
    expected = original.encode(TEXTS, prompt=tiny.PASSAGE, normalize_embeddings=True, show_progress_bar=False)
    assert embedder.embed_documents(TEXTS) == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_last_token_pooling_with_an_instruction_for_questions_only(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    model = tiny.instruction_model(tmp_path)
    settings = EmbedderSettings(embedder=str(model), model_cache=tmp_path / "cache")
    assert export(settings) is not None
    embedder = load_embedder(settings, Use.QUESTIONS)
    assert embedder.engine == "onnx in float32"
    assert (embedder.spec.query_prompt, embedder.spec.document_prompt) == (tiny.INSTRUCTION, "")
    original = SentenceTransformer(str(model), device="cpu")
    asked = original.encode_query(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    told = original.encode_document(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    assert embedder.embed_questions(TEXTS) == pytest.approx(asked, abs=1e-5)
    assert embedder.embed_documents(TEXTS) == pytest.approx(told, abs=1e-5)


def test_a_worker_exports_beside_its_work_only_what_is_missing(
    copied: EmbedderSettings, roles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from services.shared.models import background

    started: list[list[str]] = []
    monkeypatch.setattr(background, "_started", {})
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    export_beside(copied)
    assert started == []
    shutil.rmtree(folder_of(copied))
    export_beside(copied)
    export_beside(copied)
    assert len(started) == 1
