"""Traces: one request followed through services, queues and workers, sent to an OpenTelemetry collector.

Off unless an address is set, and then it costs next to nothing. Spans carry names, counts and durations, never text of
documents or questions, and of an error its code or type alone. The provider is our own and not the process's, so that
libraries which would trace by themselves have nothing to write to.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

import structlog

from services.shared.contracts.errors import RagstoneError
from services.shared.kit.logs import get_logger
from services.shared.kit.settings import TraceSettings
from services.shared.kit.version import product_version

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

log = get_logger(__name__)

TRACEPARENT_HEADER = "traceparent"

EXPORT_EVERY_MS = 1000
EXPORT_TIMEOUT_S = 3
"""A collector that is away must not hold up the end of a process for long."""

_EXPORTER = "opentelemetry.exporter.otlp.proto.http"

Kind = Literal["internal", "server", "client", "producer", "consumer"]
Value = str | int | float | bool

P = ParamSpec("P")
R = TypeVar("R")


class _Tracing:
    """Which collector this process tells; the tracer is made at the first span, and anew after a fork."""

    def __init__(self) -> None:
        self.service = ""
        self.url: str | None = None
        self._making = threading.Lock()
        self._made_by = 0
        self._tracer: Tracer | None = None

    def tracer(self) -> "Tracer | None":
        """None while traces are off."""
        if self.url is None:
            return None
        if self._made_by != os.getpid():
            with self._making:
                if self._made_by != os.getpid():
                    self._tracer = _made(self.service, self.url)
                    self._made_by = os.getpid()
        return self._tracer


_here = _Tracing()


def configure_tracing(service: str, settings: TraceSettings) -> None:
    """Send the spans of this process to the collector, if one is set and what it takes is installed."""
    _here.service, _here.url = service, settings.otlp_url or None
    if _here.url is None:
        return
    if not _installed():
        _here.url = None
        todo = "pip install 'ragstone[tracing]', or unset RAGSTONE_OTLP_URL"
        log.warning("tracing_off", why="an address for traces is set, but OpenTelemetry is not installed", todo=todo)


def _installed() -> bool:
    try:
        return find_spec("opentelemetry.sdk.trace") is not None and find_spec(_EXPORTER) is not None
    except ModuleNotFoundError:
        return False


def _made(service: str, url: str) -> "Tracer":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = {"service.namespace": "ragstone", "service.name": service, "service.version": product_version()}
    provider = TracerProvider(resource=Resource.create(named))
    exporter = OTLPSpanExporter(endpoint=f"{url.rstrip('/')}/v1/traces", timeout=EXPORT_TIMEOUT_S)
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=EXPORT_EVERY_MS))
    return provider.get_tracer("ragstone", product_version())


class Span:
    """What is being done; every method is harmless while traces are off."""

    def __init__(self, span: "OtelSpan | None" = None) -> None:
        self._span = span

    def note(self, **values: Value) -> None:
        """Say more of it."""
        if self._span is not None:
            for name, value in values.items():
                self._span.set_attribute(f"ragstone.{name}", value)

    def named(self, name: str) -> None:
        """What it is called after all."""
        if self._span is not None:
            self._span.update_name(name)

    def failed(self, why: str) -> None:
        """It came to nothing; ``why`` is a code or the name of a type."""
        if self._span is not None:
            from opentelemetry.trace import Status, StatusCode

            self._span.set_status(Status(StatusCode.ERROR, why))

    @property
    def traceparent(self) -> str | None:
        """By which others go on with it (W3C Trace Context)."""
        if self._span is None:
            return None
        own = self._span.get_span_context()
        return f"00-{own.trace_id:032x}-{own.span_id:016x}-{int(own.trace_flags):02x}"

    @property
    def trace_id(self) -> str:
        """Of the whole trace."""
        return "" if self._span is None else f"{self._span.get_span_context().trace_id:032x}"


SILENT = Span()
"""Of what is not traced."""


@contextmanager
def span(name: str, *, kind: Kind = "internal", parent: str | None = None, **values: Value) -> Iterator[Span]:
    """What runs inside is part of it. Not for the body of an async generator, which may be closed elsewhere.

    ``parent`` is a traceparent from outside, else it is part of what runs already.
    """
    tracer = _here.tracer()
    if tracer is None:
        yield SILENT
        return
    from opentelemetry import context, trace

    began = _begun(tracer, name, kind, parent, values)
    inside = Span(began)
    token = context.attach(trace.set_span_in_context(began))
    try:
        with structlog.contextvars.bound_contextvars(trace_id=inside.trace_id), _told(inside):
            yield inside
    finally:
        context.detach(token)
        began.end()


@contextmanager
def span_apart(name: str, *, kind: Kind = "internal", **values: Value) -> Iterator[Span]:
    """One that what runs inside is no part of, unless it is told the span's ``traceparent``."""
    tracer = _here.tracer()
    if tracer is None:
        yield SILENT
        return
    began = _begun(tracer, name, kind, None, values)
    try:
        with _told(Span(began)):
            yield Span(began)
    finally:
        began.end()


def traced(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function, no coroutine, whose every call is a span."""

    def around(work: Callable[P, R]) -> Callable[P, R]:
        @wraps(work)
        def spanned(*args: P.args, **kwargs: P.kwargs) -> R:
            with span(name):
                return work(*args, **kwargs)

        return spanned

    return around


def step(name: str) -> AbstractContextManager[object]:
    """A span for whoever only says that something begins and ends."""
    return span(name)


def traceparent() -> str | None:
    """By which others go on with what runs here; None while traces are off or nothing runs."""
    if _here.url is None:
        return None
    from opentelemetry import trace

    current = trace.get_current_span()
    return Span(current).traceparent if current.get_span_context().is_valid else None


@contextmanager
def _told(inside: Span) -> Iterator[None]:
    try:
        yield
    except RagstoneError as error:
        inside.failed(error.code)
        raise
    except Exception as error:
        inside.failed(type(error).__name__)
        raise
    except BaseException:
        inside.note(cancelled=True)
        raise


def _begun(tracer: "Tracer", name: str, kind: Kind, parent: str | None, values: dict[str, Value]) -> "OtelSpan":
    from opentelemetry.trace import SpanKind

    return tracer.start_span(
        name,
        context=_context_of(parent),
        kind=SpanKind[kind.upper()],
        attributes={f"ragstone.{key}": value for key, value in values.items()},
    )


def _context_of(parent: str | None) -> "Context | None":
    if parent is None:
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, Any] = {TRACEPARENT_HEADER: parent}
    return TraceContextTextMapPropagator().extract(carrier)
