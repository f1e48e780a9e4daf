"""What every door needs of a request: the gateway, the space, the page of a list; and how errors are documented."""

from typing import Annotated, Any

from fastapi import Depends, Header, Query, Request

from services.gateway.domain.names import space_named
from services.gateway.wiring import Gateway
from services.shared.contracts.errors import Problem
from services.shared.contracts.ids import DEFAULT_SPACE, SpaceId

PROBLEMS: dict[int | str, dict[str, Any]] = {
    422: {"model": Problem, "description": "The request is at fault; the problem document says how"},
    "default": {"model": Problem, "description": "Any other error, as an RFC 9457 problem document"},
}
"""Responses that every route shares."""


def _gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


def _space(
    name: Annotated[
        str, Header(alias="Ragstone-Space", description="The space to work in; it is made at its first write")
    ] = DEFAULT_SPACE,
) -> SpaceId:
    return space_named(name)


GatewayOf = Annotated[Gateway, Depends(_gateway)]
SpaceOf = Annotated[SpaceId, Depends(_space)]
Limit = Annotated[int, Query(ge=1, le=200, description="Items a page")]
Cursor = Annotated[str | None, Query(max_length=2000, description="next_cursor of the page before")]
