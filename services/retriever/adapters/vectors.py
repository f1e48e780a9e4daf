"""Chroma, one open collection for each index that is asked."""

import math
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from services.retriever.adapters.opened import Opened
from services.retriever.adapters.threads import Threads
from services.retriever.domain.hits import Hit, ServingIndex
from services.retriever.ports import Vector
from services.shared.catalog import chunks, indexes
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import IndexId
from services.shared.contracts.search import Filters
from services.shared.index.chroma import VectorIndex, ping

THREADS = 16

COUNT_EVERY_S = 10.0

T = TypeVar("T")


class ChromaVectors:
    """The port ``Vectors`` over ``services.shared.index.chroma``."""

    def __init__(self, catalog: Catalog, chroma_url: str, *, timeout_s: float, open_limit: int) -> None:
        self._catalog = catalog
        self._chroma_url = chroma_url
        self._timeout_s = timeout_s
        self._opened: Opened[IndexId, VectorIndex] = Opened(open_limit)
        self._threads = Threads(THREADS)
        self._counted: dict[IndexId, tuple[float, bool]] = {}
        self._unfit: dict[IndexId, ServingIndex] = {}

    async def search(
        self, index: ServingIndex, vectors: Sequence[Vector], k: int, filters: Filters | None
    ) -> list[list[Hit]]:
        """For each vector the nearest ``k`` chunks."""
        return await self._threads.run(self._search, index, vectors, k, filters)

    async def complete(self, index: ServingIndex) -> bool:
        """Counted at most every few seconds; who asks while it is counted gets the last answer."""
        counted_at, complete = self._counted.get(index.id, (-math.inf, True))
        now = time.monotonic()
        if now - counted_at >= COUNT_EVERY_S:
            self._counted[index.id] = (now, complete)
            complete = await self._threads.run(self._count, index)
            self._counted[index.id] = (now, complete)
        return complete

    async def check(self, index: ServingIndex) -> None:
        """Look at the index. Raises RagstoneError when its collection does not fit it, or Chroma does not answer."""
        await self._threads.run(self._ask, index, VectorIndex.count)

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

    async def ping(self) -> None:
        """Raises RagstoneError when Chroma does not answer."""
        await self._threads.run(ping, self._chroma_url)

    def _search(
        self, index: ServingIndex, vectors: Sequence[Vector], k: int, filters: Filters | None
    ) -> list[list[Hit]]:
        asked = np.asarray(vectors, dtype=np.float32)
        found = self._ask(index, lambda opened: opened.query(asked, k, filters))
        return [[Hit(hit.chunk_id, hit.distance) for hit in hits] for hits in found]

    def _count(self, index: ServingIndex) -> bool:
        expected = self._live(index)
        vectors = self._ask(index, VectorIndex.count)
        # Vectors of a deletion may have gone between the two: only the second number is held against it.
        return vectors >= expected or vectors >= self._live(index)

    def _live(self, index: ServingIndex) -> int:
        with self._catalog.read() as tx:
            return chunks.counts(tx, index.space)[1]

    def _ask(self, index: ServingIndex, ask: Callable[[VectorIndex], T]) -> T:
        """Ask the index, and remember whether it fits, so that readiness can tell without asking all of them."""
        try:
            answer = ask(self._open(index))
        except RagstoneError as error:
            if error.code is ErrorCode.INDEX_INCOMPATIBLE:
                self._unfit[index.id] = index
            raise
        self._unfit.pop(index.id, None)
        return answer

    def _open(self, index: ServingIndex) -> VectorIndex:
        return self._opened.get(
            index.id, lambda: VectorIndex(self._chroma_url, self._row(index), timeout_s=self._timeout_s)
        )

    def _row(self, index: ServingIndex) -> indexes.IndexRow:
        with self._catalog.read() as tx:
            row = indexes.serving(tx, index.space)
        if row is None or row.id != index.id:
            detail = f"The index of space {index.space} was switched during this search; ask again."
            raise RagstoneError(ErrorCode.VECTOR_STORE_UNAVAILABLE, detail, retry_after_s=1)
        return row
