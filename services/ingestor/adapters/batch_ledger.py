"""The lines of a batch in the catalog."""

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Connection

from services.ingestor.adapters.catalog_records import check_serving, draft_of, publish_saved, save_and_publish
from services.ingestor.domain.documents import Incoming
from services.ingestor.domain.reasons import SUPERSEDED
from services.ingestor.ports.content import Target
from services.ingestor.ports.jobs import BatchStep, ClaimedJob, LeaseLost, Submission
from services.shared.catalog import documents, jobs, spaces
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import VersionId
from services.shared.contracts.jobs import JobItem, JobState
from services.shared.kit.events import JobEventSender

PAGE = 1000


class CatalogBatchLedger:
    """Groups of lines, each recorded in one transaction."""

    def __init__(
        self, catalog: Catalog, events: JobEventSender, owner: str, lease_s: float, now: Callable[[], datetime]
    ) -> None:
        self._catalog = catalog
        self._events = events
        self._owner = owner
        self._lease_s = lease_s
        self._now = now

    def last_item(self, job: ClaimedJob) -> int:
        with self._catalog.read() as tx:
            return jobs.last_item(tx, job.id)

    def submit(self, job: ClaimedJob, incoming: Sequence[Incoming]) -> list[Submission]:
        submissions = []
        with self._catalog.write() as tx:
            row = jobs.find(tx, job.id)
            # Also when it is read again after a break: its own earlier reading is no later word.
            said_at = None if row is None else row.created_at
            for one in incoming:
                sent = documents.submit(tx, job.space, draft_of(one), self._now(), said_at=said_at)
                revision = sent.revision
                if sent.pending_job is not None:
                    # A job of its own is about to bring in the very same version: whoever is first publishes it.
                    pending = jobs.find(tx, sent.pending_job)
                    revision = None if pending is None else pending.revision
                submissions.append(Submission(sent.version_id, revision, sent.superseded))
        return submissions

    def record(self, job: ClaimedJob, steps: Sequence[BatchStep], total: int, target: Target | None) -> list[VersionId]:
        items = []
        gone: list[VersionId] = []
        now = self._now()
        with self._catalog.write() as tx:
            # The space before the job, as everywhere: a retry of the job takes both as well.
            spaces.lock(tx, job.space)
            if target is not None:
                check_serving(tx, target)
            # A heartbeat inside the transaction: it is ours until the commit, or nothing of it happened.
            if job.id not in jobs.heartbeat(tx, [job.id], self._owner, self._lease_s, now):
                raise LeaseLost
            for step in steps:
                items.append(_published(tx, job, step, now, gone))
            jobs.add_items(tx, job.id, items)
            jobs.progress(tx, job.id, self._owner, stage="embed", done=steps[-1].n, total=total, now=now)
        self._events.changed(job.id)
        return gone

    def forget(self, job: ClaimedJob, n: int) -> None:
        with self._catalog.write() as tx:
            row = jobs.find(tx, job.id)
            if row is not None and row.lease_owner == self._owner:
                jobs.drop_item(tx, job.id, n)

    def outcome(self, job: ClaimedJob) -> tuple[dict[str, int], JobItem | None]:
        with self._catalog.read() as tx:
            counts = jobs.item_counts(tx, job.id)
            failures, _ = jobs.items(tx, job.id, limit=1, cursor=None, states=[JobState.FAILED])
            unchanged = 0
            cursor: str | None = None
            while True:
                page, cursor = jobs.items(tx, job.id, limit=PAGE, cursor=cursor, states=[JobState.SUCCEEDED])
                unchanged += sum(item.unchanged for item in page)
                if cursor is None:
                    break
        numbers = {
            "documents": sum(counts.values()),
            "succeeded": counts[JobState.SUCCEEDED],
            "failed": counts[JobState.FAILED],
            "unchanged": unchanged,
        }
        return numbers, failures[0] if failures else None


def _published(tx: Connection, job: ClaimedJob, step: BatchStep, now: datetime, gone: list[VersionId]) -> JobItem:
    """The line's outcome, its document published where it has one; ``gone`` gets what does not answer any more."""
    reason = step.reason
    outcome: documents.Published | documents.Superseded | None = None
    version = step.staged
    if step.prepared is not None:
        version = step.prepared.version_id
        outcome = save_and_publish(tx, job.space, step.prepared, step.revision or 0, now)
    elif version is not None and step.document_id is not None:
        outcome = publish_saved(tx, job.space, step.document_id, version, step.revision or 0, now)
    if isinstance(outcome, documents.Superseded):
        reason = SUPERSEDED[outcome.by].format(name=step.document_id)
        gone += [] if version is None else [version]
    elif outcome is not None and outcome.replaced is not None:
        gone.append(outcome.replaced)
    state = JobState.SUCCEEDED if reason is None else JobState.FAILED
    if step.superseded or isinstance(outcome, documents.Superseded):
        state = JobState.CANCELLED
    return JobItem(n=step.n, document_id=step.document_id, state=state, unchanged=step.unchanged, reason=reason)
