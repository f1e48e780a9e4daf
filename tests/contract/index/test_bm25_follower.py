"""The BM25 index follows a real catalog in SQLite."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import event

from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.search import Filters
from services.shared.index import bm25_follow
from services.shared.index.analyser import question_tokens
from services.shared.index.bm25_follow import Bm25Follower

from .following import MAIN, OTHER, hits, publish, remove


@pytest.fixture
def follower(catalog: Catalog, tmp_path: Path) -> Bm25Follower:
    return Bm25Follower(catalog, MAIN, tmp_path / "bm25")


def test_it_sees_each_change_before_the_next_search(catalog: Catalog, follower: Bm25Follower) -> None:
    assert hits(follower.current(), "kettle") == 0
    publish(catalog, "a", "The kettle is blue.", "Kettles boil.", type="faq")
    assert hits(follower.current(), "kettle") == 2
    publish(catalog, "b", "No kettle here.")
    assert hits(follower.current(), "kettle") == 3
    assert hits(follower.current(), "kettle", Filters(type="faq")) == 2
    publish(catalog, "a", "The lift is red.")
    assert hits(follower.current(), "kettle") == 1
    assert hits(follower.current(), "lift") == 1
    remove(catalog, "a")
    remove(catalog, "b")
    assert len(follower.current()) == 0
    assert follower.seq == 5
    publish(catalog, "b", "A kettle again.")
    assert hits(follower.current(), "kettle") == 1


def test_several_changes_of_one_document_at_once(catalog: Catalog, follower: Bm25Follower) -> None:
    follower.current()
    publish(catalog, "a", "kettle one")
    publish(catalog, "a", "kettle two", "kettle three")
    remove(catalog, "a")
    publish(catalog, "a", "kettle four")
    assert hits(follower.current(), "kettle") == 1


def test_following_gives_what_a_rebuild_gives(
    catalog: Catalog, follower: Bm25Follower, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25_follow, "CHANGES_AT_ONCE", 3)
    follower.current()
    for n in range(12):
        publish(catalog, f"d{n % 5}", f"kettle number {n}", "shared words here")
    remove(catalog, "d3")
    rebuilt = Bm25Follower(catalog, MAIN, tmp_path / "elsewhere").current()
    asked = question_tokens("kettle words number 11")
    assert follower.current().scores(asked) == pytest.approx(rebuilt.scores(asked))
    assert follower.current().search(asked, 9) == pytest.approx(rebuilt.search(asked, 9))


def test_spaces_do_not_mix_also_on_disk(catalog: Catalog, tmp_path: Path) -> None:
    publish(catalog, "a", "kettle")
    publish(catalog, "a", "lift", space=OTHER)
    folder = tmp_path / "bm25"
    for _ in range(2):
        one, other = Bm25Follower(catalog, MAIN, folder), Bm25Follower(catalog, OTHER, folder)
        assert (hits(one.current(), "kettle"), hits(one.current(), "lift")) == (1, 0)
        assert (hits(other.current(), "kettle"), hits(other.current(), "lift")) == (0, 1)
    assert not (tmp_path / "other").exists()


def test_a_folder_that_cannot_be_written_does_not_stop_a_search(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    publish(catalog, "a", "The kettle is blue.")
    follower = Bm25Follower(catalog, MAIN, tmp_path / "file")
    assert hits(follower.current(), "kettle") == 1
    follower.close()
    publish(catalog, "b", "The kettle is red.")
    assert hits(follower.current(), "kettle") == 2
    follower.close()


def test_nothing_new_costs_one_query(catalog: Catalog, follower: Bm25Follower) -> None:
    publish(catalog, "a", "The kettle is blue.")
    follower.current()
    # Lets the work in the background end.
    follower.close()
    index = follower.current()
    statements: list[str] = []
    event.listen(catalog._engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    assert follower.current() is index
    assert len([statement for statement in statements if statement.lstrip().upper().startswith("SELECT")]) == 1


def test_many_threads_share_one_follower(catalog: Catalog, follower: Bm25Follower) -> None:
    failures: list[object] = []
    published = 0
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            before = published
            found = hits(follower.current(), "kettle")
            if found < before:
                failures.append((before, found))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(20):
        publish(catalog, f"d{n}", f"kettle {n}")
        published = n + 1
    stop.set()
    for thread in threads:
        thread.join(30)
    assert failures == []
    assert len(follower.current()) == 20


def test_a_catalog_that_is_not_there(tmp_path: Path) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(RagstoneError, match="catalog_unavailable"):
        Bm25Follower(catalog, MAIN, tmp_path).current()
    catalog.close()
