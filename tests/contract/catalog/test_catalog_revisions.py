"""Sending and deleting: the newest revision wins, and the same thing sent again is no work."""

import threading
from functools import partial

from sqlalchemy import Connection

from services.shared.catalog import chunks, documents, jobs
from services.shared.catalog.documents import Draft, Published, Superseded
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, JobId
from services.shared.contracts.jobs import JobKind, JobState, Queue
from tests.contract.catalog.building import (
    NOW,
    OTHER,
    SPACE,
    at_once,
    chunk_ids,
    draft,
    ingest,
    later,
    make_job,
    publish,
    save,
    stored_chunk_ids,
    submit,
)

DOC = DocumentId("doc")


def test_the_first_submission_is_revision_one(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = documents.submit(tx, SPACE, draft(), NOW)
        assert (sent.revision, sent.unchanged, sent.pending_job) == (1, False, None)
        assert documents.get(tx, SPACE, DOC) is None


def test_what_is_live_already_is_unchanged(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx)
        again = documents.submit(tx, SPACE, draft(), NOW)
        assert (again.revision, again.unchanged) == (None, True)
        retitled = documents.submit(tx, SPACE, draft(title="New"), NOW)
        assert (retitled.revision, retitled.unchanged) == (2, False)


def test_unchanged_still_moves_the_document_to_its_origin(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, origin="folder")
        assert documents.submit(tx, SPACE, draft(), NOW).unchanged
        kept = documents.get(tx, SPACE, DOC)
        assert kept is not None
        assert kept.origin == "folder"
        assert documents.submit(tx, SPACE, draft(origin="other"), NOW).unchanged
        moved = documents.get(tx, SPACE, DOC)
        assert moved is not None
        assert moved.origin == "other"


def test_simultaneous_identical_submissions_make_one_revision_and_one_job(catalog: Catalog) -> None:
    sent = draft()

    def send(n: int) -> documents.Submitted:
        with catalog.write() as tx:
            answer = documents.submit(tx, SPACE, sent, NOW)
            if answer.revision is not None:
                make_job(tx, f"job-{n}", sent=sent, revision=answer.revision)
        return answer

    answers = at_once([partial(send, n) for n in range(5)])
    assert sorted(answer.revision or 0 for answer in answers) == [0, 0, 0, 0, 1]
    with catalog.read() as tx:
        made, _ = jobs.list_jobs(tx, SPACE, states=None, limit=10, cursor=None)
    assert len(made) == 1
    assert {answer.pending_job for answer in answers} == {None, made[0].id}


def test_a_pending_job_is_given_back_only_for_its_own_version_and_space(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft()
        make_job(tx, "first", sent=sent, revision=submit(tx, sent))
        assert documents.submit(tx, SPACE, sent, NOW).pending_job == JobId("first")
        assert documents.submit(tx, OTHER, sent, NOW).pending_job is None
        changed = draft(content="changed")
        make_job(tx, "second", sent=changed, revision=submit(tx, changed))
        assert documents.submit(tx, SPACE, changed, NOW).pending_job == JobId("second")
        assert submit(tx, sent) == 3


def test_a_failed_job_is_not_pending(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft()
        make_job(tx, sent=sent, revision=submit(tx, sent))
        jobs.claim(tx, owner="w", queue=Queue.INGEST, lease_s=60, now=NOW, job_id=JobId("job"))
        jobs.fail(tx, JobId("job"), "w", reason="broken", now=NOW)
        assert submit(tx, sent) == 2


def test_live_content_sent_again_while_something_newer_is_under_way_is_work(catalog: Catalog) -> None:
    with catalog.write() as tx:
        first = ingest(tx, content="first")
        second = draft(content="second")
        make_job(tx, sent=second, revision=submit(tx, second))
        assert submit(tx, first) == 3


def test_live_content_is_unchanged_when_the_newer_one_failed(catalog: Catalog) -> None:
    with catalog.write() as tx:
        first = ingest(tx, content="first")
        second = draft(content="second")
        make_job(tx, sent=second, revision=submit(tx, second))
        jobs.claim(tx, owner="w", queue=Queue.INGEST, lease_s=60, now=NOW, job_id=JobId("job"))
        jobs.fail(tx, JobId("job"), "w", reason="broken", now=NOW)
        assert documents.submit(tx, SPACE, first, NOW).unchanged


def test_live_content_is_work_while_a_batch_may_replace_it(catalog: Catalog) -> None:
    with catalog.write() as tx:
        first = ingest(tx, content="first")
        make_job(tx, "batch", kind=JobKind.BATCH)
        submit(tx, draft(content="a line of the batch"))
        assert documents.submit(tx, SPACE, first, NOW).revision == 3


def test_the_newer_revision_wins_when_it_finishes_first(catalog: Catalog) -> None:
    with catalog.write() as tx:
        older, newer = _two_staged(tx)
        assert isinstance(publish(tx, newer, 2), Published)
        assert publish(tx, older, 1) == Superseded("newer")
        assert [one.id for one in chunks.iter_live(tx, SPACE)] == chunk_ids(newer)


def test_the_newer_revision_wins_when_it_finishes_last(catalog: Catalog) -> None:
    with catalog.write() as tx:
        older, newer = _two_staged(tx)
        assert isinstance(publish(tx, older, 1), Published)
        assert publish(tx, newer, 2) == Published(2, older.version_id)
        assert [one.id for one in chunks.iter_live(tx, SPACE)] == chunk_ids(newer)


def test_going_back_outruns_the_revision_in_between(catalog: Catalog) -> None:
    """Live A, then B and A again are sent; A is confirmed first, so B comes too late."""
    with catalog.write() as tx:
        a = ingest(tx, content="a")
        b = draft(content="b")
        make_job(tx, sent=b, revision=submit(tx, b))
        save(tx, b)
        third = submit(tx, a)
        assert publish(tx, a, third) == Published(1, None)
        assert publish(tx, b, 2) == Superseded("newer")
        assert [one.id for one in chunks.iter_live(tx, SPACE)] == chunk_ids(a)


def test_publishing_twice_changes_nothing(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = ingest(tx)
        assert publish(tx, sent, 1) == Published(1, None)
        assert len(chunks.live_chunks(tx, SPACE, chunk_ids(sent))) == 2


def test_a_document_deleted_during_ingestion_stays_deleted(catalog: Catalog) -> None:
    with catalog.write() as tx:
        old = ingest(tx, content="old")
        new = draft(content="new")
        revision = submit(tx, new)
        make_job(tx, sent=new, revision=revision)
        jobs.claim(tx, owner="w", queue=Queue.INGEST, lease_s=60, now=NOW, job_id=JobId("job"))
        save(tx, new)
    with catalog.write() as tx:
        receipt = documents.remove(tx, SPACE, DOC, NOW)
        assert receipt is not None
        assert receipt.cancelled_jobs == [JobId("job")]
    with catalog.write() as tx:
        assert jobs.heartbeat(tx, [JobId("job")], "w", 60, NOW) == set()
        save(tx, new)
        assert publish(tx, new, revision) == Superseded("deleted")
        assert stored_chunk_ids(tx, new) == []
        assert list(chunks.iter_live(tx, SPACE)) == []
        assert documents.version(tx, SPACE, DOC, old.version_id) is None


def test_deletion_and_publication_at_the_same_moment_end_deleted(catalog: Catalog) -> None:
    """Whichever commits first, the deletion was asked for after the submission and wins."""
    for n in range(10):
        sent = draft(f"doc-{n}")
        with catalog.write() as tx:
            revision = submit(tx, sent)
            save(tx, sent)

        def go_live(sent: Draft = sent, revision: int = revision) -> None:
            with catalog.write() as tx:
                publish(tx, sent, revision)

        def forget(sent: Draft = sent) -> None:
            with catalog.write() as tx:
                assert documents.remove(tx, SPACE, sent.document_id, NOW) is not None

        at_once([go_live, forget])
        with catalog.read() as tx:
            assert documents.get(tx, SPACE, sent.document_id) is None
            assert chunks.counts(tx, SPACE) == (0, 0)


def test_a_pending_document_can_be_deleted(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft()
        make_job(tx, sent=sent, revision=submit(tx, sent))
        receipt = documents.remove(tx, SPACE, DOC, NOW)
        assert receipt is not None
        assert (receipt.versions, receipt.cancelled_jobs) == (0, [JobId("job")])
        assert receipt.blobs_orphaned == [sent.blob_sha256]
        job = jobs.find(tx, JobId("job"))
        assert job is not None
        assert job.state is JobState.CANCELLED
        assert "deleted" in (job.reason or "")


def test_nothing_is_deleted_twice(catalog: Catalog) -> None:
    with catalog.write() as tx:
        assert documents.remove(tx, SPACE, DOC, NOW) is None
        ingest(tx)
        assert documents.remove(tx, SPACE, DOC, NOW) is not None
        assert documents.remove(tx, SPACE, DOC, NOW) is None


def test_a_deleted_document_can_come_back_as_a_new_one(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = ingest(tx, origin="folder")
        documents.remove(tx, SPACE, DOC, NOW)
        answer = documents.submit(tx, SPACE, draft(), later(60))
        assert (answer.revision, answer.unchanged) == (3, False)
        save(tx, sent)
        assert isinstance(publish(tx, sent, 3), Published)
        back = documents.get(tx, SPACE, DOC)
        assert back is not None
        assert (back.created_at, back.origin) == (later(60), None)
        assert len(chunks.live_chunks(tx, SPACE, chunk_ids(sent))) == 2


def test_a_blob_is_kept_while_anything_needs_it(catalog: Catalog) -> None:
    with catalog.write() as tx:
        one, two = ingest(tx, "one", "shared"), ingest(tx, "two", "shared")
        receipt = documents.remove(tx, SPACE, one.document_id, NOW)
        assert receipt is not None
        assert receipt.blobs_orphaned == []
        assert documents.blob_in_use(tx, two.blob_sha256)
        waiting = draft("three", "waiting")
        assert not documents.blob_in_use(tx, waiting.blob_sha256)
        make_job(tx, sent=waiting, revision=submit(tx, waiting))
        assert documents.blob_in_use(tx, waiting.blob_sha256)


def test_the_blob_of_a_failed_job_is_kept_until_it_cannot_be_retried(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft()
        make_job(tx, sent=sent, revision=submit(tx, sent))
        jobs.request_cancel(tx, SPACE, JobId("job"), NOW)
        assert documents.blob_in_use(tx, sent.blob_sha256)
        ingest(tx, content="newer")
        assert not documents.blob_in_use(tx, sent.blob_sha256)


def test_submissions_of_many_documents_in_any_order_do_not_block_each_other_for_ever(catalog: Catalog) -> None:
    names = [f"doc-{n}" for n in range(20)]
    done = threading.Event()

    def send(order: list[str], content: str) -> None:
        for _ in range(3):
            with catalog.write() as tx:
                for name in order:
                    documents.submit(tx, SPACE, draft(name, content), NOW)
        done.set()

    at_once([lambda: send(names, "a"), lambda: send(names[::-1], "b")])
    assert done.is_set()


def _two_staged(tx: Connection) -> tuple[Draft, Draft]:
    older, newer = draft(content="older"), draft(content="newer")
    for revision, sent in enumerate((older, newer), start=1):
        assert submit(tx, sent) == revision
        save(tx, sent)
    return older, newer
