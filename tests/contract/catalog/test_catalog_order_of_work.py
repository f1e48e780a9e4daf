"""What is said later stands; who holds a space waits for no job; what an outage put off comes back."""

import threading
from datetime import datetime

import pytest
from sqlalchemy import Connection, create_engine, text

from services.ingestor.adapters.batch_ledger import CatalogBatchLedger
from services.ingestor.adapters.catalog_records import claimed_of
from services.ingestor.ports.jobs import BatchStep
from services.shared.catalog import documents, jobs, spaces
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import DocumentId, JobId
from services.shared.contracts.jobs import JobKind, JobState, Queue
from tests.contract.catalog.building import NOW, OTHER, SPACE, draft, ingest, later, make_job, submit

JOB = JobId("job")


class _Silent:
    def changed(self, job_id: JobId) -> None:
        """Nobody watches."""


def _claimed(catalog: Catalog) -> jobs.JobRow:
    with catalog.write() as tx:
        return jobs.claim(tx, owner="w", queue=Queue.INGEST, lease_s=60, now=NOW, job_id=JOB)[0]


@pytest.mark.parametrize("what", ["sent", "unchanged", "deleted"])
def test_what_a_batch_said_earlier_is_superseded(catalog: Catalog, what: str) -> None:
    with catalog.write() as tx:
        sent = ingest(tx, content="live")
        if what == "deleted":
            documents.remove(tx, SPACE, DocumentId("doc"), later(20))
        else:
            again = sent if what == "unchanged" else draft(content="newer")
            assert documents.submit(tx, SPACE, again, later(20)).unchanged == (what == "unchanged")
        before = documents.get(tx, SPACE, DocumentId("doc"))
        early = documents.submit(tx, SPACE, draft(content="line"), later(30), said_at=later(10))
        assert (early.superseded, early.revision) == (True, None)
        assert documents.get(tx, SPACE, DocumentId("doc")) == before
        late = documents.submit(tx, SPACE, draft(content="line"), later(40), said_at=later(20))
        assert late.revision is not None


def test_a_sender_of_today_is_never_superseded_by_a_clock_that_goes_wrong(catalog: Catalog) -> None:
    with catalog.write() as tx:
        documents.submit(tx, SPACE, draft(content="one"), later(60))
        assert documents.submit(tx, SPACE, draft(content="two"), NOW).revision == 2


def test_a_job_that_is_asked_to_cancel_is_no_pending_job(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft()
        make_job(tx, sent=sent, revision=submit(tx, sent))
    _claimed(catalog)
    with catalog.write() as tx:
        jobs.request_cancel(tx, SPACE, JOB, NOW)
        assert submit(tx, sent) == 2


def test_the_record_of_a_batch_takes_the_space_before_the_job(catalog: Catalog, url: str) -> None:
    if not url.startswith("postgres"):
        pytest.skip("SQLite locks the whole file")
    with catalog.write() as tx:
        spaces.make_and_lock(tx, SPACE, NOW)
        make_job(tx, kind=JobKind.BATCH)
    job = claimed_of(_claimed(catalog))
    ledger = CatalogBatchLedger(catalog, _Silent(), "w", 60, _now)  # type: ignore[arg-type]
    record = threading.Thread(target=ledger.record, args=(job, [BatchStep(1, None, reason="bad")], 1, None))
    with catalog.write() as tx:
        spaces.lock(tx, SPACE)
        record.start()
        watcher = create_engine(tx.engine.url)
        with watcher.connect() as connection:
            _until_somebody_waits(connection)
            connection.execute(text("SELECT 1 FROM jobs WHERE id = 'job' FOR UPDATE NOWAIT"))
            connection.rollback()
        watcher.dispose()
    record.join(30)
    with catalog.read() as tx:
        assert jobs.last_item(tx, JOB) == 1


def test_a_retry_of_a_running_job_waits_for_no_space(catalog: Catalog, url: str) -> None:
    if not url.startswith("postgres"):
        pytest.skip("SQLite locks the whole file")
    with catalog.write() as tx:
        spaces.make_and_lock(tx, SPACE, NOW)
        make_job(tx, kind=JobKind.BATCH)
    _claimed(catalog)
    with catalog.write() as holder:
        spaces.lock(holder, SPACE)
        with catalog.write() as tx:
            tx.execute(text("SET LOCAL lock_timeout = '2s'"))
            with pytest.raises(RagstoneError, match="only a failed or cancelled job"):
                jobs.retry(tx, SPACE, JOB, NOW)


def test_a_job_that_is_put_off_waits_a_while_and_fails_at_the_last_attempt(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
    for attempt in (1, 2):
        _claimed(catalog)
        with catalog.write() as tx:
            assert jobs.put_off(tx, JOB, "w", reason="Chroma is away", max_attempts=2, now=later(attempt))
            assert not jobs.put_off(tx, JOB, "w", reason="not ours any more", max_attempts=2, now=NOW)
            row = jobs.find(tx, JOB)
            assert row is not None
            assert (row.attempts, row.reason, row.lease_owner) == (attempt, "Chroma is away", None)
            assert row.state == (JobState.QUEUED if attempt == 1 else JobState.FAILED)
            assert jobs.unrung(tx, older_than=later(attempt), limit=9) == []
            assert len(jobs.unrung(tx, older_than=later(attempt + 1), limit=9)) == (attempt == 1)


def test_a_job_that_is_put_off_is_taken_up_by_its_own_bell_only(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        make_job(tx, "other")
    _claimed(catalog)
    with catalog.write() as tx:
        jobs.put_off(tx, JOB, "w", reason="Chroma is away", max_attempts=3, now=NOW)
        taken = jobs.claim(tx, owner="w", queue=Queue.INGEST, lease_s=60, now=NOW, job_id=JobId("other"), also=9)
    assert [job.id for job in taken] == ["other"]


def test_a_cancelled_job_is_not_put_off(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
    _claimed(catalog)
    with catalog.write() as tx:
        jobs.request_cancel(tx, SPACE, JOB, NOW)
        jobs.put_off(tx, JOB, "w", reason="Chroma is away", max_attempts=3, now=NOW)
        row = jobs.find(tx, JOB)
    assert row is not None
    assert row.state == JobState.CANCELLED


def test_versions_under_way_are_those_that_a_waiting_job_or_a_batch_brings_in(catalog: Catalog) -> None:
    one, two = draft("one"), draft("two")
    wanted = [one.version_id, two.version_id]
    with catalog.write() as tx:
        make_job(tx, sent=one, revision=submit(tx, one))
        submit(tx, two)
        assert documents.under_way(tx, SPACE, wanted) == {one.version_id}
        assert documents.under_way(tx, OTHER, wanted) == set()
        make_job(tx, "batch", kind=JobKind.BATCH)
        assert documents.under_way(tx, SPACE, wanted) == set(wanted)
        jobs.request_cancel(tx, SPACE, JobId("batch"), NOW)
        jobs.request_cancel(tx, SPACE, JOB, NOW)
        assert documents.under_way(tx, SPACE, wanted) == set()


def _now() -> datetime:
    return NOW


def _until_somebody_waits(connection: Connection) -> None:
    pause = threading.Event()
    for _ in range(100):
        waiting = connection.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar_one()
        connection.rollback()
        if waiting:
            return
        pause.wait(0.05)
    raise AssertionError("the record waits for nothing")
