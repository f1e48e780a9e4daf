"""Versions that are saved and not live: read for making vectors, kept while somebody is at them, never shown."""

from sqlalchemy import Connection

from services.shared.catalog import chunks, documents, staging
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.contracts.jobs import JobKind
from tests.contract.catalog.building import NOW, SPACE, chunk_ids, draft, later, make_job, pieces, save, submit

DOC = DocumentId("doc")


def test_a_staged_version_is_read_whole_and_shown_to_nobody(catalog: Catalog) -> None:
    with catalog.write() as tx:
        version = _staged(tx)
        saved = staging.saved(tx, SPACE, DOC, version)
        assert saved is not None
        assert saved.chunks == 3
        assert [one.id for one in staging.saved_chunks(tx, SPACE, DOC, version)] == chunk_ids(draft(), 3)
        assert chunks.chunks_of_version(tx, SPACE, version) == []
        documents.discard_version(tx, SPACE, DOC, version)
        assert staging.saved(tx, SPACE, DOC, version) is None
        assert staging.saved_chunks(tx, SPACE, DOC, version) == []


def test_nothing_is_staged_of_a_revision_before_a_deletion(catalog: Catalog) -> None:
    with catalog.write() as tx:
        first = submit(tx, draft())
        documents.remove(tx, SPACE, DOC, NOW)
        again = submit(tx, draft())
        _save(tx, first)
        assert staging.saved(tx, SPACE, DOC, draft().version_id) is None
        _save(tx, again)
        assert staging.saved(tx, SPACE, DOC, draft().version_id) is not None


def test_a_batch_at_work_keeps_what_it_staged(catalog: Catalog) -> None:
    with catalog.write() as tx:
        version = _staged(tx)
        make_job(tx, "batch", kind=JobKind.BATCH)
        assert documents.discard_stale(tx, older_than=later(1)) == 0
        assert staging.saved(tx, SPACE, DOC, version) is not None


def _staged(tx: Connection) -> VersionId:
    submit(tx, draft())
    return save(tx, draft(), number=3)


def _save(tx: Connection, revision: int) -> None:
    documents.save_version(
        tx,
        SPACE,
        draft(),
        revision=revision,
        title="Title",
        type=None,
        tags=[],
        source=None,
        metadata={},
        language=None,
        text="text of one",
        chunks=pieces("one"),
        now=NOW,
    )
