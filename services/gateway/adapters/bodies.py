"""Bodies of batches, off the event loop."""

from datetime import UTC, datetime

from anyio.to_thread import run_sync

from services.gateway.ports.forgetting import EmptiedBodies
from services.shared.catalog import bodies
from services.shared.catalog.blob_store import BlobStore
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, SpaceId

WITHIN_S = 3.0
"""Longest look through bodies, 100 MB of which take a tenth of a second; the clean-up job goes through the rest."""


class BlobBodies:
    """Finds documents in bodies that may be read again, and takes them out."""

    def __init__(self, blobs: BlobStore, catalog: Catalog) -> None:
        self._blobs = blobs
        self._catalog = catalog

    async def hold(self, space: SpaceId, document_id: DocumentId) -> bool:
        """May one of them still bring the document in? So it is taken for when they are too many to be looked through
        now. Raises RagstoneError."""

        def look() -> bool:
            return bodies.hold(self._catalog, self._blobs, space, document_id, within_s=WITHIN_S)

        return await run_sync(look)

    async def empty(self, space: SpaceId, document_id: DocumentId) -> EmptiedBodies:
        """Take the document out; raises RagstoneError."""

        def look() -> EmptiedBodies:
            done = bodies.empty(
                self._catalog, self._blobs, space, document_id, lambda: datetime.now(UTC), within_s=WITHIN_S
            )
            return EmptiedBodies(done.to_ring, done.complete)

        return await run_sync(look)
