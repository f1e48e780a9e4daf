"""The worker's jobs and documents in the catalog."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from services.ingestor.adapters.catalog_records import (
    check_serving,
    claimed_of,
    publish_saved,
    save,
    save_and_publish,
    staged_chunks,
    stored_chunk_of,
)
from services.ingestor.domain.documents import Prepared, StoredChunk
from services.ingestor.ports.content import Target
from services.ingestor.ports.jobs import (
    PARSE,
    ClaimedJob,
    LeaseLost,
    Outcome,
    ProgressNote,
    Published,
    Superseded,
)
from services.shared.catalog import chunks, documents, jobs, staging
from services.shared.catalog.engine import Catalog
from services.shared.catalog.jobs import JobRow
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId, chunk_id
from services.shared.contracts.jobs import JobKind, JobState, Queue
from services.shared.kit.events import JobEventSender
from services.shared.kit.logs import get_logger
from services.shared.kit.tracing import traced

log = get_logger(__name__)


class _Refused(Exception):
    """Rolls the publishing transaction back: the catalog says that something came first."""

    def __init__(self, superseded: documents.Superseded) -> None:
        self.superseded = superseded


class CatalogLedger:
    """Every change of a job goes to whoever watches it."""

    def __init__(
        self,
        catalog: Catalog,
        events: JobEventSender,
        owner: str,
        lease_s: float,
        now: Callable[[], datetime],
        max_attempts: int,
    ) -> None:
        self._catalog = catalog
        self._events = events
        self._owner = owner
        self._lease_s = lease_s
        self._now = now
        self._max_attempts = max_attempts

    def takes_long(self, job_id: JobId) -> bool:
        with self._catalog.read() as tx:
            named = jobs.find(tx, job_id)
        if named is None or named.state is not JobState.QUEUED:
            return False
        made_way = named.kind is JobKind.DOCUMENT and named.stage is not None and not named.attempts
        return made_way or named.kind is JobKind.BATCH

    def claim(self, job_id: JobId, also: int) -> list[ClaimedJob]:
        with self._catalog.read() as tx:
            named = jobs.find(tx, job_id)
        if named is None:
            log.warning("job_unknown", job_id=job_id)
            return []
        # Most bells ring for a job that was taken with another's group: they cost one look.
        return self._claimed(named.queue, job_id, also) if named.state is JobState.QUEUED else []

    def claim_fresh(self, most: int) -> list[ClaimedJob]:
        return self._claimed(Queue.INGEST, None, most)

    def _claimed(self, queue: Queue, job_id: JobId | None, also: int) -> list[ClaimedJob]:
        now, lease_s = self._now(), self._lease_s
        with self._catalog.write() as tx:
            rows = jobs.claim(tx, owner=self._owner, queue=queue, lease_s=lease_s, now=now, job_id=job_id, also=also)
        for row in rows:
            self._events.changed(row.id)
        return [claimed_of(row) for row in rows]

    def progress(self, notes: Sequence[ProgressNote]) -> None:
        try:
            with self._catalog.write() as tx:
                for note in notes:
                    jobs.progress(
                        tx,
                        note.job_id,
                        self._owner,
                        stage=note.stage,
                        done=note.done,
                        total=note.total,
                        now=self._now(),
                    )
        except RagstoneError as error:
            # Progress is for show; the work itself will say when the catalog stays away.
            log.warning("progress_not_noted", why=error.detail)
            return
        for note in notes:
            self._events.changed(note.job_id)

    @traced("publish")
    def publish(self, job: ClaimedJob, prepared: Prepared, target: Target) -> Outcome:
        result = {"version": prepared.version_id, "chunks": len(prepared.chunks), "unchanged": False}
        now = self._now()
        try:
            with self._catalog.write() as tx:
                check_serving(tx, target)
                outcome = save_and_publish(tx, job.space, prepared, job.revision or 0, now)
                if isinstance(outcome, documents.Superseded):
                    raise _Refused(outcome)
                self._end_well(tx, job, result, prepared.warning, now)
        except _Refused as refused:
            return Superseded(refused.superseded.by)
        return self._published(job, outcome)

    def stage(self, space: SpaceId, prepared: Prepared, revision: int) -> None:
        with self._catalog.write() as tx:
            save(tx, space, prepared, revision, self._now())

    def staged(self, space: SpaceId, document_id: DocumentId, version: VersionId) -> list[StoredChunk]:
        with self._catalog.read() as tx:
            return staged_chunks(tx, space, document_id, version)

    @traced("publish")
    def publish_staged(self, job: ClaimedJob, target: Target) -> Outcome:
        if job.incoming is None or job.version_id is None:
            raise RagstoneError(ErrorCode.VERSION_NOT_FOUND, f"job {job.id} names no document; send it again")
        document, version, now = job.incoming.document_id, job.version_id, self._now()
        with self._catalog.write() as tx:
            check_serving(tx, target)
            saved = staging.saved(tx, job.space, document, version)
            outcome = publish_saved(tx, job.space, document, version, job.revision or 0, now)
            if isinstance(outcome, documents.Superseded):
                return Superseded(outcome.by)
            result = {"version": version, "chunks": saved.chunks if saved else 0, "unchanged": False}
            self._end_well(tx, job, result, saved.warning if saved else None, now)
        return self._published(job, outcome)

    def discard(self, space: SpaceId, document_id: DocumentId, version: VersionId) -> None:
        with self._catalog.write() as tx:
            documents.discard_version(tx, space, document_id, version)

    def _end_well(
        self, tx: Connection, job: ClaimedJob, result: dict[str, Any], warning: str | None, now: datetime
    ) -> None:
        """The job's success in the transaction that publishes; raises LeaseLost, which rolls it back."""
        size = int(result["chunks"])
        jobs.progress(tx, job.id, self._owner, stage="publish", done=size, total=size, now=now)
        if not jobs.succeed(tx, job.id, self._owner, result=result, warning=warning, now=now):
            raise LeaseLost

    def _published(self, job: ClaimedJob, outcome: documents.Published) -> Published:
        log.info("document_published", job_id=job.id, **_subject(job))
        self._events.changed(job.id)
        return Published(outcome.replaced)

    def succeed(self, job: ClaimedJob, result: dict[str, Any], warning: str | None) -> bool:
        with self._catalog.write() as tx:
            done = jobs.succeed(tx, job.id, self._owner, result=result, warning=warning, now=self._now())
        log.info("job_succeeded", job_id=job.id, kind=job.kind, **result)
        return self._told(job, done)

    def fail(self, job: ClaimedJob, reason: str) -> bool:
        with self._catalog.write() as tx:
            done = jobs.fail(tx, job.id, self._owner, reason=reason, now=self._now())
        log.warning("job_failed", job_id=job.id, kind=job.kind, **_subject(job, reason))
        return self._told(job, done)

    def put_off(self, job: ClaimedJob, reason: str) -> bool:
        most = self._max_attempts
        with self._catalog.write() as tx:
            done = jobs.put_off(tx, job.id, self._owner, reason=reason, max_attempts=most, now=self._now())
        self._discard_of_ended([job])
        log.warning("job_put_off", job_id=job.id, kind=job.kind, attempts=job.attempts, **_subject(job, reason))
        return self._told(job, done)

    def cancelled(self, job: ClaimedJob, reason: str) -> bool:
        with self._catalog.write() as tx:
            done = jobs.cancelled(tx, job.id, self._owner, reason=reason, now=self._now())
        return self._told(job, done)

    def drop(self, job: ClaimedJob) -> bool:
        with self._catalog.write() as tx:
            row = jobs.find(tx, job.id)
            # Heartbeats that did not get through look the same from here, and are no cancellation.
            asked = row is not None and row.cancel_requested
            done = asked and jobs.cancelled(tx, job.id, self._owner, reason=None, now=self._now())
        self._discard_of_ended([job])
        return self._told(job, done)

    def release(self, held: Sequence[ClaimedJob]) -> None:
        with self._catalog.write() as tx:
            for job in held:
                jobs.release(tx, job.id, self._owner, self._now())
        self._discard_of_ended(held)
        for job in held:
            self._events.changed(job.id)

    def put_behind(self, job: ClaimedJob) -> None:
        with self._catalog.write() as tx:
            jobs.progress(tx, job.id, self._owner, stage=PARSE, done=0, total=None, now=self._now())
            jobs.release(tx, job.id, self._owner, self._now())
        log.info("document_put_behind", job_id=job.id, **_subject(job))
        self._events.changed(job.id)

    def documents_wait(self) -> bool:
        with self._catalog.read() as tx:
            return jobs.waits(tx, Queue.INGEST)

    def fresh_waits(self) -> bool:
        with self._catalog.read() as tx:
            return jobs.fresh_waits(tx)

    def anything_waits(self) -> bool:
        with self._catalog.read() as tx:
            return jobs.waits(tx, Queue.INGEST) or jobs.waits(tx, Queue.INDEX)

    def needed_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        # In this order: one that goes live between the looks is seen at the second.
        with self._catalog.read() as tx:
            coming = documents.under_way(tx, space, versions)
        return coming | live_versions(self._catalog, space, versions)

    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        return live_versions(self._catalog, space, versions)

    def live_chunks(self, space: SpaceId, version: VersionId) -> list[StoredChunk]:
        with self._catalog.read() as tx:
            return [stored_chunk_of(chunk) for chunk in chunks.chunks_of_version(tx, space, version)]

    def _discard_of_ended(self, held: Sequence[ClaimedJob]) -> None:
        """Those of the jobs that are over for good leave no staged text to the sweep."""
        begun = [job.id for job in held if job.kind in (JobKind.DOCUMENT, JobKind.BATCH)]
        if not begun:
            return
        with self._catalog.read() as tx:
            found = [jobs.find(tx, id) for id in begun]
        discard_of_ended(self._catalog, [row for row in found if row is not None and row.stage is not None])

    def _told(self, job: ClaimedJob, done: bool) -> bool:
        if done:
            self._events.changed(job.id)
        else:
            log.info("lease_lost", job_id=job.id)
        return done


def _subject(job: ClaimedJob, reason: str | None = None) -> dict[str, str]:
    """What a log may say of a job. A log outlives a document, so it names one by its id; the reason is on the job."""
    if job.incoming is not None:
        return {"document_id": job.incoming.document_id}
    return {} if reason is None else {"reason": reason}


def discard_of_ended(catalog: Catalog, rows: Collection[JobRow]) -> None:
    """Drop what is staged of those that failed or were cancelled. In a transaction of its own: a space comes before
    its jobs."""
    for row in rows:
        if row.state in (JobState.FAILED, JobState.CANCELLED):
            with catalog.write() as tx:
                documents.discard_idle(tx, row.space_id, row.document_id)


def live_versions(catalog: Catalog, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
    """Those of the versions that answer now, told by their first chunk passing the catalog's gate."""
    with catalog.read() as tx:
        found = chunks.live_chunks(tx, space, [chunk_id(version, 0) for version in versions])
    return {chunk.version_id for chunk in found.values()}
