"""Two retrievers: only one of them is told of a deletion, and the other forgets it all the same, asked or not."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from services.retriever.adapters.forgetting import IndexMemory
from services.retriever.adapters.keywords import Bm25Keywords
from services.retriever.adapters.records import identity
from services.retriever.adapters.vectors import ChromaVectors
from services.retriever.domain.hits import ServingIndex
from services.retriever.settings import RetrieverSettings, Settings
from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.contracts.search import Filters
from services.shared.kit.settings import StateSettings
from services.shared.models.embedder import Embedder

from .conftest import serving
from .library import MAIN, Library
from .test_retriever_forgetting import FERRY, KETTLE, forget, removed, snapshots

EVERY_S = 0.1
QUESTION = {"space": MAIN, "question": "When does the ferry leave?"}


def retriever_at(folder: Path, settings: Settings) -> Settings:
    """Another one of the same catalog, with a disk of its own or with the first one's."""
    return Settings(
        own=RetrieverSettings(follow_every_s=EVERY_S),
        state=StateSettings(state_dir=folder, database_url=settings.state.catalog_url),
        chroma=settings.chroma,
    )


async def until(what: Callable[[], bool], within_s: float = 10) -> None:
    for _ in range(round(within_s / 0.05)):
        if what():
            return
        await asyncio.sleep(0.05)
    assert what()


async def documents_of(client: httpx.AsyncClient) -> list[str]:
    found = (await client.post("/retrieve", json=QUESTION)).json()
    return [passage["document_id"] for passage in found["passages"]]


@pytest.mark.parametrize("own_disk", [True, False])
async def test_the_one_that_is_not_told_forgets_too(
    settings: Settings, library: Library, tmp_path: Path, own_disk: bool
) -> None:
    library.publish(FERRY, KETTLE)
    other = retriever_at(tmp_path / "other" if own_disk else tmp_path, settings)
    async with serving(other) as client:
        assert "ferry" in await documents_of(client)
    assert b"zebrafinch" in snapshots(other), "it was saved at the end"
    async with AsyncExitStack() as both:
        told = await both.enter_async_context(serving(settings))
        untold = await both.enter_async_context(serving(other))
        for client in (told, untold):
            assert "ferry" in await documents_of(client)
        await forget(told, removed(library))
        await until(lambda: b"zebrafinch" not in snapshots(other))
        for client in (told, untold):
            assert await documents_of(client) == ["kettle"]
    for one in (settings, other):
        assert b"zebrafinch" not in snapshots(one)
        assert b"kettl" in snapshots(one)


async def test_one_that_is_never_asked_again_keeps_nothing_in_memory(
    settings: Settings, library: Library, embedder: Embedder, tmp_path: Path
) -> None:
    library.publish(FERRY, KETTLE)
    row = library.index()
    index = ServingIndex(id=row.id, space=MAIN, embedder=identity(row.embedder))
    keywords = Bm25Keywords(library.catalog, tmp_path / "other", open_limit=2)
    vectors = ChromaVectors(library.catalog, settings.chroma.chroma_url, timeout_s=5, open_limit=2)
    memory = IndexMemory(library.catalog, settings.chroma.chroma_url, keywords, vectors, timeout_s=5)
    following = asyncio.create_task(memory.follow(tmp_path / "other", EVERY_S))
    asked = embedder.embed_questions([QUESTION["question"]]).tolist()
    await keywords.search(MAIN, [QUESTION["question"]], 3, None)
    filters = Filters(document_id=DocumentId("ferry"))
    (hits,) = await vectors.search(index, asked, 3, filters)
    ferry: list[ChunkId] = [hit.chunk_id for hit in hits]
    assert len(await vectors.stored(index, ferry)) == 2
    [opened] = vectors._opened.values()
    [follower] = keywords._opened.values()
    assert opened.vectors._kept._blocks
    assert opened.vectors._single

    removed(library)
    await until(lambda: not opened.vectors._kept._blocks and not opened.vectors._single)
    assert follower._at is not None
    assert all(id not in follower._at.index for id in ferry)
    assert opened.live._at is not None
    assert list(opened.live._at.live) == ["kettle"]
    following.cancel()


async def test_one_that_was_away_meanwhile_forgets_when_it_comes_back(
    settings: Settings, library: Library, tmp_path: Path
) -> None:
    library.publish(FERRY, KETTLE)
    other = retriever_at(tmp_path / "other", settings)
    async with serving(other) as client:
        assert "ferry" in await documents_of(client)
    async with serving(settings) as client:
        await forget(client, removed(library))
    assert b"zebrafinch" in snapshots(other)
    async with serving(other):
        await until(lambda: b"zebrafinch" not in snapshots(other))
