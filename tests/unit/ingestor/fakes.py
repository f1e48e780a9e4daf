"""Fakes of the ingestor's other ports: outside things that fail when told to, and a worker among them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from services.ingestor.domain.documents import Extracted, Incoming, VectorItem
from services.ingestor.flow.work import Worker
from services.ingestor.ports.content import EmbeddingStopped, KeepGoing
from services.ingestor.ports.housekeeping import AtWork
from services.ingestor.ports.tools import Rules, Tools
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import JobState, Queue
from tests.unit.ingestor.fake_calibration import FakeCalibration
from tests.unit.ingestor.fake_catalog import MAX_ATTEMPTS, SPACE, FakeCatalog, FakeOriginals
from tests.unit.ingestor.fake_evaluation import FakeRecords, FakeSystem, evaluation_tools


class TimeUp(Exception):
    """What the queue raises when a task's time is over."""


class FakeParsers:
    """Takes bytes for Markdown; ``BROKEN`` in them is a file that cannot be read."""

    def parse(self, incoming: Incoming, data: bytes) -> Extracted:
        text = data.decode()
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


class FakeVectors:
    def __init__(self) -> None:
        self.stored: dict[tuple[SpaceId, str], VectorItem] = {}
        self.error: RagstoneError | None = None
        self.close_looks = 0

    def upsert(self, space: SpaceId, items: Sequence[VectorItem], vectors: Any) -> None:
        assert len(items) == len(vectors)
        assert len({item.chunk_id for item in items}) == len(items), "Chroma refuses an id twice in one call"
        if self.error is not None:
            raise self.error
        self.stored.update({(space, item.chunk_id): item for item in items})

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        self.stored = {key: item for key, item in self.stored.items() if item.version_id not in versions}

    def present(self, space: SpaceId, chunk_ids: Sequence[ChunkId]) -> set[ChunkId]:
        return {one for one in chunk_ids if (space, one) in self.stored}

    def count(self, space: SpaceId) -> int:
        return sum(own == space for own, _ in self.stored)

    def sizes(self, space: SpaceId) -> dict[VersionId, int]:
        self.close_looks += 1
        return Counter(item.version_id for (own, _), item in self.stored.items() if own == space)

    def versions(self, space: SpaceId) -> set[VersionId]:
        return {item.version_id for (own, _), item in self.stored.items() if own == space}

    def ids(self, document_id: str) -> set[str]:
        return {item.chunk_id for item in self.stored.values() if item.document_id == document_id}


class FakeLease:
    def __init__(self) -> None:
        self.lost: set[JobId] = set()

    def keeps(self, job_id: JobId) -> bool:
        return job_id not in self.lost

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


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class FakeHousekeeping:
    """What the reconciler sees of the catalog; ``live`` says how many chunks each live version has."""

    def __init__(self) -> None:
        self.waiting = [JobId("a"), JobId("b")]
        self.noted: list[JobId] = []
        self.live: dict[VersionId, int] = {}
        self.working: set[VersionId] = set()
        self.batch = False
        self.busy = False
        self.outdated = False
        self.mended: list[list[VersionId]] = []
        self.done: list[str] = []

    def reap(self) -> None:
        self.done.append("reap")

    def unrung(self) -> list[tuple[Queue, JobId, str]]:
        return [(Queue.INGEST, job, "") for job in self.waiting]

    def rung(self, job_ids: Sequence[JobId]) -> None:
        self.noted += job_ids

    def spaces(self) -> list[SpaceId]:
        return [SPACE]

    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        return set(self.live) & set(versions)

    def live_count(self, space: SpaceId) -> int:
        return sum(self.live.values())

    def live_sizes(self, space: SpaceId) -> dict[VersionId, int]:
        return dict(self.live)

    def at_work(self, space: SpaceId) -> AtWork:
        return AtWork(self.working, self.batch)

    def begin_mending(self, space: SpaceId, versions: Sequence[VersionId]) -> tuple[Queue, JobId, str] | None:
        if self.busy:
            return None
        self.mended.append(list(versions))
        return Queue.INDEX, JobId(f"mend-{len(self.mended)}"), ""

    def begin_calibrating(self, space: SpaceId) -> tuple[Queue, JobId, str] | None:
        if not self.outdated:
            return None
        self.outdated = False
        return Queue.INDEX, JobId("calibrate-1"), ""

    def discard_stale(self) -> None:
        self.done.append("discard")

    def sweep_blobs(self) -> None:
        self.done.append("blobs")

    def prune(self) -> None:
        self.done.append("prune")


class World:
    """A worker with all its fakes."""

    def __init__(self, **rules: Any) -> None:
        self.catalog = FakeCatalog()
        self.originals = FakeOriginals()
        self.embedder = FakeEmbedder()
        self.vectors = FakeVectors()
        self.lease = FakeLease()
        self.bell = FakeBell()
        self.clock = FakeClock()
        sizes: dict[str, Any] = {
            "chunk_words": 150,
            "max_chunks": 1000,
            "max_document_bytes": 1_000_000,
            "group_jobs": 16,
            "group_documents": 64,
            "group_chunks": 512,
            "time_slice_s": 20.0,
            "max_attempts": MAX_ATTEMPTS,
        }
        self.tools = Tools(
            ledger=self.catalog,
            batches=self.catalog,
            leases=self.lease,
            originals=self.originals,
            parsers=FakeParsers(),
            embedder=self.embedder,
            vectors=self.vectors,
            bell=self.bell,
            evaluation=evaluation_tools(FakeRecords(), FakeSystem()),
            calibration=FakeCalibration().tools(),
            one_behind=at_once,
            clock=self.clock,
            rules=Rules(**(sizes | rules)),
            time_up=TimeUp,
        )
        self.worker = Worker(self.tools)

    def send(self, document_id: str, text: str, **described: Any) -> JobId:
        return self.catalog.send(self.originals, document_id, text, **described)

    def run(self, document_id: str, text: str) -> JobId:
        """Send one document and work on it."""
        job_id = self.send(document_id, text)
        self.worker.answer(job_id)
        return job_id

    def state(self, job_id: JobId) -> JobState:
        return self.catalog.states[job_id]
