"""BM25 over an inverted index that changes in place: a query touches the postings of its own terms only.

A score is that of rank-bm25's ``BM25Plus`` with delta 0, over the live chunks alone. Its idf, log((N + 1) / df),
is above 0 even for a word that every chunk holds, so that a match counts in a collection of one; rank-bm25 adds
its delta to every text alike, which would change no order and only hide how little a text matches. Variant, k1
and b were chosen by ``benchmarks/bm25_variants.py``. Formula: Trotman, Puurula and Burgess, "Improvements to BM25
and Language Models Examined", 2014.
"""

import math
import threading
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.contracts.search import Filters
from services.shared.index import bm25_snapshot
from services.shared.index.filters import Wanted, wanted

K1 = 1.5
B = 0.75

COMPACT_AT = 1000
"""Removed chunks are swept out of the postings when they are this many and a quarter of all."""


@dataclass(frozen=True)
class Bm25Hit:
    """A chunk that holds at least one of the question's terms; its score is above 0."""

    chunk_id: ChunkId
    score: float


@dataclass(frozen=True)
class Bm25Chunk:
    """A chunk as the index takes it; the tokens are the analyser's."""

    chunk_id: ChunkId
    tokens: Sequence[str]
    document_id: DocumentId
    type: str | None = None
    tags: Sequence[str] = ()


class BM25Index:
    """The index of one space. Threads may search it while another changes it, and see each change whole."""

    def __init__(self, k1: float = K1, b: float = B) -> None:
        self.k1 = k1
        self.b = b
        self._lock = threading.RLock()
        self._restore(bm25_snapshot.EMPTY)

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, chunk_id: ChunkId) -> bool:
        return chunk_id in self._row_of

    def add(
        self,
        chunk_id: ChunkId,
        tokens: Sequence[str],
        *,
        document_id: DocumentId,
        type: str | None = None,
        tags: Sequence[str] = (),
    ) -> None:
        """Add a chunk, in place of the one with the same id if there is one."""
        counts = Counter(tokens)
        with self._lock:
            self.remove(chunk_id)
            row = len(self._chunks)
            self._place(row, bm25_snapshot.StoredChunk(chunk_id, document_id, type, sorted(set(tags))), len(tokens))
            postings = self._postings
            for token, count in counts.items():
                posting = postings.get(token)
                if posting is None:
                    posting = postings[token] = array("i")
                posting.append(row)
                posting.append(count)
            self._idf.clear()

    def remove(self, chunk_id: ChunkId) -> None:
        """Take a chunk out; one that is not there is no error."""
        with self._lock:
            row = self._row_of.pop(chunk_id, None)
            if row is None:
                return
            self._alive[row] = 0
            self._total_length -= self._lengths[row]
            rows = self._rows_of_document[self._chunks[row].document_id]
            rows.discard(row)
            if not rows:
                del self._rows_of_document[self._chunks[row].document_id]
            self._idf.clear()
            dead = len(self._chunks) - len(self._row_of)
            if dead >= COMPACT_AT and dead * 4 >= len(self._chunks):
                self._restore(self._live())

    def replace_document(self, document_id: DocumentId, chunks: Iterable[Bm25Chunk]) -> None:
        """Exchange all chunks of a document in one step; no chunks takes the document out."""
        with self._lock:
            # Ids first: a removal may number the rows anew.
            for old in [self._chunks[row].chunk_id for row in self._rows_of_document.get(document_id, ())]:
                self.remove(old)
            for chunk in chunks:
                self.add(chunk.chunk_id, chunk.tokens, document_id=chunk.document_id, type=chunk.type, tags=chunk.tags)

    def search(self, tokens: Sequence[str], k: int, filters: Filters | None = None) -> list[Bm25Hit]:
        """The ``k`` best chunks that hold any of the tokens and pass the filters, by (-score, chunk id)."""
        wish = wanted(filters)
        if k <= 0 or wish.nothing:
            return []
        with self._lock:
            rows, scores = self._scores(tokens)
            if not wish.everything:
                passed = self._passing(wish)[rows]
                rows, scores = rows[passed], scores[passed]
            if len(rows) > k:
                # All that tie with the k-th best stay in, so that the cut is made by chunk id and never by place.
                best = scores >= np.partition(scores, -k)[-k]
                rows, scores = rows[best], scores[best]
            hits = [Bm25Hit(self._chunks[row].chunk_id, float(score)) for row, score in zip(rows, scores, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def scores(self, tokens: Sequence[str]) -> dict[ChunkId, float]:
        """The score of every chunk, 0.0 for one without any of the tokens."""
        with self._lock:
            rows, scores = self._scores(tokens)
            found = dict.fromkeys(self._row_of, 0.0)
            found.update((self._chunks[row].chunk_id, float(score)) for row, score in zip(rows, scores, strict=True))
            return found

    def idf(self, token: str) -> float:
        """How telling a token is: log((N + 1) / df); 0.0 for one that no chunk holds, as in a score."""
        with self._lock:
            if token not in self._idf:
                rows, _ = self._posting(token)
                self._idf[token] = math.log((len(self) + 1) / len(rows)) if len(rows) else 0.0
            return self._idf[token]

    def coverage(self, question_tokens: Sequence[str], text_tokens: Sequence[str]) -> float:
        """The share, 0 to 1, of the question's distinct tokens that the text holds, each counting by its idf.

        A token that no chunk holds counts as one that a single chunk holds: a question is not covered by leaving
        out its strangest word. A question without tokens is covered by nothing.
        """
        highest = math.log(max(len(self), 1) + 1)
        weights = {token: self.idf(token) or highest for token in question_tokens}
        held = set(text_tokens)
        total = sum(weights.values())
        return sum(weight for token, weight in weights.items() if token in held) / total if total else 0.0

    def save(self, folder: Path, *, index_id: str, seq: int) -> None:
        """Write the live chunks to a folder, as of the catalog's change ``seq``; an old snapshot is replaced."""
        with self._lock:
            live = self._live()
        bm25_snapshot.write(folder, bm25_snapshot.header(index_id=index_id, seq=seq), live)

    @classmethod
    def load(cls, folder: Path, *, index_id: str, k1: float = K1, b: float = B) -> "tuple[BM25Index, int] | None":
        """The saved index and its ``seq``; None when there is none that this index id and analyser can use."""
        snapshot = bm25_snapshot.read(folder, index_id=index_id)
        if snapshot is None:
            return None
        seq, live = snapshot
        index = cls(k1, b)
        index._restore(live)
        return index, seq

    def _scores(self, tokens: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Rows that hold any of the tokens, ascending, and their scores."""
        # Both are pages of zeros that the system hands out unread; only the pages of touched rows are ever filled.
        total = np.zeros(len(self._chunks))
        touched = np.zeros(len(self._chunks), dtype=np.bool_)
        lengths = np.frombuffer(self._lengths, dtype=np.float64)
        for token, times in Counter(tokens).items():
            rows, counts = self._posting(token)
            if not len(rows):
                continue
            average = self._total_length / len(self)
            norm = self.k1 * (1 - self.b + self.b * lengths[rows] / average)
            total[rows] += times * self.idf(token) * (counts * (self.k1 + 1)) / (norm + counts)
            touched[rows] = True
        found = np.flatnonzero(touched)
        return found, total[found]

    def _posting(self, token: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Live rows that hold the token, and how often each does."""
        pairs = np.frombuffer(self._postings.get(token, b""), dtype=np.int32).reshape(-1, 2)
        if len(self._chunks) > len(self._row_of):
            pairs = pairs[np.frombuffer(self._alive, dtype=np.bool_)[pairs[:, 0]]]
        return pairs[:, 0], pairs[:, 1]

    def _passing(self, wish: Wanted) -> NDArray[np.bool_]:
        """Of each row: does it pass the filters? Dead rows may, as nothing asks about them."""
        passing = np.ones(len(self._chunks), dtype=np.bool_)
        if wish.types is not None:
            passing &= self._marked(self._rows_of_type.get(name, ()) for name in wish.types)
        if wish.documents is not None:
            passing &= self._marked(list(self._rows_of_document.get(DocumentId(id), ())) for id in wish.documents)
        for tag in wish.tags:
            passing &= self._marked([self._rows_of_tag.get(tag, ())])
        return passing

    def _marked(self, groups: Iterable[Sequence[int]]) -> NDArray[np.bool_]:
        marks = np.zeros(len(self._chunks), dtype=np.bool_)
        for rows in groups:
            marks[np.asarray(rows, dtype=np.intp)] = True
        return marks

    def _place(self, row: int, chunk: bm25_snapshot.StoredChunk, length: float) -> None:
        """Enter a chunk in every column except the postings."""
        self._chunks.append(chunk)
        self._row_of[chunk.chunk_id] = row
        self._lengths.append(length)
        self._alive.append(1)
        self._total_length += length
        self._rows_of_document.setdefault(chunk.document_id, set()).add(row)
        if chunk.type is not None:
            self._rows_of_type.setdefault(chunk.type, array("i")).append(row)
        for tag in chunk.tags:
            self._rows_of_tag.setdefault(tag, array("i")).append(row)

    def _live(self) -> bm25_snapshot.Stored:
        """The live chunks with their rows numbered anew, and their postings one after the other."""
        alive = np.frombuffer(self._alive, dtype=np.bool_)
        renumbered = np.cumsum(alive, dtype=np.int32) - 1
        sizes = np.array([len(posting) // 2 for posting in self._postings.values()], dtype=np.int64)
        pairs = np.frombuffer(b"".join(self._postings.values()), dtype=np.int32).reshape(-1, 2)
        kept = alive[pairs[:, 0]]
        term_of_pair = np.repeat(np.arange(len(sizes)), sizes)[kept]
        sizes = np.bincount(term_of_pair, minlength=len(sizes))
        return bm25_snapshot.Stored(
            chunks=[chunk for chunk, lives in zip(self._chunks, self._alive, strict=True) if lives],
            lengths=np.frombuffer(self._lengths, dtype=np.float64)[alive],
            terms=[term for term, size in zip(self._postings, sizes, strict=True) if size],
            sizes=sizes[sizes > 0],
            pairs=np.stack([renumbered[pairs[kept, 0]], pairs[kept, 1]], axis=1),
        )

    def _restore(self, stored: bm25_snapshot.Stored) -> None:
        """Begin anew with these chunks. A row is given once; what is removed stays in the columns, dead."""
        self._chunks: list[bm25_snapshot.StoredChunk] = []
        self._row_of: dict[ChunkId, int] = {}
        self._lengths = array("d")
        self._alive = bytearray()
        self._total_length = 0.0
        self._rows_of_document: dict[DocumentId, set[int]] = {}
        self._rows_of_type: dict[str, array[int]] = {}
        self._rows_of_tag: dict[str, array[int]] = {}
        for row, chunk in enumerate(stored.chunks):
            self._place(row, chunk, float(stored.lengths[row]))
        # Of each term: row, count, row, count …
        self._postings: dict[str, array[int]] = {}
        ends = np.cumsum(stored.sizes).tolist()
        for term, start, end in zip(stored.terms, [0, *ends], ends, strict=False):
            self._postings[term] = array("i", stored.pairs[start:end].tobytes())
        self._idf: dict[str, float] = {}
