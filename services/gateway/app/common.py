"""What every door needs of a request: the gateway, who asks, the space, the page of a list; and its refusals."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Header, Query, Request

from services.gateway.app.described import ANYWHERE, problems
from services.gateway.domain.callers import Caller
from services.gateway.domain.names import space_named
from services.gateway.wiring.flows import Gateway
from services.shared.contracts.ids import DEFAULT_SPACE, SpaceId
from services.shared.contracts.keys import Role

PROBLEMS = problems(*ANYWHERE)
"""Refusals of every route; the document adds what follows from a route's shape."""

Named = Annotated[
    str | None,
    Header(
        alias="Ragstone-Space",
        description="The space to work in, main when left out; it is made at its first write. A key of one space "
        "needs no name.",
        # Not as a rule of its own, which would refuse in other words than the rest of the gateway.
        json_schema_extra={"pattern": "^[a-z0-9][a-z0-9_-]{0,62}$"},
    ),
]


def _gateway(request: Request) -> Gateway:
    gateway: Gateway = request.app.state.gateway
    return gateway


def caller_of(request: Request) -> Caller:
    """Who asks, as the middleware in front of all routes found out."""
    caller: Caller = request.state.caller
    return caller


def _space(needed: Role, *, public: bool = False) -> Callable[[Request, str | None], SpaceId]:
    """The space that the caller works in, when its key has the role."""

    def space(request: Request, name: Named = None) -> SpaceId:
        caller = caller_of(request)
        caller.check(needed, public=public)
        return caller.space_of(None if name is None else space_named(name), DEFAULT_SPACE)

    return space


def _admin(request: Request) -> Caller:
    caller = caller_of(request)
    caller.check(Role.ADMIN, public=False)
    return caller


GatewayOf = Annotated[Gateway, Depends(_gateway)]
CallerOf = Annotated[Caller, Depends(caller_of)]
VisitedSpace = Annotated[SpaceId, Depends(_space(Role.READ, public=True))]
"""For what a visitor of a web page may do, whose key everybody can read."""
ReadSpace = Annotated[SpaceId, Depends(_space(Role.READ))]
WriteSpace = Annotated[SpaceId, Depends(_space(Role.WRITE))]
Admin = Annotated[Caller, Depends(_admin)]
"""For what concerns all spaces."""
Limit = Annotated[int, Query(ge=1, le=200, description="Items a page")]
Cursor = Annotated[str | None, Query(max_length=2000, description="next_cursor of the page before")]
