"""A worker that builds a second index over fakes, whose power may be cut at any call."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from services.ingestor.domain.documents import VectorItem
from services.ingestor.ports.content import KeepGoing, Target
from services.ingestor.ports.reembedding import (
    ReembeddingTools,
)
from services.shared.contracts.ids import IndexId, JobId, VersionId
from services.shared.contracts.jobs import JobKind, JobState
from tests.unit.ingestor.fake_golden import FakeGoldenContent
from tests.unit.ingestor.fake_indexes import (
    SECOND,
    ContentCatalog,
    FakeContent,
    FakeGolden,
    FakeRankings,
    FakeSecondIndexes,
    Fuse,
    PowerCutError,
)
from tests.unit.ingestor.fakes import FakeEmbedder, FakeVectors, World


class CutVectors(FakeVectors):
    """Vectors of several indexes, under a fuse."""

    def __init__(self, fuse: Fuse) -> None:
        super().__init__()
        self._fuse = fuse

    def upsert(self, target: Target, items: Sequence[VectorItem], vectors: Any) -> None:
        with self._fuse.around():
            super().upsert(target, items, vectors)

    def count(self, target: Target) -> int:
        return len(self.indexes.get(target.index_id, {}))

    def delete_from(self, target: Target, versions: Sequence[VersionId]) -> None:
        with self._fuse.around():
            held = self.indexes.get(target.index_id, {})
            self.indexes[target.index_id] = {key: one for key, one in held.items() if one.version_id not in versions}

    def ids_of(self, index: str) -> set[str]:
        return {id for _, id in self.indexes.get(index, {})}


class CountingEmbedder(FakeEmbedder):
    """Takes its time, by the clock of the world, and remembers what it embedded."""

    def __init__(self, world: "IndexWorld") -> None:
        super().__init__()
        self._world = world
        self.texts: list[str] = []
        self.seconds = 0.1

    def embed(self, texts: Sequence[str], keep_going: KeepGoing) -> Any:
        with self._world.fuse.around():
            vectors = super().embed(texts, keep_going)
        self.texts += texts
        self._world.clock.now += self.seconds * len(texts)
        return vectors


class FakeSecondVectors:
    """The vectors of the second index."""

    def __init__(self, vectors: CutVectors, fuse: Fuse) -> None:
        self._vectors = vectors
        self._fuse = fuse
        self.dropped: list[IndexId] = []

    def count(self, target: Target) -> int:
        return self._vectors.count(target)

    def delete_versions(self, target: Target, versions: Sequence[VersionId]) -> None:
        self._vectors.delete_from(target, versions)

    def drop(self, index_id: IndexId) -> None:
        with self._fuse.around():
            self._vectors.indexes.pop(index_id, None)
            self.dropped.append(index_id)


class IndexWorld(World):
    """A worker that builds a second index."""

    catalog: ContentCatalog
    vectors: CutVectors

    def __init__(self, **rules: Any) -> None:
        super().__init__(**rules)
        self.fuse = Fuse()
        self.content = FakeContent()
        self.catalog = ContentCatalog()
        self.catalog.content, self.catalog.fuse = self.content, self.fuse
        self.vectors = CutVectors(self.fuse)
        self.embedder = self.model = CountingEmbedder(self)
        self.embedders._embedder = self.model
        self.records = FakeSecondIndexes(self.content, self.fuse, self.catalog.stolen)
        self.second_vectors = FakeSecondVectors(self.vectors, self.fuse)
        self.rankings = FakeRankings()
        self.golden = FakeGolden()
        self.questions = FakeGoldenContent([])
        self.tools = replace(
            self.tools,
            ledger=self.catalog,
            vectors=self.vectors,
            evaluation=replace(self.tools.evaluation, content=self.questions),
            reembedding=ReembeddingTools(self.records, self.second_vectors, self.rankings, self.golden),
        )
        self.worker = type(self.worker)(self.tools)

    def order(self, index_id: str = SECOND) -> JobId:
        return self.catalog.queue(JobKind.REEMBED, {"index_id": index_id})

    def build(self, job_id: JobId | None = None, most: int = 200) -> JobId:
        """Run the job, time slice after time slice, until it has ended."""
        job_id = job_id or self.order()
        for _ in range(most):
            self.worker.answer(job_id)
            if self.state(job_id).final:
                return job_id
        raise AssertionError(f"not over after {most} time slices")

    def dies(self, job_id: JobId) -> bool:
        """Run one time slice under the fuse; did it blow? Then the lease runs out and the job waits again."""
        try:
            self.worker.answer(job_id)
        except PowerCutError:
            self.catalog.states[job_id] = JobState.QUEUED
            self.worker = type(self.worker)(self.tools)
            return True
        return False


DOCUMENTS = 6


def world_of(documents: int = DOCUMENTS, chunks: int = 10, **rules: float) -> IndexWorld:
    world = IndexWorld(**rules)
    for n in range(documents):
        world.content.publish(f"d{n}", chunks)
    return world


def in_turn(*steps: Callable[[], object]) -> Callable[[], None]:
    """Each call does the next step, and later ones nothing."""
    left = iter(steps)

    def step() -> None:
        for one in left:
            one()
            break

    return step


def to_be_promoted() -> IndexWorld:
    world = world_of()
    world.records.index = replace(world.records.now, promotion="asked")
    world.model.after_batch = in_turn(lambda: world.content.publish("d0", 4), lambda: world.content.remove("d1"))
    return world
