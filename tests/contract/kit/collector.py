"""A collector of traces on a real socket: takes OTLP over HTTP, and keeps what it is sent."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class Kept:
    """One span as it was sent."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    failed: bool
    values: dict[str, str]


@dataclass
class Collector:
    """``spans`` are all that came so far, ``raw`` the bytes that they came in."""

    url: str = ""
    spans: list[Kept] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    def take(self, body: bytes) -> None:
        """Read one message."""
        self.raw.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            about = {one.key: one.value.string_value for one in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.spans += [
                    Kept(
                        service=about["service.name"],
                        name=span.name,
                        trace_id=span.trace_id.hex(),
                        span_id=span.span_id.hex(),
                        parent_id=span.parent_span_id.hex(),
                        failed=span.status.code == 2,
                        values={one.key: str(one.value).strip() for one in span.attributes},
                    )
                    for span in scope.spans
                ]

    def until(self, true: Callable[[list[Kept]], object], patience_s: float = 20.0) -> None:
        """Wait for spans."""
        deadline = time.monotonic() + patience_s
        while not true(list(self.spans)):
            assert time.monotonic() < deadline, sorted({(one.service, one.name) for one in self.spans})
            time.sleep(0.05)

    def of(self, trace_id: str) -> list[Kept]:
        """The spans of one trace."""
        return [one for one in self.spans if one.trace_id == trace_id]


@contextmanager
def collecting() -> Iterator[Collector]:
    """Listens on a free port until the block ends."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            collector.take(self.rfile.read(int(self.headers["Content-Length"])))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the tests look at what was sent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
