"""A BM25 index on disk."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Plus

from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.contracts.search import Filters
from services.shared.index import bm25_snapshot
from services.shared.index.bm25 import BM25Index


def library() -> BM25Index:
    index = BM25Index()
    index.add(ChunkId("c1"), ["ale", "ale", "bun"], document_id=DocumentId("d1"), type="faq", tags=["ré d", "x"])
    index.add(ChunkId("c2"), ["bun", "東京", "\ud800"], document_id=DocumentId("d2"))
    index.add(ChunkId("c3"), ["egg"], document_id=DocumentId("d2"))
    index.add(ChunkId("c4"), [], document_id=DocumentId("d3"))
    index.remove(ChunkId("c3"))
    return index


def test_what_is_loaded_answers_as_what_was_saved(tmp_path: Path) -> None:
    saved = library()
    saved.save(tmp_path / "new folder", index_id="i1", seq=7)
    got = BM25Index.load(tmp_path / "new folder", index_id="i1")
    assert got is not None
    loaded, seq = got
    assert (seq, len(loaded)) == (7, 3)
    for asked in (["ale"], ["bun", "egg"], ["東京"], ["\ud800"]):
        assert loaded.scores(asked) == saved.scores(asked)
    assert loaded.search(["bun"], 5, Filters(tags=["x"])) == saved.search(["bun"], 5, Filters(tags=["x"])) != []
    loaded.replace_document(DocumentId("d2"), [])
    loaded.add(ChunkId("c5"), ["ale"], document_id=DocumentId("d5"))
    assert {hit.chunk_id for hit in loaded.search(["ale", "bun"], 5)} == {"c1", "c5"}


def test_an_empty_index_can_be_saved(tmp_path: Path) -> None:
    BM25Index().save(tmp_path, index_id="i1", seq=1)
    got = BM25Index.load(tmp_path, index_id="i1")
    assert got is not None
    assert (len(got[0]), got[1]) == (0, 1)


def test_a_snapshot_of_something_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert BM25Index.load(tmp_path, index_id="i1") is None
    library().save(tmp_path, index_id="i1", seq=7)
    assert BM25Index.load(tmp_path, index_id="i2") is None
    monkeypatch.setattr(bm25_snapshot, "ANALYSER_VERSION", "another")
    assert BM25Index.load(tmp_path, index_id="i1") is None


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "text"])
def test_a_damaged_snapshot_is_not_used(tmp_path: Path, damage: str) -> None:
    library().save(tmp_path, index_id="i1", seq=7)
    path = tmp_path / bm25_snapshot.FILE
    whole = path.read_bytes()
    at = whole.index(b'"ale"')
    path.write_bytes(
        {
            "cut": whole[:-40],
            "empty": b"",
            "flipped": whole[:at] + b"X" + whole[at + 1 :],
            "text": b"not a snapshot",
        }[damage]
    )
    assert BM25Index.load(tmp_path, index_id="i1") is None


def test_a_new_snapshot_takes_the_old_ones_place(tmp_path: Path) -> None:
    library().save(tmp_path, index_id="i1", seq=7)
    library().save(tmp_path, index_id="i1", seq=8)
    got = BM25Index.load(tmp_path, index_id="i1")
    assert got is not None
    assert got[1] == 8
    assert [path.name for path in tmp_path.iterdir()] == [bm25_snapshot.FILE]


KILLED_WHILE_WRITING = """
import os, sys
from pathlib import Path
import numpy as np
from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.index.bm25 import BM25Index

def die(file, **arrays):
    file.write(b"PK half a file")
    file.flush()
    os.kill(os.getpid(), 9)

np.savez = die
index = BM25Index()
index.add(ChunkId("c9"), ["egg"], document_id=DocumentId("d9"))
index.save(Path(sys.argv[1]), index_id="i1", seq=8)
"""


def test_a_process_killed_while_writing_leaves_the_old_snapshot_and_its_litter_is_swept(tmp_path: Path) -> None:
    library().save(tmp_path, index_id="i1", seq=7)
    died = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path)], check=False)
    assert died.returncode == -signal.SIGKILL
    got = BM25Index.load(tmp_path, index_id="i1")
    assert got is not None
    assert (got[1], len(got[0])) == (7, 3)
    [litter] = [path for path in tmp_path.iterdir() if path.name != bm25_snapshot.FILE]
    with litter.open("rb") as another:
        # So it is while another process is still at it.
        fcntl.flock(another, fcntl.LOCK_EX)
        library().save(tmp_path, index_id="i1", seq=8)
        assert litter.exists()
    library().save(tmp_path, index_id="i1", seq=9)
    assert [path.name for path in tmp_path.iterdir()] == [bm25_snapshot.FILE]


@given(data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_saving_and_loading_at_any_moment_changes_no_score(tmp_path: Path, data: st.DataObject) -> None:
    texts = st.lists(st.sampled_from(["ale", "bun", "cod", "東"]), max_size=6)
    index, live = BM25Index(), dict[str, list[str]]()
    for _ in range(data.draw(st.integers(0, 12))):
        id, text = f"c{data.draw(st.integers(0, 5))}", data.draw(st.none() | texts)
        live.pop(id, None)
        if text is None:
            index.remove(ChunkId(id))
        else:
            index.add(ChunkId(id), text, document_id=DocumentId(f"d{id}"), tags=text)
            live[id] = text
        if data.draw(st.booleans()):
            index.save(tmp_path, index_id="i1", seq=1)
            loaded = BM25Index.load(tmp_path, index_id="i1")
            assert loaded is not None
            index = loaded[0]
    asked = ["ale", "東", "ale"]
    scores = (
        BM25Plus(list(live.values()), k1=index.k1, b=index.b, delta=0).get_scores(asked)
        if any(live.values())
        else np.zeros(len(live))
    )
    assert index.scores(asked) == pytest.approx(dict(zip(live, map(float, scores), strict=True)), abs=1e-9)
    with_bun = [hit.chunk_id for hit in index.search(asked, 9, Filters(tags=["bun"]))]
    assert set(with_bun) == {id for id, text in live.items() if "bun" in text and {"ale", "東"} & set(text)}


def test_writers_at_one_time_with_one_process_id_leave_a_readable_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two containers that share a volume; each believes that it is process 1.
    monkeypatch.setattr(os, "getpid", lambda: 1)
    failures: list[BaseException] = []

    def save(seq: int) -> None:
        try:
            for _ in range(30):
                library().save(tmp_path, index_id="i1", seq=seq)
                if BM25Index.load(tmp_path, index_id="i1") is None:
                    raise AssertionError("the snapshot cannot be read")
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=save, args=(n,)) for n in range(1, 5)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert failures == []
    assert [path.name for path in tmp_path.iterdir()] == [bm25_snapshot.FILE]


def test_a_writing_that_fails_leaves_the_old_snapshot_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library().save(tmp_path, index_id="i1", seq=7)

    def full(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space"):
        library().save(tmp_path, index_id="i1", seq=8)
    got = BM25Index.load(tmp_path, index_id="i1")
    assert got is not None
    assert got[1] == 7
    assert [path.name for path in tmp_path.iterdir()] == [bm25_snapshot.FILE]
