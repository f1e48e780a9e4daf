"""Vectors in Chroma, one collection a space."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime

import numpy as np

from services.ingestor.domain import documents as own
from services.ingestor.ports.content import Vectors
from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec, IndexRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, IndexId, SpaceId, VersionId
from services.shared.index.chroma import VectorIndex, VectorItem


class ChromaVectors:
    """Opens a space's index, and makes it at the first write with the worker's embedder."""

    def __init__(
        self, chroma_url: str, catalog: Catalog, embedder: Callable[[], EmbedderSpec], now: Callable[[], datetime]
    ) -> None:
        self._url = chroma_url
        self._catalog = catalog
        self._embedder = embedder
        self._now = now
        self._open: dict[SpaceId, tuple[IndexRow, VectorIndex]] = {}

    def upsert(self, space: SpaceId, items: Sequence[own.VectorItem], vectors: Vectors) -> None:
        row = self._serving(space) or self._made(space)
        self._same_embedder(row, space)
        index = self._index(space, row)
        names = [field.name for field in fields(VectorItem)]
        index.upsert(
            [VectorItem(**{name: getattr(item, name) for name in names}) for item in items],
            np.asarray(vectors, dtype=np.float32),
        )

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        row = self._serving(space)
        if row is not None and versions:
            self._index(space, row).delete_versions(versions)

    def present(self, space: SpaceId, chunk_ids: Sequence[ChunkId]) -> set[ChunkId]:
        row = self._serving(space)
        return set() if row is None else self._index(space, row).present(chunk_ids)

    def count(self, space: SpaceId) -> int:
        """Vectors of the space."""
        row = self._serving(space)
        return 0 if row is None else self._index(space, row).count()

    def sizes(self, space: SpaceId) -> dict[VersionId, int]:
        """Vectors of each version that has any."""
        row = self._serving(space)
        return {} if row is None else self._index(space, row).sizes()

    def _serving(self, space: SpaceId) -> IndexRow | None:
        with self._catalog.read() as tx:
            return indexes.serving(tx, space)

    def _made(self, space: SpaceId) -> IndexRow:
        with self._catalog.write() as tx:
            return indexes.create(tx, space, id=IndexId(uuid.uuid4().hex), embedder=self._embedder(), now=self._now())

    def _same_embedder(self, row: IndexRow, space: SpaceId) -> None:
        mine = self._embedder()
        if row.embedder != mine:
            detail = (
                f"the index of space {space} was made with {_described(row.embedder)} and this worker has "
                f"{_described(mine)}; set RAGSTONE_EMBEDDER and its prompts to the index's own"
            )
            raise RagstoneError(ErrorCode.INDEX_INCOMPATIBLE, detail)

    def _index(self, space: SpaceId, row: IndexRow) -> VectorIndex:
        known = self._open.get(space)
        if known is None or known[0] != row:
            known = self._open[space] = (row, VectorIndex(self._url, row))
        return known[1]


def _described(embedder: EmbedderSpec) -> str:
    prompts = f"prompts {embedder.query_prompt!r} and {embedder.document_prompt!r}"
    return f"{embedder.name} (revision {embedder.revision[:12]}, dimension {embedder.dimension}, {prompts})"
