"""A fake of what a calibration asks: documents of numbered facts, and a retriever that knows where each stands."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from services.ingestor.ports.calibration import CalibrationTools, Finder, Look, Shown
from services.ingestor.ports.jobs import ClaimedJob
from services.shared.contracts.calibration import Calibration
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, JobId, SpaceId
from services.shared.contracts.search import FusionName
from services.shared.evaluation.calibration.cases import Case, Seen
from services.shared.evaluation.calibration.questions import Source
from services.shared.evaluation.golden.material import Passage, SourceDocument

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_NUMBER = re.compile(r"word(\d+)")


def source(n: int) -> Source:
    """A document with one passage that a question of its owner asks about, and a second one without."""
    told = f"The keeper of word{n} lives near harbour{n} and counts lantern{n} every evening of the winter."
    bodies = (told, f"Unrelated remarks about nothing in particular, number {n}, follow at the very end.")
    passages = tuple(Passage(body, "", 0, len(body), "fact", 0) for body in bodies)
    asked = (f"What does the keeper of word{n} near harbour{n} count, lantern{n}?",)
    document = SourceDocument(DocumentId(f"d{n}.md"), f"Document {n}", None, asked, passages)
    return Source(document, (ChunkId(f"d{n}-0"), ChunkId(f"d{n}-1")))


class FakeFinder:
    """Finds the passage of a question, unless it is left out; then another one, farther away."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[ChunkId]]] = []
        self.index_id: IndexId | None = IndexId("i1")
        self.error: Exception | None = None
        self.after_look: Callable[[], None] = lambda: None
        self.twins: dict[int, ChunkId] = {}
        """Numbers of facts that another passage tells too, which nobody knows beforehand."""
        self.blind = False

    def look(self, space: SpaceId, question: str, without: Sequence[ChunkId], fusion: FusionName | None = None) -> Look:
        if fusion is not None:
            # The other way round: farther down.
            found = self._find(question, without)
            return replace(found, fusion=fusion, order=(ChunkId("other-0"), *found.order))
        self.after_look()
        if self.error is not None:
            raise self.error
        self.asked.append((question, list(without)))
        return self._find(question, without)

    def _find(self, question: str, without: Sequence[ChunkId]) -> Look:
        named = _NUMBER.search(question)
        n = int(named[1]) if named else -1
        twin = self.twins.get(n)
        told = f"The keeper of word{n} lives near harbour{n} and counts lantern{n} every evening of the winter."
        if n >= 0 and ChunkId(f"d{n}-0") not in without and not self.blind:
            return self._look(ChunkId(f"d{n}-0"), told, 0.2 + n / 1000, 0.9)
        if twin is not None and twin not in without:
            return self._look(twin, told, 0.25, 0.8)
        # A few of what cannot be answered look as if they could.
        near = 0.22 if n % 40 == 3 else 0.6
        return self._look(ChunkId("other-0"), "Something else.", near + n / 1000, 0.3)

    def _look(self, chunk: ChunkId, text: str, distance: float, coverage: float) -> Look:
        return Look(
            index_id=self.index_id,
            seq=7,
            features={"distance": distance, "coverage": coverage},
            distance=distance,
            coverage=coverage,
            critics={chunk: 1 - distance},
            fusion="relative",
            order=(chunk,),
            passages=(Shown(chunk, text),),
        )


class FakeCalibration:
    """Content, records and retriever in one."""

    def __init__(self, documents: int = 80) -> None:
        self.documents = [source(n) for n in range(documents)]
        self.finder = FakeFinder()
        self.cases: dict[JobId, list[tuple[int, Case, Seen | None]]] = {}
        self.stored: list[Calibration] = []
        self.golden: set[str] = set()
        self.dead: set[ChunkId] = set()
        self.serving: IndexId | None = IndexId("i1")
        self.plans = 0

    def tools(self) -> CalibrationTools:
        return CalibrationTools(finder=self.opened, content=self, records=self, now=lambda: NOON)

    @contextmanager
    def opened(self) -> Iterator[Finder]:
        yield self.finder

    def sources(self, space: SpaceId, seed: int) -> Iterator[Source]:
        yield from self.documents

    def decided(self, space: SpaceId) -> set[str]:
        return self.golden

    def live(self, space: SpaceId, ids: Collection[ChunkId]) -> set[ChunkId]:
        return set(ids) - self.dead

    def index(self, space: SpaceId) -> IndexId | None:
        return self.serving

    def size(self, space: SpaceId) -> int:
        return 2 * len(self.documents)

    def plan(self, job: ClaimedJob, cases: Sequence[Case]) -> None:
        self.plans += 1
        self.cases[job.id] = [(n, case, None) for n, case in enumerate(cases)]

    def planned(self, job_id: JobId) -> list[tuple[int, Case, Seen | None]]:
        return list(self.cases.get(job_id, []))

    def note(self, job_id: JobId, n: int, seen: Seen) -> None:
        case = self.cases[job_id][n][1]
        self.cases[job_id][n] = n, case, seen

    def store(self, job: ClaimedJob, calibration: Calibration) -> bool:
        if calibration.index_id != self.serving:
            return False
        self.stored.append(calibration)
        return True

    def forget(self, job_id: JobId) -> None:
        self.cases.pop(job_id, None)
