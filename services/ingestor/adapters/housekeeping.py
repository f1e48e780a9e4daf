"""The catalog as the reconciler sees it."""

import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from sqlalchemy import Connection

from services.ingestor.adapters.catalog_records import claimed_of
from services.ingestor.adapters.ledger import discard_of_ended, live_versions
from services.ingestor.ports.housekeeping import AtWork, LostOriginal, Ring, StoredIndex
from services.shared.catalog import calibrations, chunks, documents, gaps, indexes, jobs, shape, spaces
from services.shared.catalog.blob_store import BlobStore
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import IndexRow
from services.shared.catalog.jobs import JobRow
from services.shared.contracts.calibration import CalibrationRequest
from services.shared.contracts.ids import JobId, SpaceId, VersionId
from services.shared.contracts.indexes import IndexPhase
from services.shared.contracts.jobs import QUEUE_OF, JobKind, JobState, Queue
from services.shared.kit.events import JobEventSender
from services.shared.kit.logs import get_logger
from services.shared.kit.owner import dead

log = get_logger(__name__)

RINGS_AT_ONCE = 100
"""Each look rings for the oldest few: a long queue is served by the workers' own hunger for more jobs."""

PAGE = 500
LOOKS_AT_ONCE = 8

SETTLE_S = 10.0
"""So long it is waited for readers of the database's log; the next sweep tries again."""

MEND_REST = timedelta(minutes=10)
"""After a mending failed or was cancelled: what stopped it would most likely stop the next one as well."""


class CatalogHousekeeping:
    """Repairs of jobs and left-overs."""

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        events: JobEventSender,
        now: Callable[[], datetime],
        *,
        max_attempts: int,
        ring_after_s: float,
        stale_after_s: float,
        blob_grace_s: float,
        keep_jobs_days: float,
        keep_copies_days: float,
        answer_keep_s: float,
        gaps_keep_days: float,
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
        self._keep_copies_s = keep_copies_days * 86_400
        self._keep_answers = timedelta(seconds=answer_keep_s)
        self._keep_gaps = timedelta(days=gaps_keep_days)
        self._calibrate_again_share = calibrate_again_share

    def reap(self) -> int:
        with self._catalog.read() as tx:
            owners = jobs.running_owners(tx)
        if not owners:
            return 0
        with self._catalog.write() as tx:
            reaped = jobs.reap(tx, max_attempts=self._max_attempts, now=self._now(), dead_owners=dead(owners))
        for job in (*reaped.queued, *reaped.failed, *reaped.cancelled):
            log.warning("job_taken_back", job_id=job.id, state=job.state, attempts=job.attempts)
            self._events.changed(job.id)
        ingested = (JobKind.DOCUMENT, JobKind.BATCH)
        discard_of_ended(self._catalog, [job for job in reaped.cancelled if job.kind in ingested])
        discard_of_ended(self._catalog, [job for job in reaped.failed if job.kind is JobKind.DOCUMENT])
        return len(reaped.queued) + len(reaped.failed)

    def unrung(self) -> list[Ring]:
        since = self._now() - self._ring_after
        with self._catalog.read() as tx:
            # Each queue by itself: many questions that wait must not keep a document's lost bell from being rung.
            waiting = [
                job for queue in Queue for job in jobs.unrung(tx, queue=queue, older_than=since, limit=RINGS_AT_ONCE)
            ]
        return [(job.queue, job.id, job.request_id) for job in waiting]

    def rung(self, job_ids: Sequence[JobId]) -> None:
        with self._catalog.write() as tx:
            jobs.rung(tx, job_ids, self._now())

    def spaces(self) -> list[SpaceId]:
        with self._catalog.read() as tx:
            return [index.space_id for index in indexes.all_serving(tx)]

    def indexes(self) -> list[StoredIndex]:
        with self._catalog.read() as tx:
            return [
                StoredIndex(row.id, row.space_id, row.collection, level=_is_level(tx, row))
                for row in indexes.with_collection(tx)
            ]

    def retired(self) -> list[StoredIndex]:
        with self._catalog.read() as tx:
            return [StoredIndex(row.id, row.space_id, row.collection, level=False) for row in indexes.retired(tx)]

    def forget_index(self, index: StoredIndex) -> None:
        with self._catalog.write() as tx:
            indexes.forget(tx, index.id)
        log.info("index_removed", index=index.id, space=index.space)

    def begin_following(self) -> list[Ring]:
        with self._catalog.read() as tx:
            behind = indexes.lagging(tx, self._now())
        begun: list[Ring] = []
        for row in behind:
            with self._catalog.write() as tx:
                id, request_id = JobId(uuid.uuid4().hex), uuid.uuid4().hex
                job = indexes.begin_following(tx, row, id=id, request_id=request_id, now=self._now())
            if job is not None:
                begun.append((job.queue, job.id, job.request_id))
                self._events.changed(job.id)
        return begun

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

    def begin_mending(self, index: StoredIndex, versions: Sequence[VersionId], *, at_once: bool = False) -> Ring | None:
        now, space = self._now(), index.space
        with self._catalog.write() as tx:
            # Two reconcilers at once: the second one waits here, and sees the first one's job.
            spaces.lock(tx, space)
            recent = jobs.of_kind(tx, space, JobKind.MEND, since=now - MEND_REST)
            same = [job for job in recent if job.payload.get("index_id", index.id) == index.id]
            if any(not job.state.final or (not at_once and job.state is not JobState.SUCCEEDED) for job in same):
                return None
            job = jobs.create(
                tx,
                id=JobId(uuid.uuid4().hex),
                space=space,
                kind=JobKind.MEND,
                queue=QUEUE_OF[JobKind.MEND],
                document_id=None,
                revision=None,
                payload={"version_ids": list(versions), "index_id": index.id},
                request_id=uuid.uuid4().hex,
                now=now,
                total=len(versions),
            )
        log.warning("vectors_lost", space=space, versions=len(versions), job_id=job.id)
        self._events.changed(job.id)
        return job.queue, job.id, job.request_id

    def begin_calibrating(self, space: SpaceId) -> Ring | None:
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

    def discard_stale(self) -> int:
        with self._catalog.write() as tx:
            number = documents.discard_stale(tx, older_than=self._now() - self._stale_after)
        if number:
            log.info("staged_versions_discarded", versions=number)
        return number

    def sweep_blobs(self) -> int:
        removed = self._blobs.sweep(self._blob_in_use, self._blob_grace_s)
        if removed:
            log.info("originals_swept", files=removed)
        return removed

    def lost_originals(self, space: SpaceId) -> list[LostOriginal]:
        lost: list[LostOriginal] = []
        cursor: str | None = None
        while True:
            with self._catalog.read() as tx:
                page, cursor = documents.list_live(tx, space, limit=PAGE, cursor=cursor)
            # A bucket answers one at a time in milliseconds, and many at once in no more.
            with ThreadPoolExecutor(LOOKS_AT_ONCE) as pool:
                there = list(pool.map(self._blobs.holds, [one.sha256 for one in page]))
            lost += [LostOriginal(one.id, one.sha256) for one, held in zip(page, there, strict=True) if not held]
            if cursor is None:
                return lost

    def prune(self) -> None:
        now = self._now()
        with self._catalog.write() as tx:
            number = jobs.prune(tx, older_than=now - self._keep_jobs, now=now)
            number += jobs.prune(tx, older_than=now - self._keep_answers, now=now, kind=JobKind.ASK)
        # By itself: it takes the spaces, which come before all else.
        with self._catalog.write() as tx:
            asked = gaps.prune(tx, now - self._keep_gaps)
        if number:
            log.info("jobs_forgotten", jobs=number)
        if asked:
            log.info("questions_forgotten", wordings=asked)
        if self._catalog.file is not None:
            for copy in shape.forget_copies(self._catalog.file, self._keep_copies_s):
                log.info("copy_of_the_catalog_removed", file=copy.name)

    def settle(self) -> None:
        self._catalog.settle(SETTLE_S)

    def _blob_in_use(self, sha256: str) -> bool:
        with self._catalog.read() as tx:
            return documents.blob_in_use(tx, sha256)


def _is_level(tx: Connection, row: IndexRow) -> bool:
    """Does it hold all that is live? One that is built does not, whatever it has reached."""
    whole = indexes.stored(tx, row.id)
    return whole is not None and whole.state is not IndexPhase.BUILDING and indexes.lag(tx, whole) == 0


def _named_versions(row: JobRow) -> Iterable[VersionId]:
    """The versions that a job brings in or mends. Those of a clean-up are on their way out."""
    if row.kind == JobKind.MEND:
        return [VersionId(str(version)) for version in row.payload.get("version_ids", [])]
    version = claimed_of(row).version_id
    return [] if version is None else [version]
