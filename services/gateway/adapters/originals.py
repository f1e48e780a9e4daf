"""The original bytes, off the event loop."""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from anyio.to_thread import run_sync

from services.shared.catalog import blob_use
from services.shared.catalog.blob_store import BlobStore
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError


class BlobOriginals:
    """Original bytes by hash; the catalog says which of them are needed."""

    def __init__(self, blobs: BlobStore, catalog: Catalog) -> None:
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
        return await run_sync(self._blobs.holds, sha256)

    async def discard_orphans(self, hashes: Sequence[str]) -> int:
        """Delete what nothing needs; how many."""
        return await run_sync(blob_use.discard, self._catalog, self._blobs, hashes)

    async def original(self, sha256: str) -> Path | BinaryIO:
        """Where the bytes lie, or themselves; raises RagstoneError (version_not_found) when they are gone."""
        path = self._blobs.file_of(sha256)
        if path is None:
            return await run_sync(self._blobs.open, sha256)
        if not await self.holds(sha256):
            detail = "The original file is not in the blob folder any more; send the document again."
            raise RagstoneError(ErrorCode.VERSION_NOT_FOUND, detail)
        return path
