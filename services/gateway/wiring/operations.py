"""What whoever runs the gateway looks at: its counts, the state of the whole, and the loading of models."""

import time
from dataclasses import dataclass

from services.gateway.adapters.metrics import CountedGenerator, CountedRetriever, GatewayMetrics, Moment
from services.gateway.flow.limiting import LimitFlow
from services.gateway.flow.overview import OverviewFlow
from services.gateway.flow.shared_ask import SharedAskFlow
from services.gateway.flow.warm import WarmFlow
from services.gateway.ports.answering import Generator, Retriever
from services.gateway.ports.figures import FigureBook
from services.gateway.ports.parts import Parts
from services.gateway.ports.warming import Warmed


@dataclass(frozen=True)
class Operations:
    """The doors of app/operations.py."""

    metrics: GatewayMetrics
    overview: OverviewFlow
    warm: WarmFlow


@dataclass(frozen=True)
class Watched:
    """What is looked at from outside, behind its ports."""

    figures: FigureBook
    retriever: Warmed
    generator: Warmed


def counted(retriever: Retriever, generator: Generator, metrics: GatewayMetrics) -> tuple[Retriever, Generator]:
    """The two services, with what they answer counted."""
    return CountedRetriever(retriever, metrics), CountedGenerator(generator, metrics)


def operations_of(
    metrics: GatewayMetrics, watched: Watched, parts: Parts, ask: SharedAskFlow, limits: LimitFlow
) -> Operations:
    """The metrics read the flows' own counts."""

    def given() -> dict[str, int]:
        counts = ask.counts
        return {"hit": counts.hits, "miss": counts.misses, "shared": counts.shared}

    metrics.look_at(Moment(given, lambda: limits.places.taken))
    return Operations(
        metrics=metrics,
        overview=OverviewFlow(parts=parts, book=watched.figures, clock=time.monotonic),
        warm=WarmFlow({"retriever": watched.retriever, "generator": watched.generator}, time.monotonic),
    )
