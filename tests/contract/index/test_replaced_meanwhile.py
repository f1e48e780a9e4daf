"""A document that is replaced while it is looked for is found, in its old version or its new one."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from services.retriever.adapters.keywords import _matched
from services.shared.catalog.indexes import EmbedderSpec
from services.shared.contracts.ids import ChunkId, DocumentId, VersionId, chunk_id
from services.shared.contracts.search import Filters
from services.shared.index.analyser import chunk_tokens
from services.shared.index.bm25 import Bm25Chunk, Bm25Hit, BM25Index
from services.shared.index.chroma import VectorIndex, VectorItem
from services.shared.index.filtered import LiveVectors
from services.shared.index.filters import Wanted, wanted
from services.shared.index.live import Members

from .vectors import reader, row

WIDTH = 8
OLD, NEW, OTHER = (VersionId(letter * 32) for letter in "abc")
TALLY = DocumentId("tally")


def chunk(version: VersionId, number: int) -> Bm25Chunk:
    return Bm25Chunk(chunk_id(version, 0), chunk_tokens(f"The tally says {number} boats.", "en"), TALLY)


def test_what_a_word_covers_is_asked_of_the_index_that_was_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    index = BM25Index()
    index.replace_document(TALLY, [chunk(OLD, 1)])
    search = BM25Index.search

    def search_and_be_late(own: BM25Index, *words: Any) -> list[Bm25Hit]:
        found = search(own, *words)
        replacing = threading.Thread(target=own.replace_document, args=(TALLY, [chunk(NEW, 2)]))
        replacing.start()
        replacing.join(0.3)
        return found

    monkeypatch.setattr(BM25Index, "search", search_and_be_late)
    matched = _matched(index, "How many boats does the tally say?", 5, None, ())
    assert [hit.chunk_id for hit in matched.hits] == [chunk_id(OLD, 0)]
    assert matched.covered.share > 0.5


class Replaced:
    """Live versions of which one is replaced, with its vectors, after the first look."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index
        self._members = [Members({OLD: 1, OTHER: 1}, 2, 2), Members({NEW: 1, OTHER: 1}, 2, 2)]

    def passing(self, wish: Wanted) -> Members:
        members = self._members[0]
        if len(self._members) > 1:
            self._members.pop(0)
            self._index.upsert([item(NEW, "tally")], vectors(1))
            self._index.delete_versions([OLD])
        return members if wish.everything else Members({next(iter(members.versions)): 1}, 1, 2)


def item(version: VersionId, document: str) -> VectorItem:
    return VectorItem(chunk_id(version, 0), DocumentId(document), version, None, [], "fact")


def vectors(number: int) -> Any:
    return np.eye(number, WIDTH, dtype=np.float32)


def ids(hits: Sequence[Any]) -> list[ChunkId]:
    return [hit.chunk_id for hit in hits]


@pytest.mark.parametrize("wish", [Wanted(), wanted(Filters(document_id="tally"))])
def test_vectors_of_neither_version_are_looked_for_again(chroma_url: str, wish: Wanted) -> None:
    index = VectorIndex(chroma_url, row(EmbedderSpec("m", "r", WIDTH, "", "", 256)))
    index.upsert([item(OLD, "tally"), item(OTHER, "other")], vectors(2))
    search = LiveVectors(reader(index), Replaced(index))  # type: ignore[arg-type]
    (hits,) = search.query(vectors(1), 2, wish)
    assert ids(hits)[0] == chunk_id(NEW, 0)
