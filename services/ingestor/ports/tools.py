"""Everything that a worker works with, in one bundle."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from services.ingestor.ports.calibration import CalibrationTools
from services.ingestor.ports.content import Embedder, Originals, Parsers, VectorStore
from services.ingestor.ports.evaluation import EvaluationTools
from services.ingestor.ports.jobs import BatchLedger, Doorbell, Leases, Ledger


class Background(Protocol):
    """A thread that works one step behind."""

    def run(self, step: Callable[[], None]) -> None:
        """Wait for the step before (raising its error), then start this one."""

    def wait(self) -> None:
        """Wait for the last step, raising its error."""


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
    max_attempts: int


@dataclass(frozen=True)
class Tools:
    """Everything that a worker works with."""

    ledger: Ledger
    batches: BatchLedger
    leases: Leases
    originals: Originals
    parsers: Parsers
    embedder: Embedder
    vectors: VectorStore
    bell: Doorbell
    evaluation: EvaluationTools
    calibration: CalibrationTools
    one_behind: Callable[[], AbstractContextManager[Background]]
    clock: Callable[[], float]
    """Seconds that only go forward."""
    rules: Rules
    time_up: type[Exception]
    """What the queue raises in the middle of the work when its time is over; never caught as a failure."""
