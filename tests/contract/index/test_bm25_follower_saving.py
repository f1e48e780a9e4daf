"""When a BM25 index is saved, what a start finds of it, and how it is tidied behind the questions."""

import threading
from pathlib import Path
from typing import Any

import pytest

from services.shared.catalog.engine import Catalog
from services.shared.index import bm25_follow, bm25_snapshot
from services.shared.index.bm25 import BM25Index
from services.shared.index.bm25_follow import Bm25Follower

from .following import MAIN, hits, leave, make_index, publish, rebuilds, saved_seq, wait_for


@pytest.fixture
def follower(catalog: Catalog, tmp_path: Path) -> Bm25Follower:
    return Bm25Follower(catalog, MAIN, tmp_path / "bm25")


def test_a_start_uses_the_snapshot_and_catches_up(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_index(catalog, "i1")
    publish(catalog, "a", "The kettle is blue.")
    leave(catalog, tmp_path)
    publish(catalog, "b", "Another kettle.")
    restarted = Bm25Follower(catalog, MAIN, tmp_path)
    seen = rebuilds(restarted, monkeypatch)
    assert hits(restarted.current(), "kettle") == 2
    assert seen == []


@pytest.mark.parametrize("reason", ["other space", "ahead", "damaged", "gap"])
def test_a_snapshot_that_does_not_fit_is_built_anew(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    make_index(catalog, "i1")
    publish(catalog, "a", "The kettle is blue.")
    folder = Bm25Follower(catalog, MAIN, tmp_path)._folder
    wrong = BM25Index()
    with catalog.read() as tx:
        own = bm25_follow._made_for(tx, MAIN)
    if reason == "other space":
        wrong.save(folder, index_id="2019-01-01T00:00:00+00:00", seq=1)
    elif reason == "ahead":
        wrong.save(folder, index_id=own, seq=9)
    elif reason == "gap":
        wrong.save(folder, index_id=own, seq=0)
        with catalog.write() as tx:
            tx.exec_driver_sql("DELETE FROM changes")
    else:
        folder.mkdir(parents=True)
        (folder / "bm25.npz").write_bytes(b"PK broken")
    follower = Bm25Follower(catalog, MAIN, tmp_path)
    seen = rebuilds(follower, monkeypatch)
    assert hits(follower.current(), "kettle") == 1
    assert seen == [1]


def test_another_index_of_vectors_serves_with_the_same_words(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_index(catalog, "i1")
    publish(catalog, "a", "The kettle is blue.")
    leave(catalog, tmp_path)
    follower = Bm25Follower(catalog, MAIN, tmp_path)
    seen = rebuilds(follower, monkeypatch)
    follower.current()
    with catalog.write() as tx:
        tx.exec_driver_sql("UPDATE indexes SET id = 'i2', collection = 'ragstone-i2'")
    publish(catalog, "b", "Another kettle.")
    assert hits(follower.current(), "kettle") == 2
    assert seen == []


def test_a_gap_after_the_snapshot_is_noticed(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_index(catalog, "i1")
    publish(catalog, "a", "The kettle is blue.")
    leave(catalog, tmp_path)
    publish(catalog, "b", "Another kettle.")
    publish(catalog, "c", "A third kettle.")
    with catalog.write() as tx:
        tx.exec_driver_sql("DELETE FROM changes WHERE seq = 2")
    restarted = Bm25Follower(catalog, MAIN, tmp_path)
    seen = rebuilds(restarted, monkeypatch)
    assert hits(restarted.current(), "kettle") == 3
    assert seen == [3]


def test_many_changes_are_saved(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25_follow, "SAVE_AFTER", 3)
    folder = tmp_path / "bm25"
    publish(catalog, "d", "kettle")
    leave(catalog, folder)
    follower = Bm25Follower(catalog, MAIN, folder)
    for n in range(2, 6):
        publish(catalog, f"d{n}", f"kettle {n}")
        follower.current()
        if n == 4:
            wait_for(lambda: saved_seq(folder) == 4)
    assert follower.seq == 5
    assert saved_seq(folder) == 4


def test_few_changes_are_saved_after_a_while_and_at_the_end(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(catalog, "a", "kettle")
    leave(catalog, tmp_path / "bm25")
    follower = Bm25Follower(catalog, MAIN, tmp_path / "bm25")
    publish(catalog, "b", "kettle")
    follower.current()
    assert saved_seq(tmp_path / "bm25") == 1
    monkeypatch.setattr(bm25_follow, "SAVE_AFTER_S", 0.0)
    follower.current()
    wait_for(lambda: saved_seq(tmp_path / "bm25") == 2)
    monkeypatch.undo()
    publish(catalog, "c", "kettle")
    follower.current()
    assert saved_seq(tmp_path / "bm25") == 2
    follower.close()
    assert saved_seq(tmp_path / "bm25") == 3


def test_no_question_waits_for_a_snapshot(
    catalog: Catalog, follower: Bm25Follower, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, go_on, written = threading.Event(), threading.Event(), []
    write = bm25_snapshot.write

    def slow(*args: Any) -> None:
        writing.set()
        assert go_on.wait(10)
        write(*args)
        written.append(args)

    monkeypatch.setattr(bm25_snapshot, "write", slow)
    monkeypatch.setattr(bm25_follow, "SAVE_AFTER", 1)
    publish(catalog, "a", "kettle")
    follower.current()
    assert writing.wait(10)
    publish(catalog, "b", "kettle")
    assert hits(follower.current(), "kettle") == 2
    go_on.set()
    # Whoever stops waits for the one under way and adds what is new.
    follower.close()
    assert len(written) == 2
    assert saved_seq(tmp_path / "bm25") == 2


def test_an_index_is_tidied_behind_the_questions(catalog: Catalog, follower: Bm25Follower) -> None:
    for n in range(3):
        publish(catalog, "a", f"kettle {n}", "lift")
    built = follower.current()
    assert built.untidy
    wait_for(lambda: follower.current() is not built)
    tidied = follower.current()
    assert not tidied.untidy
    assert (hits(tidied, "kettle"), hits(tidied, "lift"), follower.seq) == (1, 1, 3)
    publish(catalog, "b", "kettle")
    assert hits(follower.current(), "kettle") == 2
    assert follower.current() is tidied


def test_a_change_during_tidying_is_not_lost(
    catalog: Catalog, follower: Bm25Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25_follow, "SAVE_AFTER", 1)
    tidied = BM25Index.tidied
    done = threading.Event()

    def disturbed(index: BM25Index) -> BM25Index:
        copy = tidied(index)
        publish(catalog, "a", "kettle", "kettle")
        publish(catalog, "b", "kettle")
        follower.current()
        monkeypatch.setattr(BM25Index, "tidied", tidied)
        done.set()
        return copy

    monkeypatch.setattr(BM25Index, "tidied", disturbed)
    publish(catalog, "a", "kettle")
    first = follower.current()
    assert done.wait(10)
    wait_for(lambda: follower.current() is not first)
    assert hits(follower.current(), "kettle") == 3
