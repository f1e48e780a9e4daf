"""The story of a calibration as the gateway sees it: write the order down, ring."""

from services.gateway.ports.calibration import Calibrations
from services.gateway.ports.jobs import Bell
from services.shared.contracts.calibration import CalibrationRequest
from services.shared.contracts.golden import StartedJob
from services.shared.contracts.ids import SpaceId
from services.shared.contracts.jobs import QUEUE_OF, JobKind


class CalibrateFlow:
    """Orders calibrations; a worker does them."""

    def __init__(self, *, calibrations: Calibrations, bell: Bell) -> None:
        self._calibrations = calibrations
        self._bell = bell

    async def start(self, space: SpaceId, wanted: CalibrationRequest, request_id: str) -> StartedJob:
        """One job at a time in each space. Raises RagstoneError."""
        job_id = await self._calibrations.start(space, wanted, request_id)
        await self._bell.ring(QUEUE_OF[JobKind.CALIBRATION], [job_id], request_id)
        return StartedJob(job_id=job_id)
