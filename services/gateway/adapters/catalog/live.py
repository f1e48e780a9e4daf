"""The catalog's word on what may be said right now."""

from collections.abc import Collection

from anyio.to_thread import run_sync

from services.gateway.domain.citations import TextOf
from services.shared.catalog import documents
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId


class CatalogLiveTexts:
    """Reads all wanted versions in one snapshot."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def live_texts(self, space: SpaceId, wanted: Collection[TextOf]) -> dict[TextOf, str]:
        """The texts of those that are live."""
        return await run_sync(self._read, space, wanted)

    def _read(self, space: SpaceId, wanted: Collection[TextOf]) -> dict[TextOf, str]:
        texts: dict[TextOf, str] = {}
        with self._catalog.read() as tx:
            for document_id, version_id in wanted:
                stored = documents.version(tx, space, document_id, version_id)
                if stored is not None and stored.live:
                    texts[(document_id, version_id)] = stored.text
        return texts
