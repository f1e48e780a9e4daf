"""Another embedder in the settings than the one that made the index: the index's own goes on embedding its questions.

The models are real and tiny. What they find means nothing; whose vectors they are is all that matters here.
"""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from services.retriever.settings import Settings
from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from services.shared.index.chroma import VectorIndex
from services.shared.kit.settings import EmbedderSettings
from services.shared.models import embedders as registry
from services.shared.models.embedders import Embedders
from tests.contract.models import tiny

from .conftest import serving
from .library import MAIN, Library, Text

TEA = Text("tea", "Green tea is brewed at eighty degrees for two minutes, otherwise it turns bitter.")
PUMP = Text("pump", "The pump of the fountain is cleaned on the first Monday of each month by the gardener.")
OTTER = Text("otter", "Otters hold hands while they sleep, so that the river does not carry them apart.")
QUESTION = "How hot is green tea brewed?"


@pytest.fixture
def models(tmp_path: Path) -> dict[str, Path]:
    """Two of one width that were trained apart, and a wider one."""
    return {
        "old": tiny.role_model(tmp_path / "old", seed=1),
        "same-width": tiny.role_model(tmp_path / "same-width", seed=2),
        "wider": tiny.role_model(tmp_path / "wider", dimension=48, seed=3),
    }


def by(model: Path, **settings: str) -> EmbedderSettings:
    return EmbedderSettings(embedder=str(model), embedder_backend="torch", embedder_precision="float32").model_copy(
        update=settings
    )


@pytest.fixture
def old(catalog: Catalog, models: dict[str, Path], chroma_url: str) -> Library:
    """Three documents in an index of the old model."""
    library = Library(catalog, chroma_url, Embedders(by(models["old"])).new())
    library.publish(TEA, PUMP, OTTER)
    return library


async def asked(client: httpx.AsyncClient, **fields: object) -> dict[str, Any]:
    response = await client.post("/retrieve", json={"space": "main", "question": QUESTION, **fields})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def distances(client: httpx.AsyncClient, space: str = "main") -> dict[str, float]:
    """What the vector leg alone says of each document."""
    body = await asked(client, space=space, stages={"bm25": False, "critic": False, "diversity": False})
    assert body["degraded"] == []
    return {one["document_id"]: one["distance"] for one in body["passages"]}


async def said_of_the_model(client: httpx.AsyncClient) -> str:
    """What the service says once it is ready."""
    for _ in range(200):
        ready = await client.get("/readyz")
        if ready.status_code == 200:
            return str(ready.json()["parts"]["model"]["detail"])
        await asyncio.sleep(0.05)
    raise AssertionError(ready.text)


@pytest.mark.parametrize(
    "changed",
    [
        {"embedder": "wider"},
        {"embedder": "same-width"},
        {"embedder": "nobody/has-this"},
        {"embedder_query_prompt": "task: "},
        {"embedder_document_prompt": "task: "},
    ],
)
async def test_questions_are_embedded_by_the_indexs_own_and_both_are_named(
    changed: dict[str, str], settings: Settings, old: Library, models: dict[str, Path]
) -> None:
    async with serving(replace(settings, embedder=by(models["old"]))) as client:
        before = await distances(client)
        assert len(before) == 3
        assert await said_of_the_model(client) == f"{models['old']}, torch in float32"
    stored = vectors_of(old)
    named = str(models.get(changed.get("embedder", "old"), changed.get("embedder", "")))
    async with serving(replace(settings, embedder=by(models["old"], **{**changed, "embedder": named}))) as client:
        assert await distances(client) == before
        said = await said_of_the_model(client)
        for part in (str(models["old"]), named, old.index().embedder.revision[:12], "ragstone reembed"):
            assert part in said
        if "embedder" not in changed:
            assert "'task: '" in said
            assert f"'{tiny.QUERY}' and '{tiny.PASSAGE}'" in said
    assert vectors_of(old) == stored


def vectors_of(old: Library) -> tuple[int, indexes.EmbedderSpec]:
    """Vectors in the space's index, and whose they are."""
    row = old.index()
    return VectorIndex(old._chroma_url, row).count(), row.embedder


async def test_without_its_own_model_exact_words_answer_until_the_model_is_back(
    settings: Settings, old: Library, models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.move(models["old"], tmp_path / "away")
    async with serving(replace(settings, embedder=by(models["same-width"]))) as client:
        for _ in range(2):
            body = await asked(client)
            assert [passage["document_id"] for passage in body["passages"]] == ["tea"]
            assert body["degraded"] == ["model_unavailable"]
            assert set(body["passages"][0]["ranks"]) == {"bm25:0"}
        said = await said_of_the_model(client)
        for part in (str(models["old"]), str(models["same-width"]), "exact words alone"):
            assert part in said
        shutil.move(tmp_path / "away", models["old"])
        monkeypatch.setattr(registry, "AGAIN_S", 0.0)
        assert (await asked(client))["degraded"] == []
        assert "exact words alone" not in await said_of_the_model(client)


async def test_files_that_were_changed_under_the_same_name_are_never_mixed_with_the_old_vectors(
    settings: Settings, old: Library, models: dict[str, Path]
) -> None:
    recorded = old.index().embedder.revision
    shutil.rmtree(models["old"])
    shutil.move(models["same-width"], models["old"])
    found = Embedders(by(models["old"])).new().spec.revision
    async with serving(replace(settings, embedder=by(models["old"]))) as client:
        body = await asked(client)
        assert body["degraded"] == ["model_unavailable"]
        assert set(body["passages"][0]["ranks"]) == {"bm25:0"}
        said = await said_of_the_model(client)
        assert recorded[:12] in said
        assert found[:12] in said


async def test_spaces_of_different_embedders_are_served_by_one_retriever(
    settings: Settings, old: Library, models: dict[str, Path], catalog: Catalog, chroma_url: str
) -> None:
    for name in ("same-width", "wider"):
        Library(catalog, chroma_url, Embedders(by(models[name])).new()).publish(TEA, PUMP, OTTER, space=SpaceId(name))
    async with serving(replace(settings, embedder=by(models["old"]))) as client:
        spaces = [str(MAIN), "same-width", "wider"]
        found = [await distances(client, space) for space in spaces]
        assert [len(one) for one in found] == [3, 3, 3]
        assert len({tuple(sorted(one.values())) for one in found}) == 3
        for space, near in zip(spaces, found, strict=True):
            model = Embedders(by(models.get(space, models["old"]))).new()
            question = model.embed_questions([QUESTION])[0]
            for text in (TEA, PUMP, OTTER):
                exact = 1 - float(model.embed_documents([text.text])[0] @ question)
                assert near[text.id] == pytest.approx(exact, abs=1e-3)


async def test_each_side_is_embedded_with_its_own_prompt_which_nobody_sees(
    settings: Settings, old: Library, models: dict[str, Path]
) -> None:
    from sentence_transformers import SentenceTransformer

    original = SentenceTransformer(str(models["old"]), device="cpu")

    def exact(prompt: str, texts: Sequence[str]) -> np.ndarray:
        vectors = original.encode(list(texts), prompt=prompt, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors)

    passages = [TEA.text, PUMP.text, OTTER.text]
    told = Embedders(by(models["old"])).new().embed_documents(passages)
    assert told == pytest.approx(exact(tiny.PASSAGE, passages), abs=1e-5)
    assert told != pytest.approx(exact("", passages), abs=1e-2), "the prompt makes no difference here"
    parts = [QUESTION, "Who cleans the pump?"]
    asked, bare = exact(tiny.QUERY, parts), exact(tiny.PASSAGE, passages)
    async with serving(replace(settings, embedder=by(models["same-width"]))) as client:
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
