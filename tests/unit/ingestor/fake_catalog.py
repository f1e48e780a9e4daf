"""A catalog in memory: jobs, documents and lines of batches."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from services.ingestor.domain.documents import Incoming, Prepared, StoredChunk
from services.ingestor.ports.content import Switched, Target
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
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import QUEUE_OF, JobItem, JobKind, JobState, Queue
from tests.unit.ingestor.fake_documents import incoming, version_of
from tests.unit.ingestor.fake_originals import FakeOriginals

SPACE = SpaceId("main")
MAX_ATTEMPTS = 3


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
    saved: dict[tuple[SpaceId, DocumentId, VersionId], Prepared] = field(default_factory=dict)
    serving: Callable[[], str] = lambda: "one"
    before_publishing: Callable[[], None] = lambda: None

    def send(self, blobs: FakeOriginals, document_id: str, text: str, **described: Any) -> JobId:
        """Submit a document and queue its job."""
        sha = blobs.put(text.encode())
        one = incoming(document_id, sha, **described)
        revision = self._next(SPACE, one.document_id)
        return self.queue(JobKind.DOCUMENT, {}, one, revision)

    def send_batch(self, blobs: FakeOriginals, body: str) -> JobId:
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

    def takes_long(self, job_id: JobId) -> bool:
        job = self.jobs[job_id]
        made_way = job.kind == JobKind.DOCUMENT and job.begun and not job.attempts
        return self.states[job_id] == JobState.QUEUED and (job.kind == JobKind.BATCH or made_way)

    def claim(self, job_id: JobId, also: int) -> list[ClaimedJob]:
        job = self.jobs[job_id]
        if self.states[job_id] != JobState.QUEUED:
            return []
        if job.kind != JobKind.DOCUMENT or job.attempts or job.begun:
            also = 0
        return self._taken([job_id, *self._fresh(but=job_id)[:also]])

    def claim_fresh(self, most: int) -> list[ClaimedJob]:
        return self._taken(self._fresh()[:most])

    def _fresh(self, but: JobId | None = None) -> list[JobId]:
        return [
            key
            for key, job in self.jobs.items()
            if key != but
            and self.states[key] == JobState.QUEUED
            and job.kind == JobKind.DOCUMENT
            and not job.attempts
            and not job.begun
        ]

    def _taken(self, keys: Sequence[JobId]) -> list[ClaimedJob]:
        for key in keys:
            self.states[key] = JobState.RUNNING
            self.jobs[key] = replace(self.jobs[key], attempts=self.jobs[key].attempts + 1)
        return [self.jobs[key] for key in keys]

    def progress(self, notes: Sequence[ProgressNote]) -> None:
        self.notes += notes
        for note in notes:
            self.jobs[note.job_id] = replace(self.jobs[note.job_id], begun=True)

    def publish(self, job: ClaimedJob, prepared: Prepared, target: Target) -> Outcome:
        self.before_publishing()
        self._check_serving(target)
        if self.publish_error is not None:
            raise self.publish_error
        if job.id in self.stolen:
            raise LeaseLost
        outcome = self._make_live(job.space, prepared, job.revision or 0)
        if isinstance(outcome, Published):
            self.succeed(job, {"version": prepared.version_id, "chunks": len(prepared.chunks)}, prepared.warning)
        return outcome

    def stage(self, space: SpaceId, prepared: Prepared, revision: int) -> None:
        self.saved[space, prepared.incoming.document_id, prepared.version_id] = prepared

    def staged(self, space: SpaceId, document_id: DocumentId, version: VersionId) -> list[StoredChunk]:
        return _stored(self.saved.get((space, document_id, version)))

    def publish_staged(self, job: ClaimedJob, target: Target) -> Outcome:
        assert job.incoming is not None
        key = (job.space, job.incoming.document_id, VersionId(job.version_id or ""))
        outcome = self.publish(job, self.saved[key], target)
        del self.saved[key]
        return outcome

    def discard(self, space: SpaceId, document_id: DocumentId, version: VersionId) -> None:
        self.saved.pop((space, document_id, version), None)

    def _check_serving(self, target: Target) -> None:
        if target.index_id != self.serving():
            raise Switched

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

    def drop(self, job: ClaimedJob) -> bool:
        return self._end(job, JobState.CANCELLED, "cancelled on request")

    def release(self, jobs: Sequence[ClaimedJob]) -> None:
        for job in jobs:
            self.states[job.id] = JobState.QUEUED
            self.jobs[job.id] = replace(self.jobs[job.id], attempts=job.attempts - 1)

    def put_behind(self, job: ClaimedJob) -> None:
        self.release([job])
        self.jobs[job.id] = replace(self.jobs[job.id], begun=True, slow=True)

    def documents_wait(self) -> bool:
        return any(self.states[id] is JobState.QUEUED and job.queue is Queue.INGEST for id, job in self.jobs.items())

    def fresh_waits(self) -> bool:
        return bool(self._fresh())

    def anything_waits(self) -> bool:
        return JobState.QUEUED in self.states.values()

    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        live = {one.live.version_id for key, one in self.documents.items() if one.live and key[0] == space}
        return live & set(versions)

    def needed_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        active = (JobState.QUEUED, JobState.RUNNING)
        coming = {job.version_id for job in self.jobs.values() if self.states[job.id] in active and job.version_id}
        return self.live_versions(space, versions) | (coming & set(versions))

    def live_chunks(self, space: SpaceId, version: VersionId) -> list[StoredChunk]:
        live = (one.live for (own, _), one in self.documents.items() if own == space)
        return _stored(next((one for one in live if one and one.version_id == version), None))

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

    def record(self, job: ClaimedJob, steps: Sequence[BatchStep], total: int, target: Target | None) -> list[VersionId]:
        self.before_publishing()
        if target is not None:
            self._check_serving(target)
        if job.id in self.stolen:
            raise LeaseLost
        gone = []
        for step in steps:
            prepared = step.prepared
            if step.staged is not None and step.document_id is not None:
                prepared = self.saved.pop((job.space, step.document_id, step.staged))
            if prepared is not None:
                assert target is not None
                outcome = self._make_live(job.space, prepared, step.revision or 0)
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
        items = [*self.items.get(job.id, {}).values()]
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


def _stored(prepared: Prepared | None) -> list[StoredChunk]:
    pairs = zip(prepared.vector_items, prepared.chunks, strict=True) if prepared else ()
    return [StoredChunk(item, chunk.search_text) for item, chunk in pairs]
