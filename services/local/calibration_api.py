"""The doors of the public API that calibrate."""

from services.local.api import Api
from services.shared.contracts.calibration import CalibrationRequest, CalibrationState
from services.shared.contracts.golden import StartedJob

PATH = "/v1/calibrations"


class CalibrationApi:
    """Raises what Api raises."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def start(self, request: CalibrationRequest) -> StartedJob:
        """Calibrate in the background."""
        return self._api.message(StartedJob, "POST", PATH, json=request.model_dump(mode="json"))

    def state(self) -> CalibrationState:
        """What is in force."""
        return self._api.message(CalibrationState, "GET", PATH)

    def forget(self) -> None:
        """Go back to the product's own values."""
        self._api.done("DELETE", PATH)
