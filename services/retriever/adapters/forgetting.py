"""What the indexes still hold of deleted versions, and taking it out."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection

from services.retriever.adapters.keywords import Bm25Keywords
from services.retriever.adapters.threads import Threads
from services.retriever.adapters.vectors import ChromaVectors
from services.shared.catalog import changes, documents, indexes, live_versions
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

    def __init__(
        self, catalog: Catalog, chroma_url: str, keywords: Bm25Keywords, vectors: ChromaVectors, *, timeout_s: float
    ) -> None:
        self._catalog = catalog
        self._eraser = VectorEraser(chroma_url, timeout_s=timeout_s)
        self._keywords = keywords
        self._vectors = vectors
        self._threads = Threads(THREADS)
        self._looked: dict[SpaceId, int] = {}

    async def gone(self, space: SpaceId, versions: Sequence[VersionId]) -> list[VersionId]:
        """Those that neither answer nor are on their way in."""
        return await self._threads.run(self._gone, space, versions)

    async def forget_vectors(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        """Take them out of the collection of every index of the space, also of one that is built or was retired."""
        return await self._threads.run(self._forget_vectors, space, versions)

    async def forget_postings(self, space: SpaceId, versions: Sequence[VersionId]) -> int:
        """Take them out of this process's keyword index, and of its snapshot."""
        return await self._threads.run(self._keywords.forget, space, versions)

    async def follow(self, snapshot_dir: Path, every_s: float) -> None:
        """Look at the change log again and again, and forget what was deleted.

        Of several retrievers one is told of a deletion; the others, and one that comes back after it was killed, find
        it here, also if nobody asks them anything any more.
        """
        while True:
            try:
                await self._threads.run(self._follow, snapshot_dir)
            except RagstoneError as error:
                log.warning("deletions_not_followed", why=error.detail)
            await asyncio.sleep(every_s)

    def _follow(self, snapshot_dir: Path) -> None:
        with self._catalog.read() as tx:
            now = changes.current_seqs(tx)
            moved = [space for space, seq in now.items() if self._looked.get(space) != seq]
            behind = [space for space in moved if self._deleted_since(tx, space)]
        if behind:
            drop_outdated(self._catalog, snapshot_dir, behind)
            self._keywords.follow_deletions(behind)
            self._vectors.let_go_of_deleted(behind)
        self._looked = now

    def _deleted_since(self, tx: Connection, space: SpaceId) -> bool:
        """Since the last look; at the first one everything is looked at, whatever was left behind."""
        return space not in self._looked or changes.removed_after(tx, space, self._looked[space])

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
        self._vectors.let_go_of_deleted([space])
        with self._catalog.read() as tx:
            collections = [index.collection for index in indexes.of_space(tx, space)]
        return sum(self._eraser.forget(collection, versions) for collection in collections)
