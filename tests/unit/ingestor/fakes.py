"""Fakes of the ingestor's ports: one catalog in memory, and outside things that fail when told to."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from services.ingestor.domain.documents import Extracted, Incoming, Prepared, VectorItem
from services.ingestor.flow.work import Worker
from services.ingestor.ports import (
    BatchStep,
    ClaimedJob,
    EmbeddingStopped,
    KeepGoing,
    LeaseLost,
    Outcome,
    ProgressNote,
    Published,
    Rules,
    Submission,
    Superseded,
    Tools,
)
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId, version_id
from services.shared.contracts.jobs import JobItem, JobKind, JobState, Queue

SPACE = SpaceId("main")


class TimeUp(Exception):
    """What the queue raises when a task's time is over."""


def incoming(document_id: str, sha256: str = "00", **described: Any) -> Incoming:
    """A Markdown document as its sender described it."""
    values: dict[str, Any] = {
        "document_id": DocumentId(document_id),
        "blob_sha256": sha256,
        "filename": f"{document_id}.md",
        "media_type": "text/markdown",
        "size_bytes": 1,
        "title": None,
        "type": None,
        "tags": None,
        "source": None,
        "metadata": {},
        "origin": None,
    }
    return Incoming(**(values | described))


def version_of(one: Incoming) -> VersionId:
    return version_id(one.document_id, one.blob_sha256, {"title": one.title})


@dataclass
class _Document:
    last: int = 0
    live: Prepared | None = None
    live_revision: int = 0
    deleted: int = 0


@dataclass
class FakeCatalog:
    """Jobs, documents and lines in dictionaries; ``stolen`` jobs belong to another worker."""

    jobs: dict[JobId, ClaimedJob] = field(default_factory=dict)
    states: dict[JobId, JobState] = field(default_factory=dict)
    reasons: dict[JobId, str | None] = field(default_factory=dict)
    results: dict[JobId, dict[str, Any]] = field(default_factory=dict)
    warnings: dict[JobId, str | None] = field(default_factory=dict)
    documents: dict[tuple[SpaceId, DocumentId], _Document] = field(default_factory=dict)
    items: dict[JobId, dict[int, JobItem]] = field(default_factory=dict)
    notes: list[ProgressNote] = field(default_factory=list)
    stolen: set[JobId] = field(default_factory=set)
    publish_error: RagstoneError | None = None

    def send(self, blobs: "FakeOriginals", document_id: str, text: str, **described: Any) -> JobId:
        """Submit a document and queue its job."""
        sha = blobs.put(text.encode())
        one = incoming(document_id, sha, **described)
        revision = self._next(SPACE, one.document_id)
        return self._queue(JobKind.DOCUMENT, revision, one, {})

    def send_batch(self, blobs: "FakeOriginals", body: str) -> JobId:
        return self._queue(JobKind.BATCH, None, None, {"blob_sha256": blobs.put(body.encode())})

    def send_cleanup(self, versions: Sequence[str]) -> JobId:
        return self._queue(JobKind.CLEANUP, None, None, {"version_ids": list(versions)})

    def retry(self, job_id: JobId) -> None:
        self.states[job_id] = JobState.QUEUED

    def delete(self, document_id: str) -> None:
        document = self.documents[SPACE, DocumentId(document_id)]
        document.last += 1
        document.deleted, document.live = document.last, None

    def live(self, document_id: str) -> Prepared | None:
        return self.documents.get((SPACE, DocumentId(document_id)), _Document()).live

    def claim(self, job_id: JobId, also: int) -> list[ClaimedJob]:
        waiting = [key for key, state in self.states.items() if state == JobState.QUEUED]
        named = [key for key in waiting if key == job_id]
        if named and self.jobs[job_id].kind != JobKind.DOCUMENT:
            also = 0
        others = [key for key in waiting if key != job_id and self.jobs[key].kind == JobKind.DOCUMENT]
        taken = named + others[:also]
        for key in taken:
            self.states[key] = JobState.RUNNING
            self.jobs[key] = replace(self.jobs[key], attempts=self.jobs[key].attempts + 1)
        return [self.jobs[key] for key in taken]

    def progress(self, notes: Sequence[ProgressNote]) -> None:
        self.notes += notes

    def publish(self, job: ClaimedJob, prepared: Prepared) -> Outcome:
        if self.publish_error is not None:
            raise self.publish_error
        if job.id in self.stolen:
            raise LeaseLost
        outcome = self._make_live(job.space, prepared, job.revision or 0)
        if isinstance(outcome, Published):
            self.succeed(job, {"version": prepared.version_id, "chunks": len(prepared.chunks)}, prepared.warning)
        return outcome

    def succeed(self, job: ClaimedJob, result: dict[str, Any], warning: str | None) -> bool:
        self.results[job.id], self.warnings[job.id] = result, warning
        return self._end(job, JobState.SUCCEEDED, None)

    def fail(self, job: ClaimedJob, reason: str) -> bool:
        return self._end(job, JobState.FAILED, reason)

    def cancelled(self, job: ClaimedJob, reason: str) -> bool:
        return self._end(job, JobState.CANCELLED, reason)

    def drop(self, job: ClaimedJob) -> None:
        self._end(job, JobState.CANCELLED, "cancelled on request")

    def release(self, jobs: Sequence[ClaimedJob]) -> None:
        for job in jobs:
            self.states[job.id] = JobState.QUEUED
            self.jobs[job.id] = replace(job, attempts=job.attempts - 1)

    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        live = {one.live.version_id for key, one in self.documents.items() if one.live and key[0] == space}
        return live & set(versions)

    def last_item(self, job: ClaimedJob) -> int:
        return max(self.items.get(job.id, {}), default=0)

    def submit(self, job: ClaimedJob, documents: Sequence[Incoming]) -> list[Submission]:
        sent = []
        for one in documents:
            live = self.live(one.document_id)
            unchanged = live is not None and live.version_id == version_of(one)
            revision = None if unchanged else self._next(job.space, one.document_id)
            sent.append(Submission(version_of(one), revision))
        return sent

    def record(self, job: ClaimedJob, steps: Sequence[BatchStep], total: int) -> list[VersionId]:
        if job.id in self.stolen:
            raise LeaseLost
        gone = []
        for step in steps:
            if step.prepared is not None:
                outcome = self._make_live(job.space, step.prepared, step.revision or 0)
                if isinstance(outcome, Published) and outcome.replaced:
                    gone.append(outcome.replaced)
            state = JobState.FAILED if step.reason else JobState.SUCCEEDED
            self.items.setdefault(job.id, {})[step.n] = JobItem(
                n=step.n, document_id=step.document_id, state=state, unchanged=step.unchanged, reason=step.reason
            )
        return gone

    def outcome(self, job: ClaimedJob) -> tuple[dict[str, int], JobItem | None]:
        items = list(self.items.get(job.id, {}).values())
        failed = [item for item in items if item.state == JobState.FAILED]
        counts = {
            "documents": len(items),
            "succeeded": len(items) - len(failed),
            "failed": len(failed),
            "unchanged": sum(item.unchanged for item in items),
        }
        return counts, failed[0] if failed else None

    def _queue(self, kind: JobKind, revision: int | None, one: Incoming | None, payload: dict[str, Any]) -> JobId:
        job_id = JobId(f"job-{len(self.jobs) + 1}")
        version = None if one is None else version_of(one)
        self.jobs[job_id] = ClaimedJob(job_id, SPACE, kind, Queue.INGEST, 0, "", revision, one, version, payload)
        self.states[job_id] = JobState.QUEUED
        return job_id

    def _next(self, space: SpaceId, document_id: DocumentId) -> int:
        document = self.documents.setdefault((space, document_id), _Document())
        document.last += 1
        return document.last

    def _make_live(self, space: SpaceId, prepared: Prepared, revision: int) -> Outcome:
        document = self.documents[space, prepared.incoming.document_id]
        if document.deleted > revision:
            return Superseded("deleted")
        if document.live is not None and document.live_revision > revision:
            return Superseded("newer")
        before = document.live
        document.live, document.live_revision = prepared, revision
        same = before is None or before.version_id == prepared.version_id
        return Published(None if same or before is None else before.version_id)

    def _end(self, job: ClaimedJob, state: JobState, reason: str | None) -> bool:
        if job.id in self.stolen or self.states[job.id] != JobState.RUNNING:
            return False
        self.states[job.id], self.reasons[job.id] = state, reason
        return True


class FakeOriginals:
    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        import hashlib

        sha = hashlib.sha256(data).hexdigest()
        self.blobs[sha] = data
        return sha

    def read(self, sha256: str) -> bytes:
        return self.blobs[sha256]

    def lines(self, sha256: str) -> Iterator[bytes]:
        yield from self.blobs[sha256].splitlines(keepends=True)

    def keep(self, data: bytes) -> None:
        self.put(data)


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

    def upsert(self, space: SpaceId, items: Sequence[VectorItem], vectors: Any) -> None:
        assert len(items) == len(vectors)
        assert len({item.chunk_id for item in items}) == len(items), "Chroma refuses an id twice in one call"
        if self.error is not None:
            raise self.error
        self.stored.update({(space, item.chunk_id): item for item in items})

    def delete_versions(self, space: SpaceId, versions: Sequence[VersionId]) -> None:
        self.stored = {key: item for key, item in self.stored.items() if item.version_id not in versions}

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
