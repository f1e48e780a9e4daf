"""Leases: no two workers hold a job, a lost one comes back, and every job ends."""

import threading
from functools import partial

import pytest
from sqlalchemy import Connection

from services.shared.catalog import jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import JobId
from services.shared.contracts.jobs import JobKind, JobState, Queue
from tests.contract.catalog.building import NOW, SPACE, at_once, draft, later, make_job

JOB = JobId("job")


def claim(
    tx: Connection, owner: str = "w", *, job_id: JobId | None = None, also: int = 0, kind: JobKind | None = None
) -> list[jobs.JobRow]:
    return jobs.claim(tx, owner=owner, queue=Queue.INGEST, lease_s=60, now=NOW, job_id=job_id, also=also, kind=kind)


def found(tx: Connection, id: str = "job") -> jobs.JobRow:
    job = jobs.find(tx, JobId(id))
    assert job is not None
    return job


def test_a_claimed_job_is_running_under_a_lease(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        (job,) = claim(tx, job_id=JOB)
        assert (job.state, job.attempts, job.lease_owner, job.lease_until) == (JobState.RUNNING, 1, "w", later(60))
        assert job == found(tx)
        assert claim(tx, "other", job_id=JOB) == []
        assert jobs.running_owners(tx) == {"w"}


def test_further_jobs_are_the_queue_s_oldest_documents(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for n in range(5):
            make_job(tx, f"doc-{n}", now=later(-n))
        make_job(tx, "question", queue=Queue.ASK, now=later(-100))
        make_job(tx, "batch", kind=JobKind.BATCH, now=later(-100))
        assert [job.id for job in claim(tx, job_id=JobId("doc-0"), also=2)] == ["doc-0", "doc-4", "doc-3"]
        assert [job.id for job in claim(tx, also=9)] == ["doc-2", "doc-1"]
        assert [job.id for job in claim(tx, also=9, kind=JobKind.BATCH)] == ["batch"]
        assert claim(tx, also=9) == []


def test_a_batch_is_taken_alone(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx, "batch", kind=JobKind.BATCH)
        make_job(tx, "doc")
        assert [job.id for job in claim(tx, job_id=JobId("batch"), also=5)] == ["batch"]


def test_one_that_made_way_goes_on_alone_and_after_the_fresh_ones(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx, "large", now=later(-100))
        claim(tx, job_id=JobId("large"))
        jobs.progress(tx, JobId("large"), "w", stage="embed", done=512, total=9000, now=NOW)
        jobs.release(tx, JobId("large"), "w", NOW)
        for n in range(3):
            make_job(tx, f"small-{n}", now=later(n))
        assert [job.id for job in claim(tx, job_id=JobId("small-0"), also=1)] == ["small-0", "small-1"]
        assert [job.id for job in claim(tx, job_id=JobId("large"), also=9)] == ["large"]
        assert [job.id for job in claim(tx, also=9)] == ["small-2"]


def test_workers_that_claim_together_never_share_a_job(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for n in range(60):
            make_job(tx, f"job-{n:02d}")

    def work(owner: str) -> list[JobId]:
        mine: list[JobId] = []
        while True:
            with catalog.write() as tx:
                taken = claim(tx, owner, also=3)
            if not taken:
                return mine
            mine += [job.id for job in taken]

    taken = at_once([partial(work, f"w{n}") for n in range(4)])
    everything = [id for mine in taken for id in mine]
    assert len(everything) == len(set(everything)) == 60
    with catalog.read() as tx:
        assert all(found(tx, id).lease_owner == f"w{n}" for n, mine in enumerate(taken) for id in mine)
        assert all(found(tx, id).attempts == 1 for id in everything)


def test_one_of_many_gets_the_named_job(catalog: Catalog) -> None:
    for n in range(10):
        with catalog.write() as tx:
            make_job(tx, f"job-{n}")

        def grab(owner: str, id: str = f"job-{n}") -> int:
            with catalog.write() as tx:
                return len(claim(tx, owner, job_id=JobId(id)))

        assert sum(at_once([partial(grab, f"w{k}") for k in range(4)])) == 1


def test_postgresql_workers_do_not_wait_for_each_other(catalog: Catalog, url: str) -> None:
    if url.startswith("sqlite"):
        pytest.skip("an SQLite file has one writer at a time anyway")
    with catalog.write() as tx:
        make_job(tx, "first")
        make_job(tx, "second", now=later(1))
    taken: list[str] = []

    def second_worker() -> None:
        with catalog.write() as tx:
            taken.extend(job.id for job in claim(tx, "w2", also=1))

    with catalog.write() as tx:
        assert [job.id for job in claim(tx, "w1", also=1)] == ["first"]
        other = threading.Thread(target=second_worker)
        other.start()
        other.join(timeout=20)
        assert taken == ["second"]


def test_a_heartbeat_renews_only_what_is_still_held(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for id in ("mine", "lost", "done"):
            make_job(tx, id)
            claim(tx, job_id=JobId(id))
        jobs.succeed(tx, JobId("done"), "w", result={}, warning=None, now=NOW)
        jobs.reap(tx, max_attempts=3, now=NOW, dead_owners=["nobody"])
        _steal(tx, "lost", "thief")
        asked = [JobId("mine"), JobId("lost"), JobId("done"), JobId("unknown")]
        assert jobs.heartbeat(tx, asked, "w", 60, later(30)) == {JobId("mine")}
        assert found(tx, "mine").lease_until == later(90)
        assert found(tx, "lost").lease_until == later(60)


def test_who_lost_the_lease_changes_nothing(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        claim(tx, job_id=JOB)
        _steal(tx, "job", "thief")
        before = found(tx)
        jobs.progress(tx, JOB, "w", stage="embed", done=1, total=2, now=later(1))
        assert not jobs.succeed(tx, JOB, "w", result={}, warning=None, now=NOW)
        assert not jobs.fail(tx, JOB, "w", reason="x", now=NOW)
        assert not jobs.cancelled(tx, JOB, "w", reason="x", now=NOW)
        assert not jobs.release(tx, JOB, "w", NOW)
        assert found(tx) == before
        assert jobs.succeed(tx, JOB, "thief", result={"chunks": 2}, warning="w", now=NOW)
        assert not jobs.fail(tx, JOB, "thief", reason="too late", now=NOW)
        ended = found(tx)
        assert (ended.state, ended.result, ended.warning, ended.lease_owner, ended.lease_until) == (
            JobState.SUCCEEDED,
            {"chunks": 2},
            "w",
            None,
            None,
        )


def test_progress_is_shown(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        claim(tx, job_id=JOB)
        jobs.progress(tx, JOB, "w", stage="embed", done=3, total=9, now=later(2))
        job = found(tx)
        assert (job.stage, job.done, job.total, job.updated_at) == ("embed", 3, 9, later(2))


def test_a_job_whose_lease_ran_out_is_taken_again(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        claim(tx, job_id=JOB)
        jobs.rung(tx, [JOB], NOW)
        assert jobs.reap(tx, max_attempts=3, now=later(59)) == ([], [], [])
        requeued, failed, _ = jobs.reap(tx, max_attempts=3, now=later(61))
        assert ([job.id for job in requeued], failed) == ([JOB], [])
        assert requeued[0] == found(tx)
        assert [job.id for job in jobs.unrung(tx, older_than=NOW, limit=5)] == [JOB]
        (again,) = claim(tx, "w2", job_id=JOB)
        assert again.attempts == 2


def test_a_dead_owner_s_jobs_do_not_wait_for_the_lease(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx, "a")
        make_job(tx, "b")
        claim(tx, "dead", job_id=JobId("a"))
        claim(tx, "alive", job_id=JobId("b"))
        requeued, _, _ = jobs.reap(tx, max_attempts=3, now=NOW, dead_owners={"dead"})
        assert [job.id for job in requeued] == ["a"]
        assert jobs.running_owners(tx) == {"alive"}


def test_a_job_that_kills_its_workers_is_given_up(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx, sent=draft("bomb.pdf"))
        for attempt in (1, 2):
            claim(tx, job_id=JOB)
            requeued, failed, _ = jobs.reap(tx, max_attempts=3, now=later(61))
            assert (len(requeued), failed) == (1, []), attempt
        claim(tx, job_id=JOB)
        requeued, failed, _ = jobs.reap(tx, max_attempts=3, now=later(61))
        assert requeued == []
        assert failed[0].reason == "bomb.pdf: given up after 3 attempts: the worker died or hung each time"
        assert failed[0] == found(tx)
        assert found(tx).state is JobState.FAILED
        assert jobs.retry(tx, SPACE, JOB, NOW).attempts == 0


def test_a_dead_worker_s_job_that_was_asked_to_cancel_is_cancelled(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        claim(tx, job_id=JOB)
        jobs.request_cancel(tx, SPACE, JOB, NOW)
        queued, failed, cancelled = jobs.reap(tx, max_attempts=3, now=later(61))
        assert (queued, failed) == ([], [])
        assert [job.state for job in cancelled] == [found(tx).state] == [JobState.CANCELLED]


def test_a_released_job_waits_again_and_the_attempt_does_not_count(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        for _ in range(5):
            claim(tx, job_id=JOB)
            assert jobs.release(tx, JOB, "w", NOW)
        job = found(tx)
        assert (job.state, job.attempts, job.lease_owner) == (JobState.QUEUED, 0, None)
        assert jobs.unrung(tx, older_than=NOW, limit=9) == [], "who releases it rings for it"
        assert [one.id for one in jobs.unrung(tx, older_than=later(1), limit=9)] == [JOB]
        claim(tx, job_id=JOB)
        jobs.request_cancel(tx, SPACE, JOB, NOW)
        assert jobs.release(tx, JOB, "w", NOW)
        assert found(tx).state is JobState.CANCELLED


def _steal(tx: Connection, id: str, thief: str) -> None:
    """Another worker holds the job now, after a reap that the first one did not notice."""
    jobs.release(tx, JobId(id), "w", NOW)
    assert len(claim(tx, thief, job_id=JobId(id))) == 1
