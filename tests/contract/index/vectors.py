"""What the tests of the vectors share."""

import uuid
from datetime import UTC, datetime
from typing import Any

import numpy as np

from services.shared.catalog.indexes import EmbedderSpec, IndexRow
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId, VersionId
from services.shared.contracts.search import Filters
from services.shared.index import chroma
from services.shared.index.chroma import VectorIndex, VectorItem, Vectors
from services.shared.index.chroma_read import VectorReader
from services.shared.index.filters import wanted

SPEC = EmbedderSpec(name="m", revision="r", dimension=4, query_prompt="", document_prompt="", max_tokens=256)


def row(spec: EmbedderSpec = SPEC, id: str | None = None) -> IndexRow:
    id = id or uuid.uuid4().hex
    return IndexRow(IndexId(id), SpaceId("main"), spec, f"ragstone-{id}", datetime.now(UTC))


def item(id: str, version: str = "v", document: str = "d", **described: Any) -> VectorItem:
    values: dict[str, Any] = {"type": None, "tags": [], "kind": "fact", **described}
    return VectorItem(ChunkId(id), DocumentId(document), VersionId(version), **values)


def rows(*vectors: list[float]) -> Vectors:
    return np.array(vectors, dtype=np.float32)


def client(url: str) -> Any:
    return chroma._client(url, 30)


def reader(index: VectorIndex) -> VectorReader:
    """Reads the same collection."""
    return VectorReader(index._url, index._index)


def ids(index: VectorIndex, vector: list[float], k: int = 10, filters: Filters | None = None) -> list[str]:
    return [hit.chunk_id for hit in reader(index).query(rows(vector), k, wanted(filters))[0]]
