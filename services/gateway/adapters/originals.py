"""The blob folder, off the event loop."""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from anyio.to_thread import run_sync

from services.shared.catalog import documents
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError


class BlobOriginals:
    """Original bytes by hash; the catalog says which of them are needed."""

    def __init__(self, blobs: Blobs, catalog: Catalog) -> None:
        self._blobs = blobs
        self._catalog = catalog

    async def put(self, data: BinaryIO | bytes) -> tuple[str, int]:
        """Keep the bytes; a file is read from its beginning."""

        def store() -> tuple[str, int]:
            if not isinstance(data, bytes):
                data.seek(0)
            return self._blobs.put(data)

        return await run_sync(store)

    async def holds(self, sha256: str) -> bool:
        """Are these bytes there?"""
        return await run_sync(lambda: self._blobs.path(sha256).is_file())

    async def discard_orphans(self, hashes: Sequence[str]) -> int:
        """Delete what nothing needs, under the catalog's write lock, so that no upload can claim it meanwhile."""

        def discard() -> int:
            removed = 0
            with self._catalog.write() as tx:
                for sha256 in hashes:
                    if not documents.blob_in_use(tx, sha256) and self._blobs.path(sha256).is_file():
                        self._blobs.delete(sha256)
                        removed += 1
            return removed

        return await run_sync(discard) if hashes else 0

    async def path(self, sha256: str) -> Path:
        """Where the bytes lie; raises RagstoneError (version_not_found) when they are gone."""
        path = self._blobs.path(sha256)
        if not await self.holds(sha256):
            detail = "The original file is not in the blob folder any more; send the document again."
            raise RagstoneError(ErrorCode.VERSION_NOT_FOUND, detail)
        return path
