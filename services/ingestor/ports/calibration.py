"""What calibrating needs from outside: the retriever itself, the live documents, and the catalog's record."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.ingestor.ports.jobs import ClaimedJob
from services.shared.contracts.calibration import Calibration
from services.shared.contracts.ids import ChunkId, IndexId, JobId, SpaceId
from services.shared.contracts.search import FusionName
from services.shared.evaluation.calibration.cases import Case, Seen
from services.shared.evaluation.calibration.questions import Source


@dataclass(frozen=True)
class Shown:
    """A passage that the retriever would show."""

    chunk_id: ChunkId
    text: str


@dataclass(frozen=True)
class Look:
    """What the retriever found, and the values by which it decides."""

    index_id: IndexId | None
    seq: int
    features: dict[str, float] | None
    """None when nothing was found."""
    distance: float | None
    coverage: float | None
    critics: dict[ChunkId, float]
    """Of every candidate that the critic judged, those too that it dropped."""
    fusion: FusionName | None
    """How the lists were made one order, and that order."""
    order: tuple[ChunkId, ...]
    passages: tuple[Shown, ...]


class Finder(Protocol):
    """The retriever, asked directly."""

    def look(self, space: SpaceId, question: str, without: Sequence[ChunkId], fusion: FusionName | None = None) -> Look:
        """As a visitor would be served, as if the chunks in ``without`` were not there; or with another fusion.

        Raises RagstoneError (retriever_unavailable, busy), also when a part of it was away.
        """


class CalibrationContent(Protocol):
    """The live documents. Raises RagstoneError (catalog_unavailable)."""

    def sources(self, space: SpaceId, seed: int) -> Iterator[Source]:
        """With their chunks, in an order that the seed decides; read one by one."""

    def decided(self, space: SpaceId) -> set[str]:
        """Ids of the golden questions that somebody has approved or rejected."""

    def live(self, space: SpaceId, ids: Collection[ChunkId]) -> set[ChunkId]:
        """Those of the chunks that answer now."""

    def index(self, space: SpaceId) -> IndexId | None:
        """The index that serves."""

    def size(self, space: SpaceId) -> int:
        """Live chunks."""


class CalibrationRecords(Protocol):
    """What a job asks and has seen, so that a break costs one question. Raises RagstoneError (catalog_unavailable)."""

    def plan(self, job: ClaimedJob, cases: Sequence[Case]) -> None: ...
    def planned(self, job_id: JobId) -> list[tuple[int, Case, Seen | None]]:
        """Number, question, and what was seen; nothing before it was planned."""

    def note(self, job_id: JobId, n: int, seen: Seen) -> None: ...
    def store(self, job: ClaimedJob, calibration: Calibration) -> bool:
        """Puts it in force; False when its index is gone."""

    def forget(self, job_id: JobId) -> None:
        """What was asked is not needed any more."""


@dataclass(frozen=True)
class CalibrationTools:
    """What calibrating works with, beside a worker's own tools."""

    finder: Callable[[], AbstractContextManager[Finder]]
    content: CalibrationContent
    records: CalibrationRecords
    now: Callable[[], datetime]
