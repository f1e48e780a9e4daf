"""Vectors in Chroma, one collection an index."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from datetime import datetime

import numpy as np

from services.ingestor.domain import documents as own
from services.ingestor.ports.content import EmbedderIdentity, Switched, Target, Vectors
from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec, IndexRow
from services.shared.contracts.ids import ChunkId, IndexId, SpaceId, VersionId
from services.shared.contracts.indexes import IndexPhase
from services.shared.index.chroma import VectorIndex, VectorItem
from services.shared.kit.tracing import traced

_FIELDS = [field.name for field in fields(VectorItem)]


class ChromaVectors:
    """Opens each index once; a space's first one is made with the embedder that the settings name."""

    def __init__(
        self, chroma_url: str, catalog: Catalog, first: Callable[[], EmbedderSpec], now: Callable[[], datetime]
    ) -> None:
        self._url = chroma_url
        self._catalog = catalog
        self._first = first
        self._now = now
        self._open: dict[IndexId, VectorIndex] = {}

    def target(self, space: SpaceId) -> Target:
        with self._catalog.read() as tx:
            row = indexes.serving(tx, space)
        return target_of(row or self._made(space))

    def named(self, space: SpaceId, index_id: IndexId) -> Target | None:
        row = self._found(index_id)
        return target_of(row) if row is not None and row.space_id == space else None

    @traced("index")
    def upsert(self, target: Target, items: Sequence[own.VectorItem], vectors: Vectors) -> None:
        row = self._found(target.index_id)
        if row is None:
            # Its collection is gone or about to be, and a write would make it again.
            raise Switched
        self._index(row).upsert(
            [VectorItem(**{name: getattr(item, name) for name in _FIELDS}) for item in items],
            np.asarray(vectors, dtype=np.float32),
        )

    def present(self, target: Target, chunk_ids: Sequence[ChunkId]) -> set[ChunkId]:
        row = self._found(target.index_id)
        return set() if row is None else self._index(row).present(chunk_ids)

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        if not versions:
            return
        with self._catalog.read() as tx:
            rows = indexes.with_collection(tx, space)
        for row in rows:
            self._index(row).delete_versions(versions)

    def _found(self, index_id: IndexId) -> IndexRow | None:
        with self._catalog.read() as tx:
            row = indexes.find(tx, index_id)
        return None if row is None or row.state is IndexPhase.RETIRED else row

    def _made(self, space: SpaceId) -> IndexRow:
        # The model is loaded before the catalog is locked.
        embedder = self._first()
        with self._catalog.write() as tx:
            return indexes.create(tx, space, id=IndexId(uuid.uuid4().hex), embedder=embedder, now=self._now())

    def _index(self, row: IndexRow) -> VectorIndex:
        if row.id not in self._open:
            self._open[row.id] = VectorIndex(self._url, row)
        return self._open[row.id]


def target_of(row: IndexRow) -> Target:
    """The index as something to make vectors for."""
    return Target(row.space_id, row.id, EmbedderIdentity(**asdict(row.embedder)))
