"""What is asked of a job that waits between two time slices, and of one whose index is gone."""

import pytest
from sqlalchemy import Connection, inspect, text

from services.shared.catalog import documents, job_items, jobs, staging, switching
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import DocumentId, JobId, SpaceId, VersionId
from services.shared.contracts.jobs import JobItem, JobKind, JobState, Queue
from tests.contract.catalog.building import NOW, OTHER, SPACE, draft, later, make_job, save, submit
from tests.contract.catalog.second_indexes import B, C, begin, end_job, serving_space

DOC = DocumentId("doc")
SLICED = JobId("sliced")


def sliced(tx: Connection, kind: JobKind = JobKind.DOCUMENT, id: str = "doc", space: SpaceId = SPACE) -> VersionId:
    """A document that is staged, its job put back between two time slices."""
    sent = draft(id)
    revision = submit(tx, sent, space)
    version = save(tx, sent, space, number=3)
    of_document = kind is JobKind.DOCUMENT
    jobs.create(
        tx,
        id=SLICED,
        space=space,
        kind=kind,
        queue=Queue.INGEST,
        document_id=sent.document_id if of_document else None,
        revision=revision if of_document else None,
        payload={},
        request_id="r",
        now=NOW,
    )
    jobs.claim(tx, owner="w", queue=Queue.INGEST, lease_s=9, now=NOW, job_id=SLICED)
    jobs.progress(tx, SLICED, "w", stage="embed", done=1, total=3, now=NOW)
    assert jobs.release(tx, SLICED, "w", NOW)
    return version


def is_staged(tx: Connection, version: VersionId, id: str = "doc") -> bool:
    return staging.saved(tx, SPACE, DocumentId(id), version) is not None


@pytest.mark.parametrize("kind", [JobKind.DOCUMENT, JobKind.BATCH])
def test_a_cancellation_between_slices_drops_what_is_staged(catalog: Catalog, kind: JobKind) -> None:
    with catalog.write() as tx:
        version = sliced(tx, kind)
        assert is_staged(tx, version)
        assert jobs.request_cancel(tx, SPACE, SLICED, NOW).state is JobState.CANCELLED
        assert not is_staged(tx, version)
        assert jobs.retry(tx, SPACE, SLICED, NOW).state is JobState.QUEUED


def test_it_leaves_what_a_batch_at_work_may_bring_in_and_other_documents(catalog: Catalog) -> None:
    with catalog.write() as tx:
        version = sliced(tx)
        make_job(tx, "batch", kind=JobKind.BATCH)
        jobs.request_cancel(tx, SPACE, SLICED, NOW)
        assert is_staged(tx, version)
        jobs.request_cancel(tx, SPACE, JobId("batch"), NOW)
        submit(tx, draft("other"))
        other = save(tx, draft("other"), number=1)
        assert documents.discard_idle(tx, SPACE, DOC) == 1
        assert not is_staged(tx, version)
        assert is_staged(tx, other, "other")
        assert documents.discard_idle(tx, OTHER, None) == 0
        assert documents.discard_idle(tx, SPACE, None) == 1


def test_it_leaves_what_answers(catalog: Catalog) -> None:
    with catalog.write() as tx:
        version = sliced(tx)
        documents.publish(tx, SPACE, DOC, version, 1, NOW)
        jobs.request_cancel(tx, SPACE, SLICED, NOW)
        assert is_staged(tx, version)


def test_a_building_is_not_retried_once_its_index_is_removed(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        begin(tx, B)
        end_job(tx, "job-b", failed="the model broke")
        assert jobs.retry(tx, SPACE, JobId("job-b"), NOW).state is JobState.QUEUED
        end_job(tx, "job-b", failed="it broke again")
        switching.retire(tx, SPACE, B, job_id=JobId("removal"), request_id="r", now=later(1))
        with pytest.raises(RagstoneError, match="index b, which job job-b is for, was removed") as caught:
            jobs.retry(tx, SPACE, JobId("job-b"), later(2))
        assert (caught.value.code, caught.value.status) == (ErrorCode.JOB_STATE_CONFLICT, 409)
        assert jobs.failed(tx, SPACE, JobKind.REEMBED) == [JobId("job-b")]


def test_nor_is_one_that_gave_way_to_another_or_whose_record_is_gone(catalog: Catalog) -> None:
    with catalog.write() as tx:
        serving_space(tx)
        begin(tx, B)
        end_job(tx, "job-b", failed="the model broke")
        begin(tx, C, name="another")
        with pytest.raises(RagstoneError, match="was removed"):
            jobs.retry(tx, SPACE, JobId("job-b"), NOW)
        tx.execute(text("DELETE FROM indexes WHERE id = 'b'"))
        with pytest.raises(RagstoneError, match="was removed"):
            jobs.retry(tx, SPACE, JobId("job-b"), NOW)


def test_an_older_catalog_gets_the_index_of_lines_and_gives_it_back(catalog: Catalog) -> None:
    from alembic import command
    from alembic.config import Config

    from services.shared.catalog.shape import MIGRATIONS

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with catalog.write() as tx:
        make_job(tx, "batch", kind=JobKind.BATCH)
        item = JobItem(n=1, document_id=DOC, state=JobState.SUCCEEDED, unchanged=False, reason=None)
        jobs.add_items(tx, JobId("batch"), [item])
    for revision, there in (("0005", False), ("head", True)):
        with catalog.write() as tx:
            config.attributes["connection"] = tx
            (command.upgrade if there else command.downgrade)(config, revision)
        with catalog.read() as tx:
            names = {index["name"] for index in inspect(tx).get_indexes("job_items")}
            assert ("ix_job_items_document" in names) is there
            assert len(job_items.items(tx, JobId("batch"), limit=9, cursor=None)[0]) == 1
