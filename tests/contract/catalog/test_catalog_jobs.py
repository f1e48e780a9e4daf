"""Jobs: what is kept of them, and which steps a client may take in which state."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import Connection

from services.shared.catalog import documents, jobs
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId
from services.shared.contracts.jobs import JobItem, JobKind, JobState, Queue
from tests.contract.catalog.building import NOW, OTHER, SPACE, draft, ingest, later, make_job, submit

JOB = JobId("job")


def run(tx: Connection, id: str = "job", owner: str = "w") -> jobs.JobRow:
    (job,) = jobs.claim(tx, owner=owner, queue=Queue.INGEST, lease_s=60, now=NOW, job_id=JobId(id))
    return job


def test_a_job_comes_back_as_it_was_made(catalog: Catalog) -> None:
    sent = draft(metadata={"z": 1, "a": [True, None]})
    with catalog.write() as tx:
        made = make_job(tx, sent=sent, revision=submit(tx, sent))
    with catalog.read() as tx:
        assert jobs.get(tx, SPACE, JOB) == made
        assert jobs.find(tx, JOB) == made
        assert jobs.get(tx, OTHER, JOB) is None
        assert jobs.find(tx, JobId("unknown")) is None
    assert documents.Draft.from_payload(made.payload | {"later": 1}) == sent
    view = made.view()
    assert (view.state, view.kind, view.created_at, view.document_id) == ("queued", "document", NOW, "doc")


def test_a_job_may_be_born_finished(catalog: Catalog) -> None:
    with catalog.write() as tx:
        jobs.create(
            tx,
            id=JOB,
            space=SPACE,
            kind=JobKind.DOCUMENT,
            queue=Queue.INGEST,
            document_id=None,
            revision=None,
            payload={},
            request_id="",
            now=NOW,
            state=JobState.SUCCEEDED,
            result={"unchanged": True},
        )
        job = jobs.find(tx, JOB)
        assert job is not None
        assert (job.state, job.result) == (JobState.SUCCEEDED, {"unchanged": True})
        assert jobs.unrung(tx, older_than=later(1), limit=10) == []


def test_counts_name_every_state(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for n in range(3):
            make_job(tx, f"job-{n}")
        make_job(tx, "elsewhere", space=OTHER)
        run(tx, "job-1")
        assert jobs.counts(tx, SPACE) == {
            JobState.QUEUED: 2,
            JobState.RUNNING: 1,
            JobState.SUCCEEDED: 0,
            JobState.FAILED: 0,
            JobState.CANCELLED: 0,
        }


def test_a_queue_says_whether_a_job_waits_in_it(catalog: Catalog) -> None:
    with catalog.write() as tx:
        assert not jobs.waits(tx, Queue.INGEST)
        make_job(tx, "job-1", space=OTHER)
        assert jobs.waits(tx, Queue.INGEST)
        assert not jobs.waits(tx, Queue.INDEX)
        run(tx, "job-1")
        assert not jobs.waits(tx, Queue.INGEST)


def test_a_waiting_job_is_cancelled_at_once(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        job = jobs.request_cancel(tx, SPACE, JOB, later(1))
        assert (job.state, job.updated_at) == (JobState.CANCELLED, later(1))
        assert jobs.claim(tx, owner="w", queue=Queue.INGEST, lease_s=60, now=NOW, job_id=JOB) == []


def test_a_running_job_is_asked_to_stop(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        run(tx)
        job = jobs.request_cancel(tx, SPACE, JOB, NOW)
        assert (job.state, job.cancel_requested) == (JobState.RUNNING, True)
        assert jobs.request_cancel(tx, SPACE, JOB, NOW).state is JobState.RUNNING
        assert jobs.heartbeat(tx, [JOB], "w", 60, NOW) == set()
        assert jobs.cancelled(tx, JOB, "w", reason=None, now=NOW)
        ended = jobs.find(tx, JOB)
        assert ended is not None
        assert (ended.state, ended.reason) == (JobState.CANCELLED, "cancelled on request")


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED])
def test_what_is_over_cannot_be_cancelled(catalog: Catalog, state: JobState) -> None:
    with catalog.write() as tx:
        make_job(tx)
        end(tx, state)
        assert refusal(lambda: jobs.request_cancel(tx, SPACE, JOB, NOW)) is ErrorCode.JOB_STATE_CONFLICT


def test_only_the_own_space_s_jobs_can_be_cancelled_or_retried(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        assert refusal(lambda: jobs.request_cancel(tx, OTHER, JOB, NOW)) is ErrorCode.JOB_NOT_FOUND
        assert refusal(lambda: jobs.retry(tx, OTHER, JOB, NOW)) is ErrorCode.JOB_NOT_FOUND
        assert refusal(lambda: jobs.retry(tx, SPACE, JobId("no"), NOW)) is ErrorCode.JOB_NOT_FOUND


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.CANCELLED])
def test_what_failed_or_was_cancelled_starts_afresh(catalog: Catalog, state: JobState) -> None:
    sent = draft()
    with catalog.write() as tx:
        make_job(tx, sent=sent, revision=submit(tx, sent))
        jobs.rung(tx, [JOB], NOW)
        end(tx, state)
        job = jobs.retry(tx, SPACE, JOB, later(5))
        assert (job.state, job.attempts, job.reason, job.stage) == (JobState.QUEUED, 0, None, None)
        assert [waiting.id for waiting in jobs.unrung(tx, older_than=NOW, limit=5)] == [JOB]
        assert documents.submit(tx, SPACE, sent, NOW).pending_job == JOB
        assert run(tx).attempts == 1


def test_what_waits_runs_or_succeeded_cannot_be_retried(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        assert refusal(lambda: jobs.retry(tx, SPACE, JOB, NOW)) is ErrorCode.JOB_STATE_CONFLICT
        run(tx)
        assert refusal(lambda: jobs.retry(tx, SPACE, JOB, NOW)) is ErrorCode.JOB_STATE_CONFLICT
        jobs.succeed(tx, JOB, "w", result={}, warning=None, now=NOW)
        assert refusal(lambda: jobs.retry(tx, SPACE, JOB, NOW)) is ErrorCode.JOB_STATE_CONFLICT


def test_what_was_replaced_or_deleted_since_cannot_be_retried(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft()
        make_job(tx, sent=sent, revision=submit(tx, sent))
        end(tx, JobState.FAILED)
        ingest(tx, content="newer")
        assert refusal(lambda: jobs.retry(tx, SPACE, JOB, NOW)) is ErrorCode.JOB_STATE_CONFLICT
        forgotten = draft("forgotten")
        make_job(tx, "gone", sent=forgotten, revision=submit(tx, forgotten))
        documents.remove(tx, SPACE, forgotten.document_id, NOW)
        assert refusal(lambda: jobs.retry(tx, SPACE, JobId("gone"), NOW)) is ErrorCode.JOB_STATE_CONFLICT


def test_a_job_that_succeeded_shows_all_of_its_work_done(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx)
        run(tx)
        jobs.progress(tx, JOB, "w", stage="embed", done=7, total=9, now=later(1))
        assert jobs.succeed(tx, JOB, "w", result={}, warning=None, now=later(2))
        ended = jobs.get(tx, SPACE, JOB)
        assert ended is not None
        assert (ended.stage, ended.done, ended.total) == (None, 9, 9)


def test_bells_are_rung_again_for_what_still_waits(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for n in range(3):
            make_job(tx, f"job-{n}", now=later(-n))
        make_job(tx, "question", queue=Queue.ASK)
        jobs.rung(tx, [JobId("job-1")], later(10))
        run(tx, "job-2")

        def waiting(seconds: float, queue: Queue | None = Queue.INGEST, limit: int = 10) -> list[str]:
            return [job.id for job in jobs.unrung(tx, queue=queue, older_than=later(seconds), limit=limit)]

        assert waiting(5) == ["job-0"]
        assert waiting(20) == ["job-1", "job-0"]
        assert waiting(20, limit=1) == ["job-1"]
        assert waiting(5, queue=None) == ["job-0", "question"]


def test_jobs_of_a_kind_are_those_under_way_and_those_that_ended_lately(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for n, id in enumerate(("early", "lately", "running", "waiting")):
            make_job(tx, id, kind=JobKind.MEND, now=later(n))
        make_job(tx, "document")
        make_job(tx, "elsewhere", kind=JobKind.MEND, space=OTHER)
        jobs.request_cancel(tx, SPACE, JobId("early"), later(100))
        jobs.request_cancel(tx, SPACE, JobId("lately"), later(200))
        run(tx, "running")
        found = jobs.of_kind(tx, SPACE, JobKind.MEND, since=later(150))
    assert [job.id for job in found] == ["waiting", "running", "lately"]


def test_the_lines_of_a_batch_are_kept_each_for_itself(catalog: Catalog) -> None:
    with catalog.write() as tx:
        make_job(tx, kind=JobKind.BATCH)
        assert jobs.last_item(tx, JOB) == 0
        jobs.add_items(tx, JOB, [line(n) for n in (1, 2, 3)])
        jobs.set_item(tx, JOB, 4, document_id=None, state=JobState.FAILED, unchanged=False, reason="line 4: no JSON")
        jobs.set_item(tx, JOB, 2, document_id=None, state=JobState.FAILED, unchanged=False, reason="line 2: empty")
        jobs.add_items(tx, JOB, [])
        assert jobs.last_item(tx, JOB) == 4
        counted = jobs.item_counts(tx, JOB)
        assert (counted[JobState.SUCCEEDED], counted[JobState.FAILED], len(counted)) == (2, 2, 5)
        first, cursor = jobs.items(tx, JOB, limit=3, cursor=None)
        rest, end_cursor = jobs.items(tx, JOB, limit=3, cursor=cursor)
        assert [item.n for item in first + rest] == [1, 2, 3, 4]
        assert end_cursor is None
        assert first[1].reason == "line 2: empty"
        failed, _ = jobs.items(tx, JOB, limit=10, cursor=None, states=[JobState.FAILED])
        assert [item.n for item in failed] == [2, 4]


def test_only_old_finished_jobs_are_pruned_with_their_items(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for id in ("old", "young", "running", "waiting"):
            make_job(tx, id, kind=JobKind.BATCH)
        jobs.set_item(tx, JobId("old"), 1, document_id=None, state=JobState.FAILED, unchanged=False, reason="x")
        jobs.request_cancel(tx, SPACE, JobId("old"), NOW - timedelta(days=40))
        jobs.request_cancel(tx, SPACE, JobId("young"), NOW)
        run(tx, "running")
        assert jobs.prune(tx, older_than=NOW - timedelta(days=30), now=NOW) == 1
        left, _ = jobs.list_jobs(tx, SPACE, states=None, limit=10, cursor=None)
        assert {job.id for job in left} == {"young", "running", "waiting"}
        assert jobs.last_item(tx, JobId("old")) == 0


def end(tx: Connection, state: JobState) -> None:
    run(tx)
    if state is JobState.SUCCEEDED:
        assert jobs.succeed(tx, JOB, "w", result={"chunks": 1}, warning="look", now=NOW)
    elif state is JobState.FAILED:
        assert jobs.fail(tx, JOB, "w", reason="broken", now=NOW)
    else:
        assert jobs.cancelled(tx, JOB, "w", reason=None, now=NOW)


def line(n: int) -> JobItem:
    return JobItem(n=n, document_id=DocumentId(f"doc-{n}"), state=JobState.SUCCEEDED, unchanged=False, reason=None)


def refusal(step: Callable[[], object]) -> ErrorCode:
    with pytest.raises(RagstoneError) as refused:
        step()
    return refused.value.code
