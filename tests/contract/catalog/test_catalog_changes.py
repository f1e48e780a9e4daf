"""The change log is gap-free and strictly in commit order, whoever writes at the same time."""

import contextlib
import multiprocessing
import time

from services.shared.catalog import changes, documents
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId
from tests.contract.catalog.building import (
    NOW,
    OTHER,
    SPACE,
    OnPurpose,
    at_once,
    break_off,
    draft,
    ingest,
    publish,
    save,
    submit,
)
from tests.contract.catalog.processes import publish_many


def test_every_step_of_a_document_is_a_change(catalog: Catalog) -> None:
    with catalog.write() as tx:
        assert changes.current_seq(tx, SPACE) == 0
        one = ingest(tx, content="one")
        two = ingest(tx, content="two")
        documents.remove(tx, SPACE, DocumentId("doc"), NOW)
        log = changes.since(tx, SPACE, 0)
        assert changes.current_seq(tx, SPACE) == 3
    assert [(c.seq, c.kind, c.version_id, c.old_version_id) for c in log] == [
        (1, "publish", one.version_id, None),
        (2, "publish", two.version_id, one.version_id),
        (3, "remove", None, two.version_id),
    ]


def test_spaces_count_for_themselves(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, "a")
        ingest(tx, "b", space=OTHER)
        ingest(tx, "c")
        assert [(c.seq, c.document_id) for c in changes.since(tx, SPACE, 0)] == [(1, "a"), (2, "c")]
        assert [(c.seq, c.document_id) for c in changes.since(tx, OTHER, 0)] == [(1, "b")]
        assert changes.current_seq(tx, OTHER) == 1


def test_the_log_is_read_on_in_pages(catalog: Catalog) -> None:
    with catalog.write() as tx:
        for n in range(7):
            ingest(tx, f"doc-{n}")
        assert [c.seq for c in changes.since(tx, SPACE, 0, limit=3)] == [1, 2, 3]
        assert [c.seq for c in changes.since(tx, SPACE, 3, limit=3)] == [4, 5, 6]
        assert [c.seq for c in changes.since(tx, SPACE, 6)] == [7]
        assert changes.since(tx, SPACE, 7) == []


def test_a_publication_that_rolled_back_leaves_no_gap(catalog: Catalog) -> None:
    with catalog.write() as tx:
        ingest(tx, "a")
    with contextlib.suppress(OnPurpose), catalog.write() as tx:
        ingest(tx, "b")
        break_off()
    with catalog.write() as tx:
        ingest(tx, "c")
        assert [(c.seq, c.document_id) for c in changes.since(tx, SPACE, 0)] == [(1, "a"), (2, "c")]


def test_a_reader_never_finds_a_change_behind_the_number_it_saw(catalog: Catalog, url: str) -> None:
    """Three processes publish; the reader's log may only ever grow at its end, by the next number."""
    context = multiprocessing.get_context("spawn")
    each, names = 25, ("a", "b", "c")
    gate = context.Barrier(len(names))
    writers = [context.Process(target=publish_many, args=(url, gate, name, each)) for name in names]
    for writer in writers:
        writer.start()
    seen: list[changes.Change] = []
    give_up = time.monotonic() + 120
    while len(seen) < each * len(names) and time.monotonic() < give_up:
        with catalog.read() as tx:
            number = changes.current_seq(tx, SPACE)
            log = changes.since(tx, SPACE, 0)
        assert [change.seq for change in log] == list(range(1, number + 1))
        assert log[: len(seen)] == seen
        seen = log
    for writer in writers:
        writer.join(timeout=60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(seen) == each * len(names)


def test_threads_that_publish_in_opposite_orders_all_finish(catalog: Catalog) -> None:
    drafts = [draft(f"doc-{n}", "again") for n in range(12)]
    with catalog.write() as tx:
        revisions = {sent.document_id: submit(tx, sent) for sent in drafts}
        for sent in drafts:
            save(tx, sent)

    def go_live(order: list[documents.Draft]) -> None:
        with catalog.write() as tx:
            for sent in order:
                publish(tx, sent, revisions[sent.document_id])

    at_once([lambda: go_live(drafts), lambda: go_live(drafts[::-1]), lambda: go_live(drafts[6:] + drafts[:6])])
    with catalog.read() as tx:
        assert [c.seq for c in changes.since(tx, SPACE, 0)] == list(range(1, 13))
