"""The catalog as the reconciler sees it."""

import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta

from services.ingestor.adapters.catalog_records import claimed_of
from services.ingestor.adapters.ledger import live_versions
from services.ingestor.adapters.owner import dead
from services.ingestor.ports.housekeeping import AtWork
from services.shared.catalog import calibrations, chunks, documents, indexes, jobs, spaces
from services.shared.catalog.blobs import Blobs
from services.shared.catalog.engine import Catalog
from services.shared.catalog.jobs import JobRow
from services.shared.contracts.calibration import CalibrationRequest
from services.shared.contracts.ids import JobId, SpaceId, VersionId
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState, Queue
from services.shared.kit.events import JobEventSender
from services.shared.kit.logs import get_logger

log = get_logger(__name__)

RINGS_AT_ONCE = 100
"""Each look rings for the oldest few: a long queue is served by the workers' own hunger for more jobs."""

PAGE = 500

MEND_REST = timedelta(minutes=10)
"""After a mending failed or was cancelled: what stopped it would most likely stop the next one as well."""


class CatalogHousekeeping:
    """Repairs of jobs and left-overs."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: Blobs,
        events: JobEventSender,
        now: Callable[[], datetime],
        *,
        max_attempts: int,
        ring_after_s: float,
        stale_after_s: float,
        blob_grace_s: float,
        keep_jobs_days: float,
        calibrate_again_share: float,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._events = events
        self._now = now
        self._max_attempts = max_attempts
        self._ring_after = timedelta(seconds=ring_after_s)
        self._stale_after = timedelta(seconds=stale_after_s)
        self._blob_grace_s = blob_grace_s
        self._keep_jobs = timedelta(days=keep_jobs_days)
        self._calibrate_again_share = calibrate_again_share

    def reap(self) -> None:
        with self._catalog.read() as tx:
            owners = jobs.running_owners(tx)
        if not owners:
            return
        with self._catalog.write() as tx:
            requeued, failed = jobs.reap(tx, max_attempts=self._max_attempts, now=self._now(), dead_owners=dead(owners))
        for job in (*requeued, *failed):
            log.warning("job_taken_back", job_id=job.id, state=job.state, attempts=job.attempts)
            self._events.changed(job.id)

    def unrung(self) -> list[tuple[Queue, JobId, str]]:
        with self._catalog.read() as tx:
            waiting = jobs.unrung(tx, older_than=self._now() - self._ring_after, limit=RINGS_AT_ONCE)
        return [(job.queue, job.id, job.request_id) for job in waiting]

    def rung(self, job_ids: Sequence[JobId]) -> None:
        with self._catalog.write() as tx:
            jobs.rung(tx, job_ids, self._now())

    def spaces(self) -> list[SpaceId]:
        with self._catalog.read() as tx:
            return [index.space_id for index in indexes.all_serving(tx)]

    def live_versions(self, space: SpaceId, versions: Collection[VersionId]) -> set[VersionId]:
        return live_versions(self._catalog, space, versions)

    def live_count(self, space: SpaceId) -> int:
        with self._catalog.read() as tx:
            return chunks.counts(tx, space)[1]

    def live_sizes(self, space: SpaceId) -> dict[VersionId, int]:
        with self._catalog.read() as tx:
            return chunks.live_sizes(tx, space)

    def at_work(self, space: SpaceId) -> AtWork:
        versions: set[VersionId] = set()
        batch = False
        cursor: str | None = None
        with self._catalog.read() as tx:
            while True:
                page, cursor = jobs.list_jobs(
                    tx, space, states=[JobState.QUEUED, JobState.RUNNING], limit=PAGE, cursor=cursor
                )
                for row in page:
                    batch = batch or row.kind == JobKind.BATCH
                    versions.update(_named_versions(row))
                if cursor is None:
                    return AtWork(versions, batch)

    def begin_mending(self, space: SpaceId, versions: Sequence[VersionId]) -> tuple[Queue, JobId, str] | None:
        now = self._now()
        with self._catalog.write() as tx:
            # Two reconcilers at once: the second one waits here, and sees the first one's job.
            spaces.lock(tx, space)
            recent = jobs.of_kind(tx, space, JobKind.MEND, since=now - MEND_REST)
            if any(job.state is not JobState.SUCCEEDED for job in recent):
                return None
            job = jobs.create(
                tx,
                id=JobId(uuid.uuid4().hex),
                space=space,
                kind=JobKind.MEND,
                queue=QUEUE_OF[JobKind.MEND],
                document_id=None,
                revision=None,
                payload={"version_ids": list(versions)},
                request_id=uuid.uuid4().hex,
                now=now,
                total=len(versions),
            )
        log.warning("vectors_lost", space=space, versions=len(versions), job_id=job.id)
        self._events.changed(job.id)
        return job.queue, job.id, job.request_id

    def begin_calibrating(self, space: SpaceId) -> tuple[Queue, JobId, str] | None:
        share = self._calibrate_again_share
        with self._catalog.read() as tx:
            if calibrations.due(tx, space, share) is None:
                return None
        at_work = self.at_work(space)
        if at_work.versions or at_work.batch:
            return None
        with self._catalog.write() as tx:
            # Two reconcilers at once: the second one waits here, and sees the first one's job.
            spaces.lock(tx, space)
            before = calibrations.due(tx, space, share)
            if before is None:
                return None
            request = CalibrationRequest(risk=before.risk)
            id, request_id = JobId(uuid.uuid4().hex), uuid.uuid4().hex
            job = calibrations.order(tx, space, request, id=id, request_id=request_id, now=self._now())
        log.info("calibration_outdated", space=space, job_id=job.id)
        self._events.changed(job.id)
        return job.queue, job.id, job.request_id

    def discard_stale(self) -> None:
        with self._catalog.write() as tx:
            number = documents.discard_stale(tx, older_than=self._now() - self._stale_after)
        if number:
            log.info("staged_versions_discarded", versions=number)

    def sweep_blobs(self) -> None:
        removed = self._blobs.sweep(self._blob_in_use, self._blob_grace_s)
        if removed:
            log.info("originals_swept", files=removed)

    def prune(self) -> None:
        now = self._now()
        with self._catalog.write() as tx:
            number = jobs.prune(tx, older_than=now - self._keep_jobs, now=now)
        if number:
            log.info("jobs_forgotten", jobs=number)

    def _blob_in_use(self, sha256: str) -> bool:
        with self._catalog.read() as tx:
            return documents.blob_in_use(tx, sha256)


def _named_versions(row: JobRow) -> Iterable[VersionId]:
    """The versions that a job brings in or mends. Those of a clean-up are on their way out."""
    if row.kind == JobKind.MEND:
        return [VersionId(str(version)) for version in row.payload.get("version_ids", [])]
    version = claimed_of(row).version_id
    return [] if version is None else [version]
