"""Another embedder than the one that made the index: noticed, named, never mixed, and questions are still answered.

The models are real and tiny. What they find means nothing; whose vectors they are is all that matters here.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import numpy as np
import pytest

from services.ingestor.adapters.embedder import ModelEmbedder
from services.ingestor.adapters.vectors import ChromaVectors
from services.ingestor.domain.documents import VectorItem
from services.retriever.settings import Settings
from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId
from services.shared.index.chroma import VectorIndex
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.loader import LazyEmbedder, load_embedder
from tests.contract.models import tiny

from .conftest import serving
from .library import MAIN, Library, Text

TEA = Text("tea", "Green tea is brewed at eighty degrees for two minutes, otherwise it turns bitter.")
PUMP = Text("pump", "The pump of the fountain is cleaned on the first Monday of each month by the gardener.")
OTTER = Text("otter", "Otters hold hands while they sleep, so that the river does not carry them apart.")
QUESTION = "How hot is green tea brewed?"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two of one width that were trained apart, and a wider one."""
    return {
        "old": tiny.role_model(tmp_path_factory.mktemp("old"), seed=1),
        "same-width": tiny.role_model(tmp_path_factory.mktemp("same-width"), seed=2),
        "wider": tiny.role_model(tmp_path_factory.mktemp("wider"), dimension=48, seed=3),
    }


def by(model: Path, **settings: str) -> EmbedderSettings:
    return EmbedderSettings(embedder=str(model), embedder_backend="torch", embedder_precision="float32").model_copy(
        update=settings
    )


@pytest.fixture
def old(catalog: Catalog, models: dict[str, Path], chroma_url: str) -> Library:
    """Three documents in an index of the old model."""
    library = Library(catalog, chroma_url, load_embedder(by(models["old"])))
    library.publish(TEA, PUMP, OTTER)
    return library


def worker(old: Library, chroma_url: str, embedder: EmbedderSettings) -> tuple[LazyEmbedder, ChromaVectors]:
    """The ingestor's side, configured for another embedder."""
    lazy = LazyEmbedder(embedder)
    vectors = ChromaVectors(chroma_url, old.catalog, lambda: lazy.get().spec, lambda: datetime.now(UTC))
    return lazy, vectors


def add_one(lazy: LazyEmbedder, vectors: ChromaVectors) -> None:
    text = "Visitors sign the register at the front desk."
    made = ModelEmbedder(lazy, TimeoutError).embed([text], lambda _: True)
    item = VectorItem(ChunkId("c1"), DocumentId("fourth"), VersionId("v1"), None, [], "fact")
    vectors.upsert(MAIN, [item], made)


async def answers(client: httpx.AsyncClient) -> None:
    """By its words, and saying so."""
    response = await client.post("/retrieve", json={"space": "main", "question": QUESTION})
    assert response.status_code == 200, response.text
    body = response.json()
    assert [passage["document_id"] for passage in body["passages"]] == ["tea"]
    assert "index_incompatible" in body["degraded"]
    assert set(body["passages"][0]["ranks"]) == {"bm25:0"}


@pytest.mark.parametrize("other", ["wider", "same-width"])
async def test_it_is_noticed_and_named_nothing_is_mixed_and_questions_are_answered(
    other: str, settings: Settings, old: Library, models: dict[str, Path], chroma_url: str
) -> None:
    configured = by(models[other])
    async with serving(replace(settings, embedder=configured)) as client:
        for _ in range(2):
            await answers(client)
        ready = await client.get("/readyz")
        assert ready.status_code == 200
        said = ready.json()["parts"]["model"]["detail"]
        for part in (str(models["old"]), str(models[other]), "RAGSTONE_EMBEDDER"):
            assert part in said
        before = stored(old)
        with pytest.raises(RagstoneError) as refused:
            add_one(*worker(old, chroma_url, configured))
        assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE
        assert str(models["old"]) in refused.value.detail
        assert str(models[other]) in refused.value.detail
        assert stored(old) == before
        await answers(client)
    async with serving(replace(settings, embedder=by(models["old"]))) as client:
        body = (await client.post("/retrieve", json={"space": "main", "question": QUESTION})).json()
        assert "index_incompatible" not in body["degraded"]
        assert (await client.get("/readyz")).json()["parts"]["model"]["detail"].startswith(str(models["old"]))


def stored(old: Library) -> tuple[int, indexes.EmbedderSpec]:
    """Vectors in the space's index, and whose they are."""
    row = old.index()
    return VectorIndex(old._chroma_url, row).count(), row.embedder


@pytest.mark.parametrize("changed", ["embedder_query_prompt", "embedder_document_prompt"])
async def test_another_prompt_raises_the_same_alarm_as_another_model(
    changed: str, settings: Settings, old: Library, models: dict[str, Path], chroma_url: str
) -> None:
    configured = by(models["old"], **{changed: "task: "})
    async with serving(replace(settings, embedder=configured)) as client:
        await answers(client)
        said = (await client.get("/readyz")).json()["parts"]["model"]["detail"]
        assert "'task: '" in said
        assert f"'{tiny.QUERY}' and '{tiny.PASSAGE}'" in said
        with pytest.raises(RagstoneError) as refused:
            add_one(*worker(old, chroma_url, configured))
        assert refused.value.code == ErrorCode.INDEX_INCOMPATIBLE


async def test_each_side_is_embedded_with_its_own_prompt_which_nobody_sees(
    settings: Settings, old: Library, models: dict[str, Path]
) -> None:
    from sentence_transformers import SentenceTransformer

    original = SentenceTransformer(str(models["old"]), device="cpu")

    def exact(prompt: str, texts: Sequence[str]) -> np.ndarray:
        vectors = original.encode(list(texts), prompt=prompt, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors)

    lazy = LazyEmbedder(by(models["old"]))
    passages = [TEA.text, PUMP.text, OTTER.text]
    told = ModelEmbedder(lazy, TimeoutError).embed(passages, lambda _: True)
    assert np.asarray(told) == pytest.approx(exact(tiny.PASSAGE, passages), abs=1e-5)
    assert np.asarray(told) != pytest.approx(exact("", passages), abs=1e-2), "the prompt makes no difference here"
    parts = [QUESTION, "Who cleans the pump?"]
    asked, bare = exact(tiny.QUERY, parts), exact(tiny.PASSAGE, passages)
    async with serving(replace(settings, embedder=by(models["old"]))) as client:
        body = {"space": "main", "question": parts[0], "sub_questions": parts[1:], "stages": {"bm25": False}}
        response = await client.post("/retrieve", json={**body, "explain": True})
        assert response.status_code == 200, response.text
        lists = response.json()["trace"]["lists"]
        near = {one["chunk_id"]: one for one in response.json()["passages"]}
        scored = await client.post("/score", json={"space": "main", "question": parts[0], "texts": passages})
    assert {"vector:0", "vector:1"} <= set(lists)
    similarities = [score["similarity"] for score in scored.json()["scores"]]
    assert similarities == pytest.approx((bare @ asked[0]).tolist(), abs=1e-4)
    distances = {TEA.id: 1 - bare[0] @ asked[0], PUMP.id: 1 - bare[1] @ asked[0], OTTER.id: 1 - bare[2] @ asked[0]}
    for passage in near.values():
        assert passage["text"] in passages
        wanted = [distances[passage["document_id"]], 1 - bare[passages.index(passage["text"])] @ asked[1]]
        assert min(abs(passage["distance"] - one) for one in wanted) < 1e-3
    assert tiny.QUERY not in response.text
    assert tiny.PASSAGE not in response.text
