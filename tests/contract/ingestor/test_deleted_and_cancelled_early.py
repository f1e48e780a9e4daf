"""Deletions that come before the worker does, and cancellations that come between its time slices."""

from dataclasses import replace

import pytest

from services.ingestor import wiring
from services.ingestor.flow.work import Worker
from services.ingestor.ports.tools import Tools
from services.ingestor.wiring import now
from services.shared.catalog import bodies, documents, jobs, staging
from services.shared.contracts.ids import ChunkId, DocumentId, JobId
from services.shared.contracts.jobs import JobState, Queue
from services.shared.models.embedders import Embedders
from tests.contract.ingestor.site import Site

HUGE = "# Halls\n\n" + "\n\n".join(f"Hall {n} holds pump {n}. " + "It is oiled at dawn. " * 20 for n in range(60))


@pytest.fixture
def tools(site: Site, models: Embedders) -> Tools:
    made = wiring.tools(site.settings, site.catalog, models)
    return replace(made, rules=replace(made.rules, group_chunks=8, time_slice_s=0.01))


def live(site: Site, document_id: str) -> bool:
    with site.catalog.read() as tx:
        return documents.get(tx, site.space, DocumentId(document_id)) is not None


def delete_early(site: Site, document_id: str) -> None:
    """What the gateway does when the document is not there yet, before it comes to the body."""
    assert bodies.hold(site.catalog, site.blobs, site.space, DocumentId(document_id), within_s=5)
    with site.catalog.write() as tx:
        assert documents.remove(tx, site.space, DocumentId(document_id), now()) is None
        assert documents.remove(tx, site.space, DocumentId(document_id), now(), coming=True) is not None


def work_off(site: Site, tools: Tools, job: JobId) -> None:
    for _ in range(60):
        if site.job(job).state.final:
            return
        Worker(tools).answer(job)
    raise AssertionError("it never ended")


@pytest.mark.parametrize("empties", [False, True])
def test_a_line_whose_document_is_deleted_before_it_is_read_is_not_published(
    site: Site, tools: Tools, empties: bool
) -> None:
    batch = site.send_batch([{"id": name, "text": f"The text of {name}."} for name in ("first", "gone", "last")])
    delete_early(site, "gone")
    if empties:
        emptied = bodies.empty(site.catalog, site.blobs, site.space, DocumentId("gone"), now, within_s=5)
        assert emptied.complete
    work_off(site, tools, batch)
    assert site.job(batch).state is JobState.SUCCEEDED
    assert [live(site, name) for name in ("first", "gone", "last")] == [True, False, True]
    again = site.send_batch([{"id": "gone", "text": "Sent after the deletion."}])
    work_off(site, tools, again)
    assert live(site, "gone"), "a batch sent later brings it in"


def test_the_deletion_holds_when_the_batch_is_retried(site: Site, tools: Tools) -> None:
    batch = site.send_batch([{"id": "gone", "text": "The text."}])
    with site.catalog.write() as tx:
        jobs.request_cancel(tx, site.space, batch, now())
    delete_early(site, "gone")
    with site.catalog.write() as tx:
        jobs.retry(tx, site.space, batch, now())
    work_off(site, tools, batch)
    assert not live(site, "gone")
    with site.catalog.read() as tx:
        (item,), _ = jobs.items(tx, batch, limit=9, cursor=None)
    assert (item.state, item.reason) == (JobState.CANCELLED, "gone: sent or deleted again after this batch")


def staged(site: Site, document_id: str) -> list[ChunkId]:
    with site.catalog.read() as tx:
        row = tx.exec_driver_sql("SELECT last_version_id FROM documents WHERE id = ?", (document_id,)).scalar_one()
        return [one.id for one in staging.saved_chunks(tx, site.space, DocumentId(document_id), row)]


@pytest.mark.parametrize("in_a_batch", [False, True])
def test_a_cancellation_between_slices_leaves_no_staged_text(site: Site, tools: Tools, in_a_batch: bool) -> None:
    huge = site.send_batch([{"id": "huge", "text": HUGE}]) if in_a_batch else site.send("huge", HUGE)
    waits = site.send_batch([{"id": "other", "text": "It waits, so that the large one makes way."}])
    Worker(tools).answer(huge)
    assert (site.job(huge).state, site.job(huge).stage) == (JobState.QUEUED, "embed")
    assert len(staged(site, "huge")) > 20
    if in_a_batch:
        work_off(site, tools, waits)
    else:
        with site.catalog.write() as tx:
            jobs.request_cancel(tx, site.space, waits, now())
    with site.catalog.write() as tx:
        jobs.request_cancel(tx, site.space, huge, now())
    assert site.job(huge).state is JobState.CANCELLED
    assert staged(site, "huge") == []
    with site.catalog.write() as tx:
        jobs.retry(tx, site.space, huge, now())
    work_off(site, tools, huge)
    assert site.job(huge).state is JobState.SUCCEEDED
    assert live(site, "huge")


def test_nor_does_one_that_comes_within_the_last_moment_of_a_slice(site: Site, tools: Tools) -> None:
    huge = site.send("huge", HUGE)
    waits = site.send_batch([{"id": "other", "text": "It waits."}])
    Worker(tools).answer(huge)
    with site.catalog.write() as tx:
        jobs.request_cancel(tx, site.space, waits, now())
    (claimed,) = tools.ledger.claim(huge, 0)
    with site.catalog.write() as tx:
        jobs.request_cancel(tx, site.space, huge, now())
    assert staged(site, "huge"), "it is still at work"
    tools.ledger.release([claimed])
    assert site.job(huge).state is JobState.CANCELLED
    assert staged(site, "huge") == []


def test_nor_one_whose_worker_died(site: Site, tools: Tools) -> None:
    huge = site.send("huge", HUGE)
    waits = site.send_batch([{"id": "other", "text": "It waits."}])
    Worker(tools).answer(huge)
    with site.catalog.write() as tx:
        jobs.request_cancel(tx, site.space, waits, now())
        jobs.claim(tx, owner="nobody:1:dead", queue=Queue.INGEST, lease_s=-1, now=now(), job_id=huge)
        jobs.request_cancel(tx, site.space, huge, now())
    wiring.housekeeping(site.settings, site.catalog).reap()
    assert site.job(huge).state is JobState.CANCELLED
    assert staged(site, "huge") == []
