"""What the indexes still hold of deleted versions, and taking it out."""

from collections.abc import Sequence
from pathlib import Path

from services.retriever.adapters.keywords import Bm25Keywords
from services.retriever.adapters.threads import Threads
from services.shared.catalog import documents, indexes, live_versions
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import SpaceId, VersionId
from services.shared.index.bm25_follow import drop_outdated
from services.shared.index.chroma_forget import VectorEraser
from services.shared.kit.logs import get_logger

THREADS = 4

log = get_logger(__name__)


class IndexMemory:
    """The port ``Memory`` over the catalog, Chroma and BM25."""

    def __init__(self, catalog: Catalog, chroma_url: str, keywords: Bm25Keywords, *, timeout_s: float) -> None:
        self._catalog = catalog
        self._eraser = VectorEraser(chroma_url, timeout_s=timeout_s)
        self._keywords = keywords
        self._threads = Threads(THREADS)

    async def gone(self, space: SpaceId, versions: Sequence[VersionId]) -> list[VersionId]:
        """Those that neither answer nor are on their way in."""
        return await self._threads.run(self._gone, space, versions)

    async def forget_vectors(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        """Take them out of the collection of every index of the space, also of one that is built or was retired."""
        return await self._threads.run(self._forget_vectors, space, versions)

    async def forget_postings(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        """Take them out of this process's keyword index, and of its snapshot."""
        return await self._threads.run(self._keywords.forget, space, versions)

    async def tidy(self, snapshot_dir: Path) -> None:
        """Take away snapshots that a killed process left with the words of deleted documents."""
        try:
            await self._threads.run(drop_outdated, self._catalog, snapshot_dir)
        except RagstoneError as error:
            # The next deletion or search of each space looks again.
            log.warning("snapshots_not_looked_at", why=error.detail)

    def _gone(self, space: SpaceId, versions: Sequence[VersionId]) -> list[VersionId]:
        # In this order: one that goes live between the looks is seen at the second.
        with self._catalog.read() as tx:
            needed = documents.under_way(tx, space, versions)
        with self._catalog.read() as tx:
            needed |= live_versions.those_live(tx, space, versions)
        return [version for version in versions if version not in needed]

    def _forget_vectors(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        if not versions:
            return 0
        with self._catalog.read() as tx:
            collections = [index.collection for index in indexes.of_space(tx, space)]
        return sum(self._eraser.forget(collection, versions) for collection in collections)
