"""The collection of one index in Chroma: counted, cleared of what died, and deleted."""

from collections.abc import Sequence
from pathlib import Path

from services.ingestor.ports.content import Target
from services.ingestor.ports.reembedding import TakenOut
from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.catalog.index_rows import collection_of
from services.shared.contracts.ids import IndexId, VersionId
from services.shared.contracts.indexes import IndexPhase
from services.shared.index.chroma import VectorIndex
from services.shared.index.chroma_folder import sweep
from services.shared.index.collections import drop


class ChromaSecondVectors:
    """Opens each index once. ``folder`` is where the server keeps its files, if that is on this disk."""

    def __init__(self, chroma_url: str, catalog: Catalog, folder: Path) -> None:
        self._url = chroma_url
        self._folder = folder
        self._catalog = catalog
        self._open: dict[IndexId, VectorIndex] = {}

    def count(self, target: Target) -> int:
        return self._index(target).count()

    def delete_versions(self, target: Target, versions: Sequence[VersionId]) -> None:
        self._index(target).delete_versions(versions)

    def drop(self, index_id: IndexId) -> None:
        self._open.pop(index_id, None)
        drop(self._url, collection_of(index_id))
        sweep(self._folder)

    def _index(self, target: Target) -> VectorIndex:
        # Looked up each time: a collection that was taken out would be made again by its first use.
        with self._catalog.read() as tx:
            row = indexes.find(tx, target.index_id)
        if row is None or row.state is IndexPhase.RETIRED:
            raise TakenOut
        if row.id not in self._open:
            self._open[row.id] = VectorIndex(self._url, row)
        return self._open[row.id]
