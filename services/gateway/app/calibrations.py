"""Doors for the calibration of a space: have it made, see it, go back to the product's own values."""

from fastapi import APIRouter, Response

from services.gateway.app.common import PROBLEMS, GatewayOf, WriteSpace
from services.gateway.app.described import problems
from services.shared.contracts.calibration import CalibrationRequest, CalibrationState
from services.shared.contracts.golden import StartedJob
from services.shared.kit.request_context import request_id

router = APIRouter(tags=["calibrations"], responses=PROBLEMS)


@router.post("/v1/calibrations", status_code=202, responses=problems(409))
async def start_calibration(
    wanted: CalibrationRequest, response: Response, gateway: GatewayOf, space: WriteSpace
) -> StartedJob:
    """Fit the thresholds of the space's index in the background, by questions made of its own content."""
    started = await gateway.calibrate.start(space, wanted, request_id())
    response.headers["Location"] = f"/v1/jobs/{started.job_id}"
    return started


@router.get("/v1/calibrations")
async def get_calibration(gateway: GatewayOf, space: WriteSpace) -> CalibrationState:
    """The calibration that is in force, and why it should be made anew if it should."""
    return await gateway.calibrations.state(space)


@router.delete("/v1/calibrations", status_code=204)
async def forget_calibration(gateway: GatewayOf, space: WriteSpace) -> None:
    """Go back to the product's own values, also when they hold already."""
    await gateway.calibrations.forget(space)
