"""What is told of each request: one line in the log, its count and duration, and its span."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.routing import BaseRoute
from starlette.types import Scope

from services.shared.kit.logs import get_logger
from services.shared.kit.metrics import METRICS_PATH, Metrics
from services.shared.kit.request_context import watch_problems
from services.shared.kit.tracing import SILENT, TRACEPARENT_HEADER, Span, span

log = get_logger(__name__)

LOOKS = frozenset({"/healthz", "/readyz", METRICS_PATH})
"""Asked by machines every few seconds: counted, but neither logged nor traced."""

FAILED = 500


@dataclass
class Look:
    """One request on its way; ``status`` is 0 until the answer begins."""

    began: float
    problems: list[str] = field(default_factory=list)
    status: int = 0


class Seen:
    """Tells of the requests of one service. ``begins_traces``: also of those that come with no trace of their own."""

    def __init__(self, metrics: Metrics, *, begins_traces: bool = False) -> None:
        self._metrics = metrics
        self.begins_traces = begins_traces
        self._leaves: list[BaseRoute] | None = None

    def told(self, scope: Scope, look: Look, inside: Span | None) -> None:
        """The request is over."""
        seconds = time.perf_counter() - look.began
        route, method = self._template(scope), scope["method"]
        self._metrics.requested(route=route, method=method, status=look.status, seconds=seconds)
        for code in look.problems:
            self._metrics.refused(code)
        if inside is None:
            return
        inside.named(f"{method} {route}" if route else method)
        inside.note(status=look.status)
        if look.status >= FAILED:
            inside.failed(look.problems[-1] if look.problems else str(look.status))
        told = {"code": look.problems[-1]} if look.problems else {}
        elapsed_ms = round(1000 * seconds, 1)
        log.info("request", method=method, path=scope["path"], status=look.status, ms=elapsed_ms, **told)

    def _template(self, scope: Scope) -> str | None:
        """The route's path as it is declared; also of a request that was refused before it came there."""
        route = scope.get("route")
        if route is None:
            if self._leaves is None:
                self._leaves = list(leaves(scope["app"].routes))
            path = scope["path"]
            route = next((one for one in self._leaves if fits(one, path)), None)
        template: str | None = getattr(route, "path", None)
        return template


@contextmanager
def watching(seen: Seen, scope: Scope) -> Iterator[Look]:
    """Tell of the request that runs inside."""
    look = Look(time.perf_counter(), watch_problems())
    if scope["path"] in LOOKS:
        try:
            yield look
        finally:
            seen.told(scope, look, None)
        return
    parent = Headers(scope=scope).get(TRACEPARENT_HEADER)
    part = parent is not None or seen.begins_traces
    with span(scope["method"], kind="server", parent=parent) if part else nullcontext(SILENT) as inside:
        try:
            yield look
        finally:
            seen.told(scope, look, inside)


def leaves(routes: list[BaseRoute]) -> Iterator[BaseRoute]:
    """Every single route, those of included routers too."""
    for route in routes:
        inner = getattr(getattr(route, "original_router", None), "routes", None)
        if inner is None:
            yield route
        else:
            yield from leaves(inner)


def fits(route: BaseRoute, path: str) -> bool:
    """Is the path one of this route's, whatever the method?"""
    pattern = getattr(route, "path_regex", None)
    return pattern is not None and pattern.match(path) is not None
