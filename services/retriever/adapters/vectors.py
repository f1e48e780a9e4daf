"""Chroma, one open collection for each index that is asked; only what is live is found."""

import asyncio
import math
import time
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import numpy as np

from services.retriever.adapters.threads import Threads
from services.retriever.domain.hits import Hit, ServingIndex
from services.retriever.ports import Vector
from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, IndexId, SpaceId
from services.shared.contracts.search import Filters
from services.shared.index.chroma import ping
from services.shared.index.chroma_read import VectorReader
from services.shared.index.filtered import LiveVectors
from services.shared.index.filters import Wanted, wanted
from services.shared.index.live import LiveVersions
from services.shared.kit.logs import get_logger
from services.shared.kit.opened import Opened

THREADS = 16

COUNT_EVERY_S = 10.0
LACKING_EVERY_S = 1.0
"""An index that lacked vectors a second ago may be whole by now, and serve."""

T = TypeVar("T")

log = get_logger(__name__)


class _Index:
    """An open index: its vectors, and the versions that are live in its space."""

    def __init__(self, reader: VectorReader, live: LiveVersions) -> None:
        self.reader = reader
        self.live = live
        self.vectors = LiveVectors(reader, live)

    def complete(self) -> bool:
        """Are there as many vectors as live chunks?"""
        expected = self._live_chunks()
        vectors = self.reader.count()
        # Vectors of a deletion may have gone between the two: only the second number is held against it.
        return vectors >= expected or vectors >= self._live_chunks()

    def _live_chunks(self) -> int:
        return self.live.passing(Wanted()).chunks


class ChromaVectors:
    """The port ``Vectors`` over ``services.shared.index``."""

    def __init__(self, catalog: Catalog, chroma_url: str, *, timeout_s: float, open_limit: int) -> None:
        self._catalog = catalog
        self._chroma_url = chroma_url
        self._timeout_s = timeout_s
        self._opened: Opened[IndexId, _Index] = Opened(open_limit)
        self._live: Opened[SpaceId, LiveVersions] = Opened(open_limit)
        self._threads = Threads(THREADS)
        self._counted: dict[IndexId, tuple[float, bool]] = {}
        self._counting: dict[IndexId, asyncio.Task[bool]] = {}
        self._unfit: dict[IndexId, ServingIndex] = {}

    async def search(
        self,
        index: ServingIndex,
        vectors: Sequence[Vector],
        k: int,
        filters: Filters | None,
        without: Collection[ChunkId] = (),
    ) -> list[list[Hit]]:
        """For each vector the nearest ``k`` live chunks; all vectors are asked in one call of Chroma."""
        return await self._threads.run(self._search, index, vectors, k, filters, without)

    async def stored(self, index: ServingIndex, ids: Sequence[ChunkId]) -> dict[ChunkId, Vector]:
        """The vectors of these chunks, of length 1."""

        def read(opened: _Index) -> dict[ChunkId, Vector]:
            return {id: vector.tolist() for id, vector in opened.vectors.stored(ids).items()}

        return await self._threads.run(self._ask, index, read)

    async def complete(self, index: ServingIndex) -> bool:
        """As it was counted last; counted again beside the requests, when that was a while ago.

        Only who asks first for an index waits for the count, and who asks for one that lacked vectors.
        """
        counted_at, complete = self._counted.get(index.id, (-math.inf, False))
        if time.monotonic() - counted_at < (COUNT_EVERY_S if complete else LACKING_EVERY_S):
            return complete
        counting = self._counting.get(index.id)
        if counting is None:
            counting = self._counting[index.id] = asyncio.create_task(self._count(index))
            counting.add_done_callback(lambda _: self._counting.pop(index.id, None))
        return complete or await asyncio.shield(counting)

    async def check(self, index: ServingIndex) -> None:
        """Look at the index. Raises RagstoneError when its collection does not fit it, or Chroma does not answer."""
        self._counted[index.id] = (time.monotonic(), await self._threads.run(self._ask, index, _Index.complete))

    async def still_unfit(self) -> list[RagstoneError]:
        """Why indexes that were found not to fit still do not; empty when all fit that were ever asked."""
        found = []
        for index in list(self._unfit.values()):
            try:
                await self.check(index)
            except RagstoneError as error:
                if error.code is ErrorCode.INDEX_INCOMPATIBLE:
                    found.append(error)
                    continue
                # Switched away from, or Chroma is down; the next search tells anew.
                self._unfit.pop(index.id, None)
        return found

    def let_go_of_deleted(self, spaces: Collection[SpaceId]) -> None:
        """Keep nothing of these spaces in memory that is not live. Raises RagstoneError."""
        for index in self._opened.values():
            if index.live.space in spaces:
                index.vectors.let_go_of_deleted()

    async def ping(self) -> None:
        """Raises RagstoneError when Chroma does not answer."""
        await self._threads.run(ping, self._chroma_url)

    def _search(
        self,
        index: ServingIndex,
        vectors: Sequence[Vector],
        k: int,
        filters: Filters | None,
        without: Collection[ChunkId],
    ) -> list[list[Hit]]:
        asked = np.asarray(vectors, dtype=np.float32)
        found = self._ask(index, lambda opened: opened.vectors.query(asked, k, wanted(filters), without))
        return [[Hit(hit.chunk_id, hit.distance) for hit in hits] for hits in found]

    async def _count(self, index: ServingIndex) -> bool:
        try:
            complete = await self._threads.run(self._ask, index, _Index.complete)
        except RagstoneError as error:
            # The search itself tells who asks.
            log.warning("vectors_not_counted", index=index.id, why=error.detail)
            return True
        self._counted[index.id] = (time.monotonic(), complete)
        return complete

    def _ask(self, index: ServingIndex, ask: Callable[[_Index], T]) -> T:
        """Ask the index, and remember whether it fits, so that readiness can tell without asking all of them."""
        try:
            answer = ask(self._open(index))
        except RagstoneError as error:
            if error.code is ErrorCode.INDEX_INCOMPATIBLE:
                self._unfit[index.id] = index
            raise
        self._unfit.pop(index.id, None)
        return answer

    def _open(self, index: ServingIndex) -> _Index:
        def open_it() -> _Index:
            reader = VectorReader(self._chroma_url, self._row(index), timeout_s=self._timeout_s)
            return _Index(reader, self._live.get(index.space, lambda: LiveVersions(self._catalog, index.space)))

        return self._opened.get(index.id, open_it)

    def _row(self, index: ServingIndex) -> indexes.IndexRow:
        """A search that began on an index ends on it, although another one serves by now."""
        with self._catalog.read() as tx:
            row = indexes.find(tx, index.id)
        if row is None:
            detail = f"The index of space {index.space} was switched during this search; ask again."
            raise RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, detail, retry_after_s=1)
        return row
