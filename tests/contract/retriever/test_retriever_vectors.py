"""The port of vectors over real servers: it goes on when a collection, the index or the server is replaced under it."""

import asyncio
import os
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import update

from services.local.ports import free_port
from services.retriever.adapters import vectors as adapter
from services.retriever.adapters.records import CatalogRecords
from services.retriever.adapters.vectors import ChromaVectors
from services.shared.catalog import indexes, live_versions, schema
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec, IndexRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, IndexId, chunk_id
from services.shared.contracts.search import Filters
from services.shared.index import chroma
from services.shared.index.chroma import VectorIndex, VectorItem, ping

from ..index.published import SPACE, publish, remove

SPEC = EmbedderSpec("m", "r", 4, "", "", 256)
ASKED = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]
DOCUMENTS = 6


def make_index(catalog: Catalog) -> IndexRow:
    with catalog.write() as tx:
        tx.execute(update(schema.indexes).where(schema.indexes.c.space_id == SPACE).values(state="retired"))
        return indexes.create(tx, SPACE, id=IndexId(uuid.uuid4().hex), embedder=SPEC, now=datetime.now(UTC))


def fill(catalog: Catalog, url: str, row: IndexRow) -> None:
    """The vectors of everything that is live: chunk n of every document points a little further away."""
    with catalog.read() as tx:
        live = sorted(live_versions.all_live(tx, SPACE), key=lambda one: one.document_id)
    items = [
        VectorItem(chunk_id(one.id, n), one.document_id, one.id, one.type, one.tags, "fact")
        for one in live
        for n in range(one.chunks)
    ]
    rows = [[1, 0.1 * place + 0.01 * n, 0, 0] for place, one in enumerate(live) for n in range(one.chunks)]
    VectorIndex(url, row).upsert(items, np.array(rows, dtype=np.float32))


@pytest.fixture
def row(catalog: Catalog) -> IndexRow:
    for n in range(DOCUMENTS):
        publish(catalog, f"d{n}", type="odd" if n % 2 else "even")
    return make_index(catalog)


def replica(catalog: Catalog, url: str) -> ChromaVectors:
    return ChromaVectors(catalog, url, timeout_s=5, open_limit=4)


class Replicas:
    """Two retrievers' vectors that are asked all the time; their answers and failures are kept."""

    def __init__(self, catalog: Catalog, url: str) -> None:
        self.records = CatalogRecords(catalog)
        self.both = [replica(catalog, url), replica(catalog, url)]
        self.lengths: list[list[int]] = [[], []]
        self.served: list[str] = ["", ""]
        self.failures: list[RagstoneError] = []

    async def ask(self, n: int) -> list[list[str]]:
        """What one of them finds, by the index that serves as it begins."""
        state = await self.records.state(SPACE)
        assert state.index is not None
        found = await self.both[n].search(state.index, ASKED, 5, None)
        self.served[n] = state.index.id
        return [[hit.chunk_id for hit in hits] for hits in found]

    async def answer(self, times: int = 5) -> None:
        """Wait until both have answered so many times more, or failed."""
        before = [len(lengths) for lengths in self.lengths]
        deadline = time.monotonic() + 60
        while any(len(lengths) < old + times for lengths, old in zip(self.lengths, before, strict=True)):
            assert not self.failures
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        """Both are asked 20 times a second while the block runs."""

        async def keep_on(n: int) -> None:
            while True:
                try:
                    self.lengths[n].append(len((await self.ask(n))[0]))
                except RagstoneError as error:
                    self.failures.append(error)
                await asyncio.sleep(0.05)

        tasks = [asyncio.create_task(keep_on(n)) for n in range(2)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert all(isinstance(one, asyncio.CancelledError) for one in ended), ended


async def test_a_collection_is_deleted_and_made_again_under_two_readers(
    catalog: Catalog, chroma_url: str, row: IndexRow
) -> None:
    fill(catalog, chroma_url, row)
    replicas = Replicas(catalog, chroma_url)
    before = [await replicas.ask(n) for n in range(2)]
    assert [len(hits) for hits in before[0]] == [5, 5]
    async with replicas.asking():
        await replicas.answer()
        await asyncio.to_thread(chroma._client(chroma_url, 30).delete_collection, row.collection)
        await replicas.answer()
        await asyncio.to_thread(fill, catalog, chroma_url, row)
        await replicas.answer()
    assert replicas.failures == []
    assert all({0, 5} <= set(lengths) for lengths in replicas.lengths)
    assert [await replicas.ask(n) for n in range(2)] == before


async def test_the_serving_index_is_switched_under_two_readers(
    catalog: Catalog, chroma_url: str, row: IndexRow
) -> None:
    fill(catalog, chroma_url, row)
    replicas = Replicas(catalog, chroma_url)
    before = [await replicas.ask(n) for n in range(2)]
    old = (await replicas.records.state(SPACE)).index
    assert old is not None
    async with replicas.asking():
        await replicas.answer()
        new = await asyncio.to_thread(make_index, catalog)
        await asyncio.to_thread(fill, catalog, chroma_url, new)
        await replicas.answer()
        late = replica(catalog, chroma_url)
        in_flight = await late.search(old, ASKED, 5, None)
        assert [[hit.chunk_id for hit in hits] for hits in in_flight] == before[0]
        await asyncio.to_thread(chroma._client(chroma_url, 30).delete_collection, row.collection)
        await replicas.answer()
    assert replicas.failures == []
    assert replicas.served == [new.id, new.id]
    assert [await replicas.ask(n) for n in range(2)] == before


@contextmanager
def server(folder: Path, port: int) -> Iterator[None]:
    """A Chroma server of the test's own, stopped at the end of the block."""
    program = str(Path(sys.executable).parent / "chroma")
    command = [program, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    environment = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                ping(f"http://127.0.0.1:{port}")
                break
            except RagstoneError:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(20)


async def test_the_server_is_restarted_under_two_readers(catalog: Catalog, row: IndexRow, tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    replicas = Replicas(catalog, url)
    with server(tmp_path / "data", port):
        await asyncio.to_thread(fill, catalog, url, row)
        before = [await replicas.ask(n) for n in range(2)]
    stopped = await asyncio.gather(*[replicas.ask(n) for n in range(2)], return_exceptions=True)
    for error in stopped:
        assert isinstance(error, RagstoneError)
        assert error.code is ErrorCode.VECTOR_STORE_UNAVAILABLE
    with server(tmp_path / "data", port):
        assert [await replicas.ask(n) for n in range(2)] == before
        async with replicas.asking():
            await replicas.answer()
    assert replicas.failures == [] or all(
        error.code is ErrorCode.VECTOR_STORE_UNAVAILABLE for error in replicas.failures
    )


async def test_what_is_deleted_or_filtered_out_is_not_found(catalog: Catalog, chroma_url: str, row: IndexRow) -> None:
    fill(catalog, chroma_url, row)
    vectors, index = replica(catalog, chroma_url), (await CatalogRecords(catalog).state(SPACE)).index
    assert index is not None
    with catalog.read() as tx:
        version = {one.document_id: one.id for one in live_versions.all_live(tx, SPACE)}
    (first, _) = await vectors.search(index, ASKED, 2, None)
    assert [hit.chunk_id for hit in first] == [chunk_id(version[DocumentId("d0")], n) for n in range(2)]
    remove(catalog, "d0")
    (first, _) = await vectors.search(index, ASKED, 2, None)
    assert [hit.chunk_id for hit in first] == [chunk_id(version[DocumentId("d1")], n) for n in range(2)]
    (even, _) = await vectors.search(index, ASKED, 2, Filters(type="even"), [chunk_id(version[DocumentId("d2")], 0)])
    assert [hit.chunk_id for hit in even] == [
        chunk_id(version[DocumentId("d2")], 1),
        chunk_id(version[DocumentId("d4")], 0),
    ]
    assert await vectors.search(index, ASKED, 2, Filters(type="unknown")) == [[], []]
    stored = await vectors.stored(index, [hit.chunk_id for hit in even])
    assert [len(vector) for vector in stored.values()] == [4, 4]


async def test_missing_vectors_are_counted_at_first_and_soon_again(
    catalog: Catalog, chroma_url: str, row: IndexRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, index = replica(catalog, chroma_url), (await CatalogRecords(catalog).state(SPACE)).index
    assert index is not None
    assert await vectors.complete(index) is False
    fill(catalog, chroma_url, row)
    assert await vectors.complete(index) is False, "it is not counted for each search"
    monkeypatch.setattr(adapter, "LACKING_EVERY_S", 0)
    assert await vectors.complete(index) is True, "an index that lacked vectors may serve by now: no stale alarm"


async def test_a_whole_index_is_counted_beside_the_requests(
    catalog: Catalog, chroma_url: str, row: IndexRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, index = replica(catalog, chroma_url), (await CatalogRecords(catalog).state(SPACE)).index
    assert index is not None
    fill(catalog, chroma_url, row)
    assert await vectors.complete(index) is True
    publish(catalog, "another")
    assert await vectors.complete(index) is True
    monkeypatch.setattr(adapter, "COUNT_EVERY_S", 0)
    assert await vectors.complete(index) is True
    deadline = time.monotonic() + 10
    while await vectors.complete(index):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def test_searching_loads_none_of_the_heavy_clients() -> None:
    """They would make the retriever's first answer wait for a second."""
    program = (
        "import sys, services.retriever.adapters.vectors as v; print(sorted({'chromadb', 'httpx'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
