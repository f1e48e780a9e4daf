"""The keyword index as the retriever saved it, compared with the catalog in this process."""

import shutil
from pathlib import Path

from services.shared.catalog import chunks
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from services.shared.index.bm25_follow import saved_index, snapshot_folder


class SavedKeywords:
    """Reads the snapshots that the retrievers of this state folder share; those of other machines are not seen here."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog = catalog
        self._folder = folder

    def difference(self, space: SpaceId) -> tuple[int, int]:
        index = saved_index(self._catalog, space, self._folder)
        if index is None:
            return 0, 0
        with self._catalog.read() as tx:
            live = [chunk.id for chunk in chunks.iter_live(tx, space)]
        held = sum(id in index for id in live)
        return len(live) - held, len(index) - held

    def forget(self, space: SpaceId) -> None:
        shutil.rmtree(snapshot_folder(self._folder, space), ignore_errors=True)
