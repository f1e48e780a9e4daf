"""Only what is live is shown, a document changes in one step, and spaces never mix."""

import contextlib

import pytest

from services.shared.catalog import chunks, documents
from services.shared.catalog.documents import Published
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId
from tests.contract.catalog.building import (
    NOW,
    OTHER,
    SPACE,
    OnPurpose,
    break_off,
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


def test_a_live_chunk_comes_whole(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = ingest(tx, "doc", "one", title="Guide", type="faq", tags=["a", "b"], source="https://x")
        found = chunks.live_chunks(tx, SPACE, [*chunk_ids(sent), ChunkId("unknown")])
    assert list(found) == chunk_ids(sent)
    first = found[chunk_ids(sent)[0]]
    assert (first.document_id, first.version_id, first.title, first.type) == (DOC, sent.version_id, "Guide", "faq")
    assert (first.tags, first.source, first.text, first.kind) == (["a", "b"], "https://x", "one 0", "fact")
    assert (first.lead, first.start, first.end, first.section, first.search_text) == (0, 0, 1, "", "search one 0")


def test_a_staged_version_is_not_shown_and_the_old_one_answers_until_publish(catalog: Catalog) -> None:
    with catalog.write() as tx:
        old = ingest(tx, content="old")
        new = draft(content="new")
        revision = submit(tx, new)
        save(tx, new, content="new")
    with catalog.read() as tx:
        assert set(chunks.live_chunks(tx, SPACE, chunk_ids(old) + chunk_ids(new))) == set(chunk_ids(old))
        assert chunks.chunks_of_version(tx, SPACE, new.version_id) == []
        assert stored_chunk_ids(tx, new) == chunk_ids(new)
        assert documents.version(tx, SPACE, DOC, new.version_id) is None
    with catalog.write() as tx:
        assert publish(tx, new, revision) == Published(2, old.version_id)
    with catalog.read() as tx:
        assert set(chunks.live_chunks(tx, SPACE, chunk_ids(old) + chunk_ids(new))) == set(chunk_ids(new))
        assert [one.id for one in chunks.iter_live(tx, SPACE)] == chunk_ids(new)
        assert [one.id for one in chunks.chunks_of_version(tx, SPACE, new.version_id)] == chunk_ids(new)
        assert chunks.chunks_of_version(tx, SPACE, old.version_id) == []
        assert stored_chunk_ids(tx, old) == []


def test_a_shorter_version_leaves_no_chunk_of_the_longer_one(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, content="long", number=7)
        short = ingest(tx, content="short", number=1)
        assert [one.id for one in chunks.iter_live(tx, SPACE)] == chunk_ids(short, 1)
        assert chunks.counts(tx, SPACE) == (1, 1)


def test_a_failed_replacement_leaves_the_old_version_untouched(catalog: Catalog) -> None:
    with catalog.write() as tx:
        old = ingest(tx, content="old")
        before = documents.get(tx, SPACE, DOC)
        new = draft(content="new")
        submit(tx, new)
        save(tx, new)
        documents.discard_version(tx, SPACE, DOC, new.version_id)
        assert documents.get(tx, SPACE, DOC) == before
        assert [one.id for one in chunks.iter_live(tx, SPACE)] == chunk_ids(old)
        assert stored_chunk_ids(tx, new) == []
        assert not documents.blob_in_use(tx, new.blob_sha256)


def test_a_broken_publish_transaction_leaves_the_old_version_answering(catalog: Catalog) -> None:
    with catalog.write() as tx:
        old = ingest(tx, content="old")
        new = draft(content="new")
        revision = submit(tx, new)
        save(tx, new)
    with contextlib.suppress(OnPurpose), catalog.write() as tx:
        publish(tx, new, revision)
        break_off()
    with catalog.read() as tx:
        assert [one.id for one in chunks.iter_live(tx, SPACE)] == chunk_ids(old)


def test_discarding_never_touches_the_live_version(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = ingest(tx)
        documents.discard_version(tx, SPACE, DOC, sent.version_id)
        assert len(chunks.live_chunks(tx, SPACE, chunk_ids(sent))) == 2


def test_a_deleted_document_is_gone_at_once_with_all_its_versions(catalog: Catalog) -> None:
    with catalog.write() as tx:
        old = ingest(tx, content="old")
        new = ingest(tx, content="new", number=3)
        receipt = documents.remove(tx, SPACE, DOC, NOW)
    assert receipt is not None
    assert (receipt.versions, receipt.chunks, receipt.seq) == (2, 3, 3)
    assert set(receipt.version_ids) == {old.version_id, new.version_id}
    assert set(receipt.blobs_orphaned) == {old.blob_sha256, new.blob_sha256}
    with catalog.read() as tx:
        assert chunks.live_chunks(tx, SPACE, chunk_ids(old) + chunk_ids(new, 3)) == {}
        assert list(chunks.iter_live(tx, SPACE)) == []
        assert documents.get(tx, SPACE, DOC) is None
        assert documents.version(tx, SPACE, DOC, None) is None
        assert documents.version(tx, SPACE, DOC, old.version_id) is None
        assert documents.list_live(tx, SPACE, limit=10, cursor=None) == ([], None)
        assert chunks.counts(tx, SPACE) == (0, 0)


def test_old_versions_of_a_live_document_keep_opening(catalog: Catalog) -> None:
    with catalog.write() as tx:
        old = ingest(tx, content="old")
        new = ingest(tx, content="new")
        stored = documents.version(tx, SPACE, DOC, old.version_id)
        assert stored is not None
        assert (stored.text, stored.live) == ("text of old", False)
        live = documents.version(tx, SPACE, DOC, None)
        assert live is not None
        assert (live.id, live.text, live.live) == (new.version_id, "text of new", True)
        assert documents.version(tx, SPACE, DOC, VersionId("unknown")) is None


def test_going_back_to_an_old_version_restores_it(catalog: Catalog) -> None:
    with catalog.write() as tx:
        first = ingest(tx, content="first")
        ingest(tx, content="second")
        again = ingest(tx, content="first")
        assert again.version_id == first.version_id
        assert [one.id for one in chunks.iter_live(tx, SPACE)] == chunk_ids(first)


def test_an_old_version_that_failed_to_come_back_still_opens(catalog: Catalog) -> None:
    with catalog.write() as tx:
        first = ingest(tx, content="first")
        ingest(tx, content="second")
        submit(tx, first)
        save(tx, first, content="first")
        documents.discard_version(tx, SPACE, DOC, first.version_id)
        stored = documents.version(tx, SPACE, DOC, first.version_id)
        assert stored is not None
        assert stored.text == "text of first"
        assert stored_chunk_ids(tx, first) == []


def test_the_same_document_in_two_spaces_never_mixes(catalog: Catalog) -> None:
    with catalog.write() as tx:
        here = ingest(tx, content="same", title="Here")
        there = draft(content="same", title="Here")
        revision = submit(tx, there, OTHER)
        assert revision == 1
        assert here.version_id == there.version_id
        assert chunks.live_chunks(tx, OTHER, chunk_ids(here)) == {}
        save(tx, there, OTHER, content="elsewhere", number=3)
        publish(tx, there, revision, OTHER)
        assert [one.text for one in chunks.iter_live(tx, SPACE)] == ["same 0", "same 1"]
        assert [one.text for one in chunks.iter_live(tx, OTHER)] == ["elsewhere 0", "elsewhere 1", "elsewhere 2"]
        receipt = documents.remove(tx, SPACE, DOC, NOW)
        assert receipt is not None
        assert receipt.blobs_orphaned == []
        assert chunks.counts(tx, SPACE) == (0, 0)
        assert chunks.counts(tx, OTHER) == (1, 3)
        assert documents.get(tx, OTHER, DOC) is not None


def test_more_ids_than_one_query_takes(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = ingest(tx, number=1234)
        asked = [ChunkId(f"no-{n}") for n in range(1500)] + chunk_ids(sent, 1234)
        assert set(chunks.live_chunks(tx, SPACE, asked)) == set(chunk_ids(sent, 1234))
        assert chunks.live_chunks(tx, SPACE, []) == {}


def test_every_live_chunk_is_walked_once_in_the_order_of_ids(catalog: Catalog) -> None:
    with catalog.write() as tx:
        expected = [id for n in range(5) for id in chunk_ids(ingest(tx, f"doc-{n}"))]
        walked = [one.id for one in chunks.iter_live(tx, SPACE, batch=3)]
    assert walked == sorted(expected)


def test_publishing_what_is_not_saved_is_refused(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft()
        revision = submit(tx, sent)
        with pytest.raises(RagstoneError) as refused:
            publish(tx, sent, revision)
        assert refused.value.code is ErrorCode.VERSION_NOT_FOUND
        with pytest.raises(RagstoneError) as unknown:
            save(tx, draft("never sent"))
        assert unknown.value.code is ErrorCode.DOCUMENT_NOT_FOUND


def test_saving_twice_leaves_the_second_writing_only(catalog: Catalog) -> None:
    with catalog.write() as tx:
        sent = draft()
        revision = submit(tx, sent)
        save(tx, sent, content="broken off", number=5)
        save(tx, sent, content="whole", number=2)
        publish(tx, sent, revision)
        assert [one.text for one in chunks.iter_live(tx, SPACE)] == ["whole 0", "whole 1"]
        save(tx, sent, content="too late", number=1)
        assert [one.text for one in chunks.iter_live(tx, SPACE)] == ["whole 0", "whole 1"]


def test_stale_staged_versions_are_discarded_unless_somebody_works_on_them(catalog: Catalog) -> None:
    with catalog.write() as tx:
        live = ingest(tx, "live")
        orphan, at_work, young = draft("orphan"), draft("at work"), draft("young")
        for sent in (orphan, at_work, young):
            revision = submit(tx, sent)
            save(tx, sent)
        make_job(tx, sent=at_work, revision=revision)
        assert documents.discard_stale(tx, older_than=NOW) == 0
        assert documents.discard_stale(tx, older_than=later(1)) == 2
        assert stored_chunk_ids(tx, orphan) == []
        assert len(stored_chunk_ids(tx, at_work)) == 2
        assert len(chunks.live_chunks(tx, SPACE, chunk_ids(live))) == 2


def test_the_sizes_are_those_of_live_versions_only(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, "doc", "old", number=5)
        new = ingest(tx, "doc", "new", number=3)
        ingest(tx, "gone", "gone")
        documents.remove(tx, SPACE, DocumentId("gone"), NOW)
        staged = draft("staged")
        submit(tx, staged)
        save(tx, staged)
        ingest(tx, "doc", "elsewhere", space=OTHER)
    with catalog.read() as tx:
        assert chunks.live_sizes(tx, SPACE) == {new.version_id: 3}
        assert chunks.counts(tx, SPACE) == (1, 3)
