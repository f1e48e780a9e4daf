"""Searching an index's vectors in Chroma, without Chroma's own client."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from services.shared.catalog.indexes import IndexRow
from services.shared.contracts.ids import ChunkId, VersionId
from services.shared.index import chroma
from services.shared.index.chroma_http import (
    ChromaGoneError,
    ChromaHalfGoneError,
    ChromaHttp,
    ChromaShakyError,
    ChromaSilentError,
)
from services.shared.index.filters import Wanted, where
from services.shared.kit.logs import get_logger

AT_LEAST = 100
"""Neighbours asked for even when fewer are wanted, so that a tie at the end of a short list is cut by chunk id."""

BATCH = 1000
"""Vectors read in one request."""

PAUSES_S = (0.0, 0.1, 0.2, 0.4, 0.8, 1.0)
"""Waits before an operation is tried again after the server failed in it; a broken connection is replaced at once."""

Vectors = NDArray[np.float32]
T = TypeVar("T")

log = get_logger(__name__)


@dataclass(frozen=True)
class VectorHit:
    """A near chunk: cosine distance from 0, the same direction, to 2, the opposite."""

    chunk_id: ChunkId
    distance: float


class VectorReader:
    """The vectors of one index, to read. Threads may share it.

    The collection is looked up by name at first use, and again when it is gone: another process may have made it
    anew. While there is none it reads as an empty one. Raises VECTOR_STORE_UNAVAILABLE when Chroma does not answer,
    and INDEX_INCOMPATIBLE for a collection of another metric or embedder, or for vectors of another width.
    """

    def __init__(self, chroma_url: str, index: IndexRow, *, timeout_s: float = 30.0) -> None:
        self._url = chroma_url
        self._index = index
        self._http = ChromaHttp(chroma_url, timeout_s=timeout_s)
        self._collection_id: str | None = None

    @property
    def collection_id(self) -> str | None:
        """Which collection was read last; None before the first use, and while there is none."""
        return self._collection_id

    def query(
        self, vectors: Vectors, k: int, wish: Wanted | None = None, without: Collection[ChunkId] = ()
    ) -> list[list[VectorHit]]:
        """For each vector its ``k`` nearest chunks, by (distance, chunk id), those in ``without`` left out.

        A filter is Chroma's own here, which is slow where many chunks pass it: see ``services.shared.index.filtered``.
        """
        wish = wish or Wanted()
        if k <= 0 or wish.nothing or not len(vectors):
            return [[] for _ in vectors]
        self._fits(vectors)
        wide = max(k, AT_LEAST) + len(without)
        clause = _clause(wish)
        asked = np.ascontiguousarray(vectors, dtype=np.float32)
        found = self._ask("query", query_embeddings=asked, n_results=wide, include=["distances"], **clause)
        if found is None:
            return [[] for _ in vectors]
        near = [dict(zip(ids, row, strict=True)) for ids, row in zip(found["ids"], found["distances"], strict=True)]
        if any(len(row) < wide for row in near):
            self._complete(near, vectors, clause)
        return [nearest(row, k, without) for row in near]

    def vectors(self, chunk_ids: Sequence[ChunkId]) -> tuple[list[ChunkId], Vectors]:
        """Those of the chunks that have a vector, with their vectors of length 1. Slow: 0.2 ms for each."""
        parts = [list(chunk_ids[start : start + BATCH]) for start in range(0, len(chunk_ids), BATCH)]
        return self._embeddings({"ids": part} for part in parts)

    def vectors_of(self, versions: Mapping[VersionId, int]) -> tuple[list[ChunkId], Vectors]:
        """The same for all chunks of versions, each named with the number of its chunks."""
        parts: list[list[VersionId]] = []
        room = 0
        for version, chunks in versions.items():
            if not parts or chunks > room:
                parts.append([])
                room = BATCH
            parts[-1].append(version)
            room -= chunks
        return self._embeddings({"where": {"version_id": {"$in": part}}} for part in parts)

    def _embeddings(self, asked: Iterable[dict[str, Any]]) -> tuple[list[ChunkId], Vectors]:
        ids: list[ChunkId] = []
        rows: list[Vectors] = [np.empty((0, self._index.embedder.dimension), dtype=np.float32)]
        for which in asked:
            got = self._ask("get", **which, include=["embeddings"])
            if got and got["ids"]:
                ids += got["ids"]
                rows.append(np.asarray(got["embeddings"], dtype=np.float32))
        together = np.concatenate(rows)
        lengths = np.linalg.norm(together, axis=1, keepdims=True)
        together /= np.where(lengths > 0, lengths, 1)
        return ids, together

    def count(self) -> int:
        """Vectors of the whole index."""
        return self._again(self._http.count) or 0

    def _complete(self, near: list[dict[str, float]], vectors: Vectors, clause: dict[str, Any]) -> None:
        """Add what the approximate search left out although there was room for it: it is measured exactly."""
        got = self._ask("get", include=[], **clause)
        ids = got["ids"] if got else []
        for row, vector in zip(near, vectors, strict=True):
            left_out = [id for id in ids if id not in row]
            if left_out:
                row.update(measured(vector, *self.vectors(left_out)))

    def _fits(self, vectors: Vectors) -> None:
        dimension = self._index.embedder.dimension
        if vectors.ndim != 2 or vectors.shape[1] != dimension:
            why = f"vectors of shape {vectors.shape} do not fit it, whose width is {dimension}"
            raise chroma.incompatible(self._url, self._index, why)

    def _ask(self, operation: str, **body: Any) -> Any:
        return self._again(lambda collection_id: self._http.ask(collection_id, operation, body))

    def _again(self, ask: Callable[[str], T]) -> T | None:
        """Ask, again where that helps, with Chroma's errors in our words; None when there is no collection."""
        failure: Exception | None = None
        for pause in (*PAUSES_S, None):
            try:
                collection_id = self._collection_id or self._open()
                return None if collection_id is None else ask(collection_id)
            except ChromaGoneError as error:
                # Deleted, and perhaps made again by another process, since it was looked up.
                log.warning("vector_collection_gone", collection=self._index.collection)
                self._collection_id, failure = None, error
            except ChromaShakyError as error:
                # A collection that is just being deleted fails in its own ways; it is looked up anew as well.
                self._collection_id, failure = None, error
            except ChromaSilentError as error:
                raise chroma.unavailable(self._url, str(error)) from error
            if pause is not None:
                time.sleep(pause)
        assert failure is not None
        if isinstance(failure, ChromaHalfGoneError):
            return None
        raise chroma.unavailable(self._url, str(failure)) from failure

    def _open(self) -> str | None:
        try:
            found = self._http.collection(self._index.collection)
        except ChromaGoneError:
            return None
        chroma.check_fits(self._url, self._index, found.get("configuration_json") or {}, found.get("metadata") or {})
        self._collection_id = str(found["id"])
        return self._collection_id


def _clause(wish: Wanted) -> dict[str, Any]:
    clause = where(wish)
    return {} if clause is None else {"where": clause}


def nearest(near: dict[str, float], k: int, without: Collection[ChunkId] = ()) -> list[VectorHit]:
    """The ``k`` nearest of ids with their distances, by (distance, chunk id)."""
    hits = [
        VectorHit(ChunkId(id), min(max(float(distance), 0.0), 2.0))
        for id, distance in near.items()
        if id not in without
    ]
    return sorted(hits, key=lambda hit: (hit.distance, hit.chunk_id))[:k]


def measured(vector: NDArray[Any], ids: Sequence[ChunkId], rows: Vectors, k: int | None = None) -> dict[str, float]:
    """Cosine distances of rows of length 1 to a vector: of the ``k`` nearest and all that tie with them, or of all.

    Rounded, so that equal rows tie wherever they stand.
    """
    length = float(np.linalg.norm(vector)) or 1.0
    distances = np.round(1.0 - rows @ (vector / length), 6)
    if k is None or k >= len(ids):
        return dict(zip(ids, distances.tolist(), strict=True))
    near = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1])
    return {ids[place]: float(distances[place]) for place in near.tolist()}
