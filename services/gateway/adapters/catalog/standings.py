"""What a space holds at this moment, by the catalog."""

from anyio.to_thread import run_sync

from services.gateway.domain.given import Standing
from services.shared.catalog.engine import Catalog
from services.shared.catalog.standing import Mark, mark
from services.shared.contracts.ids import SpaceId


class CatalogStandings:
    """One statement a question."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def standing(self, space: SpaceId) -> Standing:
        """Its last change, its index, its calibration."""
        found = await run_sync(self._read, space)
        calibrated = found.calibrated_at
        return Standing(found.index, found.seq, None if calibrated is None else calibrated.isoformat())

    def _read(self, space: SpaceId) -> Mark:
        with self._catalog.read() as tx:
            return mark(tx, space)
