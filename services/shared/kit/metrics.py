"""Metrics for Prometheus: one registry a process, and every metric declared with what it says.

Labels are words of our own, never text, questions, names, ids or keys: a value that is none of ours counts as "other".
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, GCCollector, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

METRICS_PATH = "/metrics"

OTHER = "other"

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180)
"""Upper ends of the classes that durations are counted in: from a cached answer to a model's slowest."""

Read = Callable[[], Mapping[tuple[str, ...], float]]
"""Values by their labels, as they are when somebody looks."""


@dataclass(frozen=True)
class Described:
    """What a metric is, for the page that lists them."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    help: str


class Metrics:
    """The metrics of one process of ``service``. Use it from any thread."""

    def __init__(self, service: str) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.described: list[Described] = []
        self._service = service
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._requests = self.counter(
            "ragstone_requests_total",
            "HTTP requests by route, method and status; other is what is no route",
            *("service", "route", "method", "status"),
        )
        self._request_s = self.histogram(
            "ragstone_request_seconds", "Time until a request's answer had gone out whole", "service", "route"
        )
        self._problems = self.counter(
            "ragstone_problems_total",
            "Errors told to clients by code; rate_limited and busy are refusals by a limit",
            *("service", "code"),
        )

    def counter(self, name: str, help: str, *labels: str) -> Counter:
        """What only grows; the name ends in _total."""
        self.described.append(Described(name, "counter", labels, help))
        return Counter(name, help, labels, registry=self.registry)

    def histogram(self, name: str, help: str, *labels: str) -> Histogram:
        """Durations; the name ends in _seconds."""
        self.described.append(Described(name, "histogram", labels, help))
        return Histogram(name, help, labels, registry=self.registry, buckets=SECONDS)

    def gauge(self, name: str, help: str, labels: tuple[str, ...], read: Read) -> None:
        """What goes up and down, read when somebody looks."""
        self.described.append(Described(name, "gauge", labels, help))
        self.registry.register(_Looked(Described(name, "gauge", labels, help), read))

    def counted(self, name: str, help: str, labels: tuple[str, ...], read: Read) -> None:
        """What only grows and is counted elsewhere, read when somebody looks."""
        self.described.append(Described(name, "counter", labels, help))
        self.registry.register(_Looked(Described(name, "counter", labels, help), read))

    def requested(self, *, route: str | None, method: str, status: int, seconds: float) -> None:
        """One request is over."""
        where = route or OTHER
        self._requests.labels(self._service, where, among(method, METHODS), str(status)).inc()
        self._request_s.labels(self._service, where).observe(seconds)

    def refused(self, code: str) -> None:
        """A client was told an error of this code, from our closed list."""
        self._problems.labels(self._service, code).inc()

    def page(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self.registry)


class _Looked(Collector):
    """One metric whose values are read at each look."""

    def __init__(self, described: Described, read: Read) -> None:
        self._described = described
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """The family with its values of this moment."""
        own = self._described
        kind = GaugeMetricFamily if own.kind == "gauge" else CounterMetricFamily
        family = kind(own.name, own.help, labels=own.labels)
        for labels, value in self._read().items():
            family.add_metric(labels, value)
        yield family


def among(value: str, known: Collection[str]) -> str:
    """A label that is one of ours."""
    return value if value in known else OTHER


class Vocabulary:
    """Words that our services use and nobody has listed: the first ``most`` that look like one, then "other"."""

    def __init__(self, most: int = 40) -> None:
        self._most = most
        self._words: set[str] = set()

    def label(self, value: str) -> str:
        """The word as a label."""
        if value in self._words:
            return value
        sane = len(value) <= 40 and value.isascii() and value.replace("_", "").isalpha() and value == value.lower()
        if not sane or len(self._words) >= self._most:
            return OTHER
        self._words.add(value)
        return value
