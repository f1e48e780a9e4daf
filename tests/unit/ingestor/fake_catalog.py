"""A catalog in memory: jobs, documents and lines of batches, and the originals beside it."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from services.ingestor.domain.documents import Incoming, Prepared, StoredChunk
from services.ingestor.ports.jobs import (
    BatchStep,
    ClaimedJob,
    LeaseLost,
    Outcome,
    ProgressNote,
    Published,
    Submission,
    Superseded,
)
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId, version_id
from services.shared.contracts.jobs import QUEUE_OF, JobItem, JobKind, JobState, Queue

SPACE = SpaceId("main")
MAX_ATTEMPTS = 3


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
        return self.queue(JobKind.DOCUMENT, {}, one, revision)

    def send_batch(self, blobs: "FakeOriginals", body: str) -> JobId:
        return self.queue(JobKind.BATCH, {"blob_sha256": blobs.put(body.encode())})

    def send_cleanup(self, versions: Sequence[str]) -> JobId:
        return self.queue(JobKind.CLEANUP, {"version_ids": list(versions)})

    def send_mending(self, versions: Sequence[str]) -> JobId:
        return self.queue(JobKind.MEND, {"version_ids": list(versions)})

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

    def put_off(self, job: ClaimedJob, reason: str) -> bool:
        last = job.attempts >= MAX_ATTEMPTS
        return self._end(job, JobState.FAILED if last else JobState.QUEUED, reason)

    def cancelled(self, job: ClaimedJob, reason: str) -> bool:
        return self._end(job, JobState.CANCELLED, reason)

    def drop(self, job: ClaimedJob) -> None:
        self._end(job, JobState.CANCELLED, "cancelled on request")

    def release(self, jobs: Sequence[ClaimedJob]) -> None:
        for job in jobs:
            self.states[job.id] = JobState.QUEUED
            self.jobs[job.id] = replace(job, attempts=job.attempts - 1)

    def documents_wait(self) -> bool:
        return any(self.states[id] is JobState.QUEUED and job.queue is Queue.INGEST for id, job in self.jobs.items())

    def needed_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        active = (JobState.QUEUED, JobState.RUNNING)
        coming = {job.version_id for job in self.jobs.values() if self.states[job.id] in active and job.version_id}
        live = {one.live.version_id for key, one in self.documents.items() if one.live and key[0] == space}
        return (live | coming) & set(versions)

    def live_chunks(self, space: SpaceId, version: VersionId) -> list[StoredChunk]:
        live = [one.live for key, one in self.documents.items() if key[0] == space and one.live]
        of_version = [one for one in live if one.version_id == version]
        return [
            StoredChunk(item, chunk.search_text)
            for one in of_version
            for item, chunk in zip(one.vector_items, one.chunks, strict=True)
        ]

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

    def forget(self, job: ClaimedJob, n: int) -> None:
        self.items[job.id].pop(n, None)

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

    def queue(
        self, kind: JobKind, payload: dict[str, Any], one: Incoming | None = None, revision: int | None = None
    ) -> JobId:
        job_id = JobId(f"job-{len(self.jobs) + 1}")
        version = None if one is None else version_of(one)
        self.jobs[job_id] = ClaimedJob(job_id, SPACE, kind, QUEUE_OF[kind], 0, "", revision, one, version, payload)
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
        sha = hashlib.sha256(data).hexdigest()
        self.blobs[sha] = data
        return sha

    def read(self, sha256: str) -> bytes:
        return self.blobs[sha256]

    def lines(self, sha256: str) -> Iterator[bytes]:
        yield from self.blobs[sha256].splitlines(keepends=True)

    def keep(self, data: bytes) -> None:
        self.put(data)
