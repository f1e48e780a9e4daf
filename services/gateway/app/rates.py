"""Before every route: how often this caller asks, and how many answers are under way."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.domain.callers import Caller
from services.gateway.domain.limiting import Standing, kind_of, writes
from services.gateway.flow.limiting import LimitFlow, too_many
from services.shared.contracts.errors import RagstoneError
from services.shared.kit.http_app import problem_response

HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After")
"""For whoever lets other origins read them."""


class RateLimits:
    """Answers 429 to what is too much, before any of its body is read; each counted answer tells how much is left.

    The headers are those of draft-ietf-httpapi-ratelimit-headers-03, which clients know.
    """

    def __init__(self, app: ASGIApp, *, limits: LimitFlow) -> None:
        self.app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        caller: Caller = scope["state"]["caller"]
        try:
            found = await self._limits.charge(caller, kind_of(scope["method"], scope["path"]))
        except RagstoneError as error:
            await problem_response(error)(scope, receive, send)
            return
        if found is None:
            await self.app(scope, receive, send)
            return
        # A body of many questions counts again, once it is read.
        scope["state"]["standing"] = found
        told = _telling(scope, send)
        if found.allowed:
            await self.app(scope, receive, told)
        else:
            await problem_response(too_many(found))(scope, receive, told)


def _telling(scope: Scope, send: Send) -> Send:
    async def send_with_standing(message: Message) -> None:
        if message["type"] == "http.response.start":
            standing: Standing = scope["state"]["standing"]
            headers = MutableHeaders(scope=message)
            headers["RateLimit-Limit"] = str(standing.limit)
            headers["RateLimit-Remaining"] = str(standing.remaining)
            headers["RateLimit-Reset"] = str(standing.reset_s)
        await send(message)

    return send_with_standing


class AnswersAtOnce:
    """Answers 503 at once when no more answers may be made at the same time.

    A place is taken when the whole question is there, so that slow senders hold none, and given back however the
    answer ends.
    """

    def __init__(self, app: ASGIApp, *, limits: LimitFlow) -> None:
        self.app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not writes(scope["method"], scope["path"]):
            await self.app(scope, receive, send)
            return
        try:
            place = self._limits.take_place(scope["state"]["caller"])
        except RagstoneError as error:
            await problem_response(error)(scope, receive, send)
            return
        try:
            await self.app(scope, receive, send)
        finally:
            if place is not None:
                self._limits.places.give_back(place)
