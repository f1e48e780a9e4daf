"""The BM25 index follows a real catalog in SQLite."""

import hashlib
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event

from services.shared.catalog import documents, indexes
from services.shared.catalog.documents import Draft, NewChunk, Published
from services.shared.catalog.engine import Catalog
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import DocumentId, IndexId, SpaceId
from services.shared.contracts.search import Filters
from services.shared.index import bm25_follow
from services.shared.index.analyser import question_tokens
from services.shared.index.bm25 import BM25Index
from services.shared.index.bm25_follow import Bm25Follower

MAIN, OTHER = SpaceId("main"), SpaceId("../other")
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def publish(catalog: Catalog, id: str, *texts: str, space: SpaceId = MAIN, type: str | None = None) -> None:
    content = "\n".join(texts)
    draft = Draft(
        document_id=DocumentId(id),
        blob_sha256=hashlib.sha256(content.encode()).hexdigest(),
        filename=None,
        media_type="text/plain",
        size_bytes=len(content),
        title=None,
        type=type,
        tags=None,
        source=None,
        metadata={},
        origin=None,
    )
    chunks = [NewChunk(n, text, 0, 0, len(text), "", "fact", text) for n, text in enumerate(texts)]
    with catalog.write() as tx:
        revision = documents.submit(tx, space, draft, NOW).revision
        assert revision is not None
        described: dict[str, Any] = {"title": id, "type": type, "tags": [], "source": None, "metadata": {}}
        version = documents.save_version(
            tx, space, draft, **described, language="en", text=content, chunks=chunks, now=NOW
        )
        assert isinstance(documents.publish(tx, space, draft.document_id, version, revision, NOW), Published)


def remove(catalog: Catalog, id: str) -> None:
    with catalog.write() as tx:
        assert documents.remove(tx, MAIN, DocumentId(id), NOW) is not None


def make_index(catalog: Catalog, id: str) -> None:
    with catalog.write() as tx:
        indexes.create(tx, MAIN, id=IndexId(id), embedder=EmbedderSpec("m", "r", 4, "", "", 9), now=NOW)


def hits(index: BM25Index, question: str, filters: Filters | None = None) -> int:
    return len(index.search(question_tokens(question), 100, filters))


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


def rebuilds(follower: Bm25Follower, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Records each rebuild of the follower."""
    seen: list[int] = []
    rebuild = follower._rebuild

    def recorded(tx: Connection, target: int) -> None:
        seen.append(target)
        rebuild(tx, target)

    monkeypatch.setattr(follower, "_rebuild", recorded)
    return seen


def test_a_start_uses_the_snapshot_and_catches_up(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_index(catalog, "i1")
    publish(catalog, "a", "The kettle is blue.")
    Bm25Follower(catalog, MAIN, tmp_path).current()
    publish(catalog, "b", "Another kettle.")
    restarted = Bm25Follower(catalog, MAIN, tmp_path)
    seen = rebuilds(restarted, monkeypatch)
    assert hits(restarted.current(), "kettle") == 2
    assert seen == []


@pytest.mark.parametrize("reason", ["other index", "ahead", "damaged", "gap"])
def test_a_snapshot_that_does_not_fit_is_built_anew(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    make_index(catalog, "i1")
    publish(catalog, "a", "The kettle is blue.")
    folder = Bm25Follower(catalog, MAIN, tmp_path)._folder
    wrong = BM25Index()
    if reason == "other index":
        wrong.save(folder, index_id="i0", seq=1)
    elif reason == "ahead":
        wrong.save(folder, index_id="i1", seq=9)
    elif reason == "gap":
        wrong.save(folder, index_id="i1", seq=0)
        with catalog.write() as tx:
            tx.exec_driver_sql("DELETE FROM changes")
    else:
        folder.mkdir(parents=True)
        (folder / "bm25.npz").write_bytes(b"PK broken")
    follower = Bm25Follower(catalog, MAIN, tmp_path)
    seen = rebuilds(follower, monkeypatch)
    assert hits(follower.current(), "kettle") == 1
    assert seen == [1]


def test_a_gap_after_the_snapshot_is_noticed(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_index(catalog, "i1")
    publish(catalog, "a", "The kettle is blue.")
    Bm25Follower(catalog, MAIN, tmp_path).current()
    publish(catalog, "b", "Another kettle.")
    publish(catalog, "c", "A third kettle.")
    with catalog.write() as tx:
        tx.exec_driver_sql("DELETE FROM changes WHERE seq = 2")
    restarted = Bm25Follower(catalog, MAIN, tmp_path)
    seen = rebuilds(restarted, monkeypatch)
    assert hits(restarted.current(), "kettle") == 3
    assert seen == [3]


def test_many_changes_are_saved(
    catalog: Catalog, follower: Bm25Follower, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25_follow, "SAVE_AFTER", 3)
    follower.current()
    for n in range(4):
        publish(catalog, f"d{n}", f"kettle {n}")
        follower.current()
    restarted = Bm25Follower(catalog, MAIN, tmp_path / "bm25")
    restarted.current()
    assert restarted._saved_seq == 3


def test_a_folder_that_cannot_be_written_does_not_stop_a_search(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    publish(catalog, "a", "The kettle is blue.")
    assert hits(Bm25Follower(catalog, MAIN, tmp_path / "file").current(), "kettle") == 1


def test_nothing_new_costs_one_query(catalog: Catalog, follower: Bm25Follower) -> None:
    publish(catalog, "a", "The kettle is blue.")
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
