"""Versions leave a collection counted, and the words of a document's description never were in Chroma."""

import socket
import time
from pathlib import Path

import pytest

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.contracts.ids import VersionId
from services.shared.contracts.search import Filters
from services.shared.index.chroma import VectorIndex
from services.shared.index.chroma_forget import VectorEraser

from .vectors import client, ids, item, row, rows


@pytest.fixture
def index(chroma_url: str) -> VectorIndex:
    return VectorIndex(chroma_url, row())


def test_what_is_forgotten_is_counted_and_gone(index: VectorIndex, chroma_url: str) -> None:
    index.upsert(
        [item("a-0", "a"), item("a-1", "a"), item("b-0", "b"), item("c-0", "c")],
        rows([1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]),
    )
    eraser = VectorEraser(chroma_url, timeout_s=5)
    named = [VersionId("a"), VersionId("b"), VersionId("never")]
    assert eraser.forget(index._index.collection, named) == 3
    assert eraser.forget(index._index.collection, named) == 0
    assert eraser.forget(index._index.collection, []) == 0
    assert index.versions() == {"c"}
    assert ids(index, [1, 0, 0, 0]) == ["c-0"]


def test_more_versions_and_chunks_than_one_request_takes(index: VectorIndex, chroma_url: str) -> None:
    items = [item(f"{v}-{n}", f"v{v}") for v in range(600) for n in range(10)]
    index.upsert(items, rows(*[[1.0, n, 0, 0] for n in range(len(items))]))
    versions = [VersionId(f"v{v}") for v in range(600)]
    assert VectorEraser(chroma_url, timeout_s=30).forget(index._index.collection, versions) == 6000
    assert index.count() == 0


def test_a_collection_that_is_not_there_held_nothing(chroma_url: str) -> None:
    assert VectorEraser(chroma_url, timeout_s=5).forget("ragstone-none", [VersionId("a")]) == 0


def test_a_server_that_hangs_or_is_away_is_said_in_time() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(RagstoneError) as refused:
            VectorEraser(url, timeout_s=0.5).forget("ragstone-x", [VersionId("a")])
        assert refused.value.code is ErrorCode.VECTOR_STORE_UNAVAILABLE
        assert time.monotonic() - began < 5
    with pytest.raises(RagstoneError):
        VectorEraser(url, timeout_s=0.5).forget("ragstone-x", [VersionId("a")])


def test_types_and_tags_are_not_stored_as_words(
    index: VectorIndex, chroma_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    word = f"zq{index._index.id}"
    index.upsert(
        [item("c1", type=word, tags=[word, "red"]), item("c2", tags=["red"])], rows([1, 0, 0, 0], [1, 1, 0, 0])
    )
    assert ids(index, [1, 0, 0, 0], filters=Filters(type=word)) == ["c1"]
    assert ids(index, [1, 0, 0, 0], filters=Filters(tags=["red", word])) == ["c1"]
    assert ids(index, [1, 0, 0, 0], filters=Filters(tags=["red"])) == ["c1", "c2"]
    [data] = tmp_path_factory.getbasetemp().glob("chroma[0-9]*/data")
    stored = [path for path in Path(data).rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    # The collection is named by the index's id, which the word was made of; the word itself stands nowhere.
    assert not stored


def test_what_an_earlier_release_stored_is_found_still(index: VectorIndex, chroma_url: str) -> None:
    index.upsert([item("c1")], rows([1, 0, 0, 0]))
    collection = client(chroma_url).get_collection(index._index.collection)
    collection.update(ids=["c1"], metadatas=[{"type": "faq", "tags": ["red"]}])
    assert ids(index, [1, 0, 0, 0], filters=Filters(type="faq", tags=["red"])) == ["c1"]
    assert ids(index, [1, 0, 0, 0], filters=Filters(type="faq", tags=["blue"])) == []
