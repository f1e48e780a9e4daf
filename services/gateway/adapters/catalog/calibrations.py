"""The catalog's calibrations for the public routes."""

import uuid
from datetime import UTC, datetime

from anyio.to_thread import run_sync

from services.shared.catalog import calibrations, indexes
from services.shared.catalog.engine import Catalog
from services.shared.contracts.calibration import CalibrationRequest, CalibrationState
from services.shared.contracts.ids import JobId, SpaceId


class CatalogCalibrations:
    """Each method is one transaction."""

    def __init__(self, catalog: Catalog, again_share: float) -> None:
        self._catalog = catalog
        self._again_share = again_share

    async def start(self, space: SpaceId, wanted: CalibrationRequest, request_id: str) -> JobId:
        """A job that makes questions, asks them and fits."""

        def write() -> JobId:
            now = datetime.now(UTC)
            with self._catalog.write() as tx:
                id = JobId(uuid.uuid4().hex)
                return calibrations.order(tx, space, wanted, id=id, request_id=request_id, now=now).id

        return await run_sync(write)

    async def state(self, space: SpaceId) -> CalibrationState:
        """What is in force, and whether the content has moved away from it."""

        def read() -> CalibrationState:
            with self._catalog.read() as tx:
                found = calibrations.in_force(tx, space)
                stale = None if found is None else calibrations.stale(tx, space, found, self._again_share)
                return CalibrationState(calibration=found, stale=stale)

        return await run_sync(read)

    async def forget(self, space: SpaceId) -> None:
        """Forget what was fitted for the index that serves."""

        def write() -> None:
            with self._catalog.write() as tx:
                serving = indexes.serving(tx, space)
                if serving is not None:
                    calibrations.forget(tx, space, serving.id)

        await run_sync(write)
