"""Bodies of batches in the blob folder, off the event loop."""

from datetime import UTC, datetime

from anyio.to_thread import run_sync

from services.gateway.ports.forgetting import EmptiedBodies
from services.shared.catalog import bodies
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, SpaceId

WITHIN_S = 3.0
"""Longest look through bodies, 100 MB of which take a tenth of a second; the clean-up job goes through the rest."""


class BlobBodies:
    """Takes documents out of bodies that may be read again."""

    def __init__(self, blobs: Blobs, catalog: Catalog) -> None:
        self._blobs = blobs
        self._catalog = catalog

    async def empty(self, space: SpaceId, document_id: DocumentId) -> EmptiedBodies:
        """Take the document out; raises RagstoneError."""

        def look() -> EmptiedBodies:
            done = bodies.empty(
                self._catalog, self._blobs, space, document_id, lambda: datetime.now(UTC), within_s=WITHIN_S
            )
            return EmptiedBodies(done.to_ring, done.complete)

        return await run_sync(look)
