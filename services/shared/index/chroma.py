"""The vectors: one Chroma collection an index, made and filled here over HTTP. Everything may be repeated.

Searching is in ``services.shared.index.chroma_read``, which does without Chroma's own client.
"""

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from services.shared.catalog.indexes import IndexRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId
from services.shared.index.chroma_http import ChromaGoneError, ChromaHttp, ChromaShakyError, ChromaSilentError
from services.shared.index.filters import stored
from services.shared.kit.logs import get_logger

METRIC = "cosine"
HNSW = {"space": METRIC, "ef_search": 2000}
"""Exact for an index of up to about 2,000 chunks, and near it far beyond. Where 20,000 chunks are nearly equal, a
question of their subject finds 99 % of its nearest five, with 500 it is 74 % and with Chroma's own 100 36 %; among
200,000 chunks a query takes 6 ms with it and 2 ms with 100 (``benchmarks/search_crowd.py``)."""

BATCH = 1000
"""Vectors in one request; Chroma takes 5,461 at most, and a short request has a short timeout."""

PAUSES_S = (0.1, 0.4, 1.0)
"""Waits before an operation is tried again after the server failed in it."""

RETRY_AFTER_S = 2

NOBODYS = VersionId("")
"""The version of vectors that we did not write: they have none."""

Vectors = NDArray[np.float32]

log = get_logger(__name__)


@dataclass(frozen=True)
class VectorItem:
    """What is stored beside a chunk's vector, to filter and to sweep by."""

    chunk_id: ChunkId
    document_id: DocumentId
    version_id: VersionId
    type: str | None
    tags: Sequence[str]
    kind: str


class VectorIndex:
    """The vectors of one index. Threads may share it.

    The collection is opened at first use and made when it is not there. Raises VECTOR_STORE_UNAVAILABLE when
    Chroma does not answer, and INDEX_INCOMPATIBLE for a collection of another metric or embedder, or for vectors
    of another width.
    """

    def __init__(self, chroma_url: str, index: IndexRow, *, timeout_s: float = 30.0) -> None:
        self._url = chroma_url
        self._index = index
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._handle: Any = None

    def upsert(self, items: Sequence[VectorItem], vectors: Vectors) -> None:
        """Store vectors, replacing those of the same chunk ids; row n belongs to item n."""
        self._fits(vectors)
        for start in range(0, len(items), BATCH):
            part = items[start : start + BATCH]
            self._call(
                "upsert",
                ids=[item.chunk_id for item in part],
                embeddings=vectors[start : start + BATCH],
                metadatas=[_metadata(item) for item in part],
            )

    def delete_versions(self, version_ids: Sequence[VersionId]) -> None:
        """Remove all vectors of these versions; those that are not there are no error.

        ``NOBODYS`` stands for vectors that somebody else put here, without a version.
        """
        if NOBODYS in version_ids:
            self._delete_nobodys()
        for start in range(0, len(version_ids), BATCH):
            self._call("delete", where={"version_id": {"$in": list(version_ids[start : start + BATCH])}})

    def count(self, version_id: VersionId | None = None) -> int:
        """Vectors of a version, or of the whole index."""
        if version_id is None:
            return int(self._call("count"))
        return len(self._call("get", where={"version_id": version_id}, include=[])["ids"])

    def present(self, chunk_ids: Sequence[ChunkId]) -> set[ChunkId]:
        """Those of the chunks that have a vector."""
        found: set[ChunkId] = set()
        for start in range(0, len(chunk_ids), BATCH):
            part = list(chunk_ids[start : start + BATCH])
            found.update(ChunkId(id) for id in self._call("get", ids=part, include=[])["ids"])
        return found

    def versions(self) -> set[VersionId]:
        """The versions that any vector belongs to."""
        return set(self.sizes())

    def sizes(self) -> dict[VersionId, int]:
        """Vectors of each version that has any. Reads the whole index, page by page: what is written meanwhile may
        be missed or counted twice."""
        found: Counter[VersionId] = Counter()
        offset = 0
        while True:
            page = self._call("get", include=["metadatas"], limit=BATCH, offset=offset)["metadatas"]
            found.update(_version_of(metadata) for metadata in page)
            if len(page) < BATCH:
                return found
            offset += BATCH

    def _delete_nobodys(self) -> None:
        ids: list[str] = []
        offset = 0
        while True:
            page = self._call("get", include=["metadatas"], limit=BATCH, offset=offset)
            pairs = zip(page["ids"], page["metadatas"], strict=True)
            ids += [id for id, metadata in pairs if _version_of(metadata) == NOBODYS]
            if len(page["ids"]) < BATCH:
                break
            offset += BATCH
        for start in range(0, len(ids), BATCH):
            self._call("delete", ids=ids[start : start + BATCH])

    def _fits(self, vectors: Vectors) -> None:
        dimension = self._index.embedder.dimension
        if vectors.ndim != 2 or (len(vectors) and vectors.shape[1] != dimension):
            raise incompatible(
                self._url, self._index, f"vectors of shape {vectors.shape} do not fit it, whose width is {dimension}"
            )

    def _call(self, operation: str, **arguments: Any) -> Any:
        """Run an operation of the collection, again where that helps, with Chroma's errors in our words."""
        import httpx
        from chromadb.errors import ChromaError, InternalError, NotFoundError

        failure: Exception | None = None
        for pause in (*PAUSES_S, None):
            try:
                return getattr(self._collection(), operation)(**arguments)
            except NotFoundError as error:
                # Deleted, and perhaps made again by another process, since the handle was taken.
                log.warning("vector_collection_gone", collection=self._index.collection)
                self._handle, failure = None, error
            except (InternalError, httpx.RemoteProtocolError, httpx.ReadError) as error:
                # A query that meets a collection's first writes fails with "Nothing found on disk";
                # a connection kept from before a restart of the server is broken.
                failure = error
            except Exception as error:
                # Chroma raises a bare Exception for an answer that it has no name for.
                if isinstance(error, ChromaError | httpx.HTTPError) or type(error) is Exception:
                    raise unavailable(self._url, _named(error)) from error
                raise
            if pause is not None:
                time.sleep(pause)
        assert failure is not None
        raise unavailable(self._url, _named(failure)) from failure

    def _collection(self) -> Any:
        handle = self._handle
        if handle is None:
            with self._lock:
                if self._handle is None:
                    self._handle = self._open()
                handle = self._handle
        return handle

    def _open(self) -> Any:
        # An existing collection keeps its own metric and metadata whatever is asked for here.
        collection = _client(self._url, self._timeout_s).get_or_create_collection(
            self._index.collection,
            configuration={"hnsw": HNSW},
            metadata=_identity(self._index),
            embedding_function=None,
        )
        check_fits(self._url, self._index, collection.configuration_json, collection.metadata or {})
        return collection


def _version_of(metadata: Mapping[str, Any] | None) -> VersionId:
    version = (metadata or {}).get("version_id")
    return VersionId(version) if isinstance(version, str) else NOBODYS


def check_fits(chroma_url: str, index: IndexRow, configuration: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Raise INDEX_INCOMPATIBLE unless a collection measures by our metric and was filled by the index's embedder."""
    hnsw = configuration.get("hnsw") or {}
    if hnsw.get("space") != METRIC:
        raise incompatible(chroma_url, index, f"it measures by '{hnsw.get('space')}' and not by '{METRIC}'")
    for key, value in _identity(index).items():
        if metadata.get(key) != value:
            raise incompatible(chroma_url, index, f"its {key} is {metadata.get(key)!r} and the index's is {value!r}")


def incompatible(chroma_url: str, index: IndexRow, why: str) -> RagstoneError:
    """INDEX_INCOMPATIBLE for an index's collection, with what to do."""
    return RagstoneError(
        ErrorCode.INDEX_INCOMPATIBLE,
        f"The vector collection {index.collection} at {chroma_url} cannot be used: {why}. "
        "Its vectors are made again from the catalog: by the reconciler within minutes, by `ragstone doctor --repair` "
        "at once.",
    )


def unavailable(url: str, why: str) -> RagstoneError:
    """VECTOR_STORE_UNAVAILABLE, with what to do."""
    return RagstoneError(
        ErrorCode.VECTOR_STORE_UNAVAILABLE,
        f"The vector store at {url} does not answer as it should ({why}). "
        "Start Chroma, or correct RAGSTONE_CHROMA_URL.",
        retry_after_s=RETRY_AFTER_S,
    )


def ping(chroma_url: str, *, timeout_s: float = 2.0) -> None:
    """Raise VECTOR_STORE_UNAVAILABLE unless a Chroma server answers."""
    try:
        ChromaHttp(chroma_url, timeout_s=timeout_s).heartbeat()
    except (ChromaGoneError, ChromaShakyError, ChromaSilentError) as error:
        raise unavailable(chroma_url, str(error)) from error


def _client(url: str, timeout_s: float) -> Any:
    """A client that has spoken with the server."""
    import chromadb
    from chromadb.config import Settings

    # A client speaks with the server while it is made, and would wait for ever for one that hangs.
    ping(url, timeout_s=timeout_s)
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    try:
        client = chromadb.HttpClient(
            host=parts.hostname or "127.0.0.1",
            port=parts.port or (443 if secure else 80),
            ssl=secure,
            settings=Settings(anonymized_telemetry=False),
        )
    except ValueError as error:
        # So Chroma reports every connection that fails.
        raise unavailable(url, _named(error)) from error
    # There is no setting for it.
    client._server._session.timeout = timeout_s
    return client


def _identity(index: IndexRow) -> dict[str, str | int]:
    """What a collection's vectors come from, recorded in its metadata."""
    spec = index.embedder
    return {
        "embedder": spec.name,
        "revision": spec.revision,
        "dimension": spec.dimension,
        "query_prompt": spec.query_prompt,
        "document_prompt": spec.document_prompt,
    }


def _metadata(item: VectorItem) -> dict[str, Any]:
    """Chroma takes neither None nor an empty list: such a key is left out."""
    metadata: dict[str, Any] = {
        "document_id": item.document_id,
        "version_id": item.version_id,
        "kind": item.kind,
    }
    if item.type is not None:
        metadata["type"] = stored(item.type)
    if item.tags:
        metadata["tags"] = sorted(set(map(stored, item.tags)))
    return metadata


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
