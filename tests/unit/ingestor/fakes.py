"""Fakes of the ingestor's other ports: outside things that fail when told to, and a worker among them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from services.ingestor.domain.documents import Extracted, Incoming, VectorItem
from services.ingestor.flow.work import Worker
from services.ingestor.ports.content import EmbedderIdentity, EmbeddingStopped, KeepGoing, Switched, TakesLong, Target
from services.ingestor.ports.tools import Rules, Tools
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, IndexId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import JobState, Queue
from tests.unit.ingestor.fake_calibration import FakeCalibration
from tests.unit.ingestor.fake_catalog import MAX_ATTEMPTS, SPACE, FakeCatalog
from tests.unit.ingestor.fake_evaluation import FakeRecords, FakeSystem, evaluation_tools
from tests.unit.ingestor.fake_originals import FakeOriginals
from tests.unit.ingestor.fake_traces import FakeTraces


class TimeUp(Exception):
    """What the queue raises when a task's time is over."""


class FakeParsers:
    """Takes bytes for Markdown; ``BROKEN`` in them is a file that cannot be read, ``SLOW`` one that takes long."""

    def parse(self, incoming: Incoming, data: bytes, within_s: float | None = None) -> Extracted:
        text = data.decode()
        if "SLOW" in text and within_s is not None:
            raise TakesLong
        if "BROKEN" in text:
            raise RagstoneError(ErrorCode.UNREADABLE_DOCUMENT, f"{incoming.name} cannot be read: it is broken")
        if "HANGS" in text:
            raise TimeUp
        return Extracted(text=text, markdown=True)


class FakeEmbedder:
    """Vectors of length one number; a model that fails at chosen calls or texts, in batches of two texts."""

    batch = 2

    def __init__(self) -> None:
        self.batches = 0
        self.fail_at_batch: int | None = None
        self.fail_on: str | None = None
        self.after_batch: Callable[[], None] | None = None

    def max_tokens(self) -> int:
        return 256

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def embed(self, texts: Sequence[str], keep_going: KeepGoing) -> Any:
        for start in range(0, len(texts), self.batch):
            part = texts[start : start + self.batch]
            self.batches += 1
            if self.batches == self.fail_at_batch or any(self.fail_on and self.fail_on in text for text in part):
                raise RagstoneError(ErrorCode.INTERNAL, "the embedding model failed (RuntimeError); retry the job")
            if self.after_batch:
                self.after_batch()
            if not keep_going(start + len(part)):
                raise EmbeddingStopped
        return [[float(len(text))] for text in texts]


def target_named(index: str, space: SpaceId = SPACE) -> Target:
    """An index with an embedder of its own."""
    return Target(space, IndexId(index), EmbedderIdentity(f"model of {index}", "0" * 64, 1, "", "", 256))


class FakeEmbedders:
    """One embedder, whatever index asks for it; ``asked`` says for which ones it was."""

    def __init__(self, embedder: FakeEmbedder) -> None:
        self._embedder = embedder
        self.asked: list[str] = []

    def of(self, target: Target) -> FakeEmbedder:
        self.asked.append(target.index_id)
        return self._embedder


class FakeVectors:
    """Vectors of several indexes, of which ``serving`` serves; a retired one takes none."""

    def __init__(self) -> None:
        self.indexes: dict[str, dict[tuple[SpaceId, str], VectorItem]] = {"one": {}}
        self.serving = "one"
        self.retired: set[str] = set()
        self.error: RagstoneError | None = None
        self.upserts = 0
        self.close_looks = 0

    @property
    def stored(self) -> dict[tuple[SpaceId, str], VectorItem]:
        """What the serving index holds."""
        return self.indexes.setdefault(self.serving, {})

    @stored.setter
    def stored(self, held: dict[tuple[SpaceId, str], VectorItem]) -> None:
        self.indexes[self.serving] = held

    def target(self, space: SpaceId) -> Target:
        return target_named(self.serving, space)

    def named(self, space: SpaceId, index_id: IndexId) -> Target | None:
        return None if index_id in self.retired else target_named(index_id, space)

    def upsert(self, target: Target, items: Sequence[VectorItem], vectors: Any) -> None:
        assert len(items) == len(vectors)
        assert len({item.chunk_id for item in items}) == len(items), "Chroma refuses an id twice in one call"
        if self.error is not None:
            raise self.error
        if target.index_id in self.retired:
            raise Switched
        self.upserts += 1
        held = self.indexes.setdefault(target.index_id, {})
        held.update({(target.space, item.chunk_id): item for item in items})

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        for name, held in self.indexes.items():
            self.indexes[name] = {key: item for key, item in held.items() if item.version_id not in versions}

    def present(self, target: Target, chunk_ids: Sequence[ChunkId]) -> set[ChunkId]:
        held = self.indexes.get(target.index_id, {})
        return {one for one in chunk_ids if (target.space, one) in held}

    def versions(self, space: SpaceId) -> set[VersionId]:
        return {item.version_id for (own, _), item in self.stored.items() if own == space}

    def ids(self, document_id: str) -> set[str]:
        return {item.chunk_id for item in self.stored.values() if item.document_id == document_id}


class FakeLease:
    def __init__(self) -> None:
        self.lost: set[JobId] = set()

    def keeps(self, job_id: JobId) -> bool:
        return job_id not in self.lost

    def take(self, job_ids: Sequence[JobId]) -> None:
        return

    @contextmanager
    def hold(self, job_ids: Sequence[JobId]) -> Iterator["FakeLease"]:
        yield self


class FakeBell:
    def __init__(self) -> None:
        self.rung: list[JobId] = []
        self.silent = False

    def ring(self, queue: Queue, job_id: JobId, request_id: str) -> bool:
        if not self.silent:
            self.rung.append(job_id)
        return not self.silent


class AtOnce:
    """Runs the step in the caller's own thread."""

    def run(self, step: Callable[[], None]) -> None:
        step()

    def wait(self) -> None:
        return


@contextmanager
def at_once() -> Iterator[AtOnce]:
    yield AtOnce()


class ReadWhenAsked:
    """Items are made when they are taken, ``at_once`` of them if there are so many."""

    def __init__(self, items: Iterator[Any], at_once: int, looks: Callable[[], bool]) -> None:
        self._items = items
        self._looks = looks
        self._at_once = at_once

    def ready(self, within_s: float) -> bool:
        return self._looks()

    def take(self) -> list[Any]:
        return list(islice(self._items, self._at_once))


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class World:
    """A worker with all its fakes."""

    def __init__(self, *, reads_at_once: int = 100, reembedding: Any = None, **rules: Any) -> None:
        self._reads_at_once = reads_at_once
        self.catalog = FakeCatalog()
        self.originals = FakeOriginals()
        self.embedder = FakeEmbedder()
        self.embedders = FakeEmbedders(self.embedder)
        self.vectors = FakeVectors()
        self.catalog.serving = lambda: self.vectors.serving
        self.lease = FakeLease()
        self.bell = FakeBell()
        self.clock = FakeClock()
        self.is_read: Callable[[], bool] = lambda: True
        """Is the document read that takes long? Asked again and again until it is."""
        sizes: dict[str, Any] = {
            "chunk_words": 150,
            "max_chunks": 1000,
            "max_document_bytes": 1_000_000,
            "group_jobs": 16,
            "group_documents": 64,
            "group_chunks": 512,
            "time_slice_s": 20.0,
            "time_limit_s": 600.0,
            "max_attempts": MAX_ATTEMPTS,
            "parse_first_s": 3.0,
        }
        self.traces = FakeTraces()
        self.tools = Tools(
            ledger=self.catalog,
            batches=self.catalog,
            leases=self.lease,
            originals=self.originals,
            parsers=FakeParsers(),
            slow_parsers=FakeParsers(),
            embedders=self.embedders,
            vectors=self.vectors,
            bell=self.bell,
            evaluation=evaluation_tools(FakeRecords(), FakeSystem()),
            calibration=FakeCalibration().tools(),
            reembedding=reembedding,
            traces=self.traces,
            one_behind=at_once,
            ahead=self._ahead,
            clock=self.clock,
            rules=Rules(**(sizes | rules)),
            time_up=TimeUp,
        )
        self.worker = Worker(self.tools)

    @contextmanager
    def _ahead(self, items: Iterator[Any], most: int) -> Iterator[ReadWhenAsked]:
        yield ReadWhenAsked(items, min(most, self._reads_at_once), lambda: self.is_read())

    def send(self, document_id: str, text: str, **described: Any) -> JobId:
        return self.catalog.send(self.originals, document_id, text, **described)

    def run(self, document_id: str, text: str) -> JobId:
        """Send one document and work on it."""
        job_id = self.send(document_id, text)
        self.worker.answer(job_id)
        return job_id

    def state(self, job_id: JobId) -> JobState:
        return self.catalog.states[job_id]
