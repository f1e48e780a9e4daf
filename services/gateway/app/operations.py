"""Doors for whoever runs it: metrics, and loading the models."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from services.gateway.app.common import PROBLEMS, Admin, GatewayOf, VisitedSpace
from services.shared.contracts.health import Warmth
from services.shared.kit.metrics import CONTENT_TYPE, METRICS_PATH

router = APIRouter(tags=["health"], responses=PROBLEMS)

_UNDER_WAY = 202

Wait = Annotated[float, Query(ge=0, le=60, description="Seconds to wait for the end; 0 answers at once")]


@router.get(METRICS_PATH, response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(gateway: GatewayOf, _: Admin) -> Response:
    """Everything for Prometheus, in its text format; the catalog's numbers are up to 5 seconds old."""
    operations = gateway.operations
    operations.metrics.overview = await operations.overview.now()
    return Response(operations.metrics.page(), media_type=CONTENT_TYPE)


@router.post("/v1/warmup", response_model=Warmth, responses={202: {"model": Warmth, "description": "Still loading"}})
async def warm_up(gateway: GatewayOf, response: Response, _: VisitedSpace, wait_s: Wait = 0) -> Warmth:
    """Have the models loaded now, as a page does when it is opened: 202 while they load, 200 when all is said.

    However many ask, it is done once, and not again within 30 seconds.
    """
    warmth, over = await gateway.operations.warm.warm_up(wait_s)
    response.status_code = 200 if over else _UNDER_WAY
    return warmth
