"""A deleted document leaves nothing of its words in a snapshot, whoever deletes, follows or dies."""

import threading
from pathlib import Path
from typing import Any

import pytest

from services.shared.catalog import documents
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import DocumentId, VersionId
from services.shared.index import bm25_follow, bm25_snapshot
from services.shared.index.bm25 import BM25Index
from services.shared.index.bm25_follow import Bm25Follower, drop_outdated, saved_index

from .following import MAIN, NOW, hits, leave, make_index, publish, remove, saved_seq, wait_for


def removed(catalog: Catalog, id: str) -> list[VersionId]:
    with catalog.write() as tx:
        gone = documents.remove(tx, MAIN, DocumentId(id), NOW)
    assert gone is not None
    return gone.version_ids


def words(folder: Path) -> bytes:
    """Everything that lies there."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "bm25"


@pytest.fixture
def library(catalog: Catalog) -> Catalog:
    make_index(catalog, "i1")
    publish(catalog, "a", "The zebrafinch sings.", "A second zebrafinch chunk.")
    publish(catalog, "b", "The kettle is blue.")
    return catalog


def test_a_forgotten_version_is_counted_and_leaves_memory_and_disk(library: Catalog, folder: Path) -> None:
    leave(library, folder)
    assert b"zebrafinch" in words(folder)
    follower = Bm25Follower(library, MAIN, folder)
    assert hits(follower.current(), "zebrafinch") == 2
    assert follower.forget(removed(library, "a")) == 2
    assert b"zebrafinch" not in words(folder)
    assert hits(follower.current(), "zebrafinch") == 0
    follower.close()
    assert b"zebrafinch" not in words(folder)
    assert b"kettl" in words(folder), "the others are saved anew"


def test_chunks_count_that_a_search_took_out_first(library: Catalog, folder: Path) -> None:
    follower = Bm25Follower(library, MAIN, folder)
    follower.current()
    versions = removed(library, "a")
    assert hits(follower.current(), "zebrafinch") == 0
    assert (follower.forget(versions), follower.forget(versions)) == (2, 0)


def test_an_index_that_only_lies_on_disk_is_counted_too(library: Catalog, folder: Path) -> None:
    leave(library, folder)
    assert Bm25Follower(library, MAIN, folder).forget(removed(library, "a")) == 2
    assert b"zebrafinch" not in words(folder)


def test_nothing_is_made_where_nothing_was_held(
    library: Catalog, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bm25Follower, "_rebuilt", None)
    assert Bm25Follower(library, MAIN, folder).forget(removed(library, "a")) == 0


def test_what_stays_or_never_was_is_not_counted(library: Catalog, folder: Path) -> None:
    follower = Bm25Follower(library, MAIN, folder)
    follower.current()
    with library.read() as tx:
        live = documents.get(tx, MAIN, DocumentId("b"))
    assert live is not None
    assert follower.forget([live.version, VersionId("none")]) == 0
    assert hits(follower.current(), "kettle") == 1


def test_a_replica_that_nobody_told_drops_its_snapshot_at_its_next_search(library: Catalog, folder: Path) -> None:
    leave(library, folder)
    replica = Bm25Follower(library, MAIN, folder)
    replica.current()
    remove(library, "a")
    replica.current()
    assert b"zebrafinch" not in words(folder)


def test_a_deletion_while_a_snapshot_is_written_takes_that_one_away_too(
    library: Catalog, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, deleted = threading.Event(), threading.Event()
    write = bm25_snapshot.write

    def slowly(own: Path, header: Any, stored: Any) -> None:
        writing.set()
        assert deleted.wait(10)
        write(own, header, stored)

    monkeypatch.setattr(bm25_snapshot, "write", slowly)
    follower = Bm25Follower(library, MAIN, folder)
    follower.current()
    assert writing.wait(10)
    versions = removed(library, "a")
    deleted.set()
    wait_for(lambda: not follower._saving.locked())
    assert b"zebrafinch" not in words(folder)
    assert follower.forget(versions) == 2


def test_many_deletions_write_few_snapshots(library: Catalog, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(20):
        publish(library, f"d{n}", f"Number {n}.")
    follower = Bm25Follower(library, MAIN, folder)
    follower.current()
    wait_for(lambda: saved_seq_of(follower) > 0 and not follower._saving.locked())
    saves: list[int] = []
    save = BM25Index.save

    def counted(index: BM25Index, own: Path, *, index_id: str, seq: int) -> None:
        saves.append(seq)
        save(index, own, index_id=index_id, seq=seq)

    monkeypatch.setattr(BM25Index, "save", counted)
    for n in range(20):
        assert follower.forget(removed(library, f"d{n}")) == 1
    assert saves == []
    monkeypatch.setattr(bm25_follow, "SAVE_DROPPED_AFTER_S", 0)
    follower.current()
    wait_for(lambda: saved_seq_of(follower) == follower.seq)
    assert saves == [follower.seq]


def saved_seq_of(follower: Bm25Follower) -> int:
    return bm25_snapshot.reached(follower._folder) or 0


def test_a_start_takes_away_what_a_killed_process_could_not(library: Catalog, folder: Path) -> None:
    leave(library, folder)
    remove(library, "a")
    [own] = list(folder.iterdir())
    (own / f"{bm25_snapshot.FILE}.half").write_bytes(b"PK zebrafinch")
    drop_outdated(library, folder, [MAIN])
    assert words(folder) == b""


def test_who_only_looks_at_a_snapshot_leaves_none_behind(library: Catalog, folder: Path) -> None:
    assert saved_index(library, MAIN, folder) is None
    assert words(folder) == b""
    leave(library, folder)
    remove(library, "a")
    before = words(folder)
    index = saved_index(library, MAIN, folder)
    assert index is not None
    assert hits(index, "zebrafinch") == 0
    assert hits(index, "kettle") == 1
    assert words(folder) == before, "taking it away is for the retriever, whose it is"


def test_a_start_leaves_a_snapshot_that_is_only_behind(library: Catalog, folder: Path) -> None:
    leave(library, folder)
    publish(library, "c", "Something new.")
    before = words(folder)
    drop_outdated(library, folder, [MAIN])
    assert words(folder) == before


def test_a_start_takes_away_what_no_process_can_use(library: Catalog, folder: Path) -> None:
    leave(library, folder)
    [own] = list(folder.iterdir())
    (own / bm25_snapshot.FILE).write_bytes(b"PK zebrafinch")
    drop_outdated(library, folder, [MAIN])
    assert words(folder) == b""
    assert saved_seq(folder) == 0
