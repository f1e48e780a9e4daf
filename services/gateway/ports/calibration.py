"""The calibration of a space's index."""

from typing import Protocol

from services.shared.contracts.calibration import CalibrationRequest, CalibrationState
from services.shared.contracts.ids import JobId, SpaceId


class Calibrations(Protocol):
    """The catalog's calibrations."""

    async def start(self, space: SpaceId, wanted: CalibrationRequest, request_id: str) -> JobId:
        """Writes the job down; raises RagstoneError (invalid_request: nothing ingested, job_state_conflict)."""
        ...

    async def state(self, space: SpaceId) -> CalibrationState:
        """What is in force for the index that serves."""
        ...

    async def forget(self, space: SpaceId) -> None:
        """Back to the product's own values, if they do not hold already."""
        ...
