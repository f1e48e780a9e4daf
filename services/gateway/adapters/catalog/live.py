"""The catalog's word on what may be said right now."""

from collections.abc import Collection

from anyio.to_thread import run_sync

from services.gateway.domain.citations import TextOf
from services.shared.catalog.engine import Catalog
from services.shared.catalog.live_versions import live_texts
from services.shared.contracts.ids import SpaceId


class CatalogLiveTexts:
    """Reads all wanted versions in one snapshot."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def live_texts(self, space: SpaceId, wanted: Collection[TextOf]) -> dict[TextOf, str]:
        """The texts of those that are live."""
        return await run_sync(self._read, space, wanted)

    def _read(self, space: SpaceId, wanted: Collection[TextOf]) -> dict[TextOf, str]:
        with self._catalog.read() as tx:
            live = live_texts(tx, space, list({document_id for document_id, _ in wanted}))
        return {one: live[one] for one in wanted if one in live}
