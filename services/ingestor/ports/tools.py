"""Everything that a worker works with, in one bundle."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from services.ingestor.ports.calibration import CalibrationTools
from services.ingestor.ports.content import Embedders, Originals, Parsers, VectorStore
from services.ingestor.ports.evaluation import EvaluationTools
from services.ingestor.ports.forgetting import Traces
from services.ingestor.ports.jobs import BatchLedger, Doorbell, Leases, Ledger
from services.ingestor.ports.reembedding import ReembeddingTools

Item = TypeVar("Item")


class Background(Protocol):
    """A thread that works one step behind."""

    def run(self, step: Callable[[], None]) -> None:
        """Wait for the step before (raising its error), then start this one."""

    def wait(self) -> None:
        """Wait for the last step, raising its error."""


class Ahead(Protocol[Item]):
    """A thread that makes items before they are asked for."""

    def take(self) -> list[Item]:
        """All that are ready, at least one, waiting for it; none at the end. Raises what making one raised."""

    def ready(self, within_s: float) -> bool:
        """Wait so long; True when ``take`` would not wait any more."""


class ReadAhead(Protocol):
    """Starts such a thread; it ends with the block, whatever it was making."""

    def __call__(self, items: Iterator[Item], most: int) -> AbstractContextManager[Ahead[Item]]:
        """At most ``most`` items wait at a time."""


@dataclass(frozen=True)
class Rules:
    """Sizes from the settings."""

    chunk_words: int
    max_chunks: int
    max_document_bytes: int
    group_jobs: int
    group_documents: int
    group_chunks: int
    time_slice_s: float
    time_limit_s: float
    """Longest run of a task; long work makes way well before."""
    max_attempts: int
    parse_first_s: float
    """Longest first reading of a document that was sent by itself; then it is put behind the others."""


@dataclass(frozen=True)
class Tools:
    """Everything that a worker works with."""

    ledger: Ledger
    batches: BatchLedger
    leases: Leases
    originals: Originals
    parsers: Parsers
    slow_parsers: Parsers
    """A process of its own, which ends with the document: for one that takes long, while others go in."""
    embedders: Embedders
    vectors: VectorStore
    bell: Doorbell
    evaluation: EvaluationTools
    calibration: CalibrationTools
    reembedding: ReembeddingTools
    traces: Traces
    one_behind: Callable[[], AbstractContextManager[Background]]
    ahead: ReadAhead
    clock: Callable[[], float]
    """Seconds that only go forward."""
    rules: Rules
    time_up: type[Exception]
    """What the queue raises in the middle of the work when its time is over; never caught as a failure."""
