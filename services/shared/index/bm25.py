"""BM25 over an inverted index that changes in place: a query touches the postings of its own terms only.

A score is that of rank-bm25's ``BM25Plus`` with delta 0, over the live chunks alone. Its idf, log((N + 1) / df),
is above 0 even for a word that every chunk holds, so that a match counts in a collection of one; rank-bm25 adds
its delta to every text alike, which would change no order and only hide how little a text matches. Variant, k1
and b were chosen by ``benchmarks/bm25_variants.py``. Formula: Trotman, Puurula and Burgess, "Improvements to BM25
and Language Models Examined", 2014.
"""

import math
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.contracts.search import Filters
from services.shared.index import bm25_snapshot
from services.shared.index.bm25_chunks import Chunks, Description, live_columns
from services.shared.index.bm25_postings import Postings, Rows, merged
from services.shared.index.filters import wanted

K1 = 1.5
B = 0.75

KEPT_BYTES = 64_000_000
"""What the parts of scores that were worked out since the last change may take in memory."""

KEPT_OVERHEAD = 500
"""Bytes that a term's parts take beside their numbers."""

GROUP = 64
"""Rows of which one stands for all when the best are looked for."""

LEAST = 5e-324
"""The smallest number above 0."""

UNTIDY = 1000
"""Fewer dead rows than this are not worth a sweep."""

Parts = tuple[Rows, NDArray[np.float64]]


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
    """The index of one space. Threads may search it while another changes it, and see each change whole. Nothing is
    ever swept out of it: whoever keeps one for long looks at ``untidy`` and goes on with a ``tidied`` one."""

    def __init__(self, k1: float = K1, b: float = B) -> None:
        self.k1 = k1
        self.b = b
        self._lock = self.steady = threading.RLock()
        """Nothing changes while it is held, so that what several calls say goes together."""
        self._room: NDArray[np.float64] = np.empty(0)
        self._begin(bm25_snapshot.EMPTY)

    def __len__(self) -> int:
        return len(self._chunks.row_of)

    def __contains__(self, chunk_id: ChunkId) -> bool:
        return chunk_id in self._chunks.row_of

    @property
    def untidy(self) -> bool:
        """Are a quarter of the rows dead, or of the postings scattered, so that a tidied copy is worth its time?"""
        dead = self._chunks.dead
        return self._postings.mostly_late or (dead >= UNTIDY and dead * 4 >= len(self._chunks))

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
        described = Description(document_id, type, tuple(sorted(set(tags))))
        with self._lock:
            self._chunks.remove(chunk_id)
            self._postings.append(self._chunks.append(chunk_id, len(tokens), described), counts)
            self._forget()

    def remove(self, chunk_id: ChunkId) -> None:
        """Take a chunk out; one that is not there is no error."""
        with self._lock:
            if self._chunks.remove(chunk_id):
                self._forget()

    def replace_document(self, document_id: DocumentId, chunks: Iterable[Bm25Chunk]) -> None:
        """Exchange all chunks of a document in one step; no chunks takes the document out."""
        with self._lock:
            for old in self._chunks.of_document(document_id):
                self.remove(old)
            for chunk in chunks:
                self.add(chunk.chunk_id, chunk.tokens, document_id=chunk.document_id, type=chunk.type, tags=chunk.tags)

    def search(
        self,
        tokens: Sequence[str],
        k: int,
        filters: Filters | None = None,
        without: Collection[ChunkId] = (),
    ) -> list[Bm25Hit]:
        """The ``k`` best chunks that hold any of the tokens and pass the filters, by (-score, chunk id).

        Neither filters nor ``without`` change a score: they say which of the chunks may be among the ``k``.
        """
        wish = wanted(filters)
        if k <= 0 or wish.nothing:
            return []
        with self._lock:
            total = self._sum(tokens)
            if not wish.everything:
                total *= self._chunks.passing(wish)
            left_out = [self._chunks.row_of[id] for id in without if id in self._chunks.row_of]
            total[left_out] = 0
            rows = _best(total, k)
            hits = [Bm25Hit(self._chunks.ids[row], float(total[row])) for row in rows]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def scores(self, tokens: Sequence[str]) -> dict[ChunkId, float]:
        """The score of every chunk, 0.0 for one without any of the tokens."""
        with self._lock:
            total = self._sum(tokens)
            return {id: float(total[row]) for id, row in self._chunks.row_of.items()}

    def idf(self, token: str) -> float:
        """How telling a token is: log((N + 1) / df); 0.0 for one that no chunk holds, as in a score."""
        with self._lock:
            if token not in self._idf:
                self._settle_idf(token, self._postings.of(token)[0])
            return self._idf[token]

    def coverage(self, question_tokens: Sequence[str], text_tokens: Sequence[str]) -> float:
        """The share, 0 to 1, of the question's distinct tokens that the text holds, each counting by its idf.

        A token that no chunk holds counts as one that a single chunk holds: a question is not covered by leaving
        out its strangest word. A question without tokens is covered by nothing.
        """
        weights = self._weights(question_tokens)
        held = set(text_tokens)
        total = sum(weights.values())
        return sum(weight for token, weight in weights.items() if token in held) / total if total else 0.0

    def coverage_of_chunks(self, question_tokens: Sequence[str], chunk_ids: Sequence[ChunkId]) -> list[float | None]:
        """``coverage`` by each of these chunks, read from the index; None for a chunk that it does not hold.

        Costs microseconds where analysing the chunk's text again costs a millisecond.
        """
        with self._lock:
            weights = self._weights(question_tokens)
            total = sum(weights.values())
            rows = np.array([self._chunks.row_of.get(id, -1) for id in chunk_ids], dtype=np.int32)
            shares = np.zeros(len(rows))
            for token, weight in weights.items():
                posting, _ = self._postings.of(token)
                if len(posting):
                    places = np.searchsorted(posting, rows).clip(max=len(posting) - 1)
                    shares[posting[places] == rows] += weight / total
        return [None if row < 0 else min(share, 1.0) for row, share in zip(rows, shares.tolist(), strict=True)]

    def live(self) -> bm25_snapshot.Stored:
        """The live chunks in flat columns. Searches and changes wait for the copying alone, not for the sorting."""
        with self._lock:
            chunks, postings = self._chunks.freeze(), self._postings.freeze()
        return bm25_snapshot.Stored(live_columns(chunks), merged(postings, chunks.alive))

    def tidied(self) -> "BM25Index":
        """A copy without dead rows, its postings in one piece; changes of the one are not seen by the other."""
        index = BM25Index(self.k1, self.b)
        index._begin(self.live())
        return index

    def save(self, folder: Path, *, index_id: str, seq: int) -> None:
        """Write the live chunks to a folder, as of the catalog's change ``seq``; an old snapshot is replaced."""
        bm25_snapshot.write(folder, bm25_snapshot.header(index_id=index_id, seq=seq), self.live())

    @classmethod
    def load(cls, folder: Path, *, index_id: str, k1: float = K1, b: float = B) -> "tuple[BM25Index, int] | None":
        """The saved index and its ``seq``; None when there is none that this index id and analyser can use."""
        snapshot = bm25_snapshot.read(folder, index_id=index_id)
        if snapshot is None:
            return None
        seq, live = snapshot
        index = cls(k1, b)
        index._begin(live)
        return index, seq

    def _begin(self, stored: bm25_snapshot.Stored) -> None:
        self._chunks = Chunks(stored.chunks)
        self._postings = Postings(stored.postings)
        self._forget()

    def _forget(self) -> None:
        """Let go of all that follows from how many chunks there are and how long they are."""
        self._idf: dict[str, float] = {}
        self._kept: dict[str, Parts] = {}
        self._kept_bytes = 0
        self._norm: NDArray[np.float64] | None = None

    def _sum(self, tokens: Sequence[str]) -> NDArray[np.float64]:
        """The score of every row, 0 for a dead one: a view that holds until the next call, under the lock."""
        if len(self._room) < len(self._chunks):
            self._room = np.empty(len(self._chunks) * 5 // 4)
        total = self._room[: len(self._chunks)]
        total.fill(0)
        for token, times in Counter(tokens).items():
            rows, parts = self._parts(token)
            # Three times as quick as total[rows] += parts.
            np.add.at(total, rows, parts if times == 1 else times * parts)
        if self._chunks.dead:
            total *= self._chunks.living()
        return total

    def _parts(self, token: str) -> Parts:
        """What the token adds to the scores, and of which rows: worked out once between two changes."""
        kept = self._kept.get(token)
        if kept is None:
            kept = self._worked_out(token)
            size = kept[0].nbytes + kept[1].nbytes + KEPT_OVERHEAD
            if self._kept_bytes + size > KEPT_BYTES:
                self._kept.clear()
                self._kept_bytes = 0
            self._kept[token] = kept
            self._kept_bytes += size
        return kept

    def _worked_out(self, token: str) -> Parts:
        rows, counts = self._postings.of(token)
        if token not in self._idf:
            self._settle_idf(token, rows)
        if not self._idf[token]:
            return rows[:0], np.zeros(0)
        if self._norm is None:
            self._norm = self._norms()
        parts = counts.astype(np.float64)
        # take is three times as quick as [rows].
        np.divide(parts, self._norm.take(rows) + parts, out=parts)
        parts *= self._idf[token] * (self.k1 + 1)
        return rows, parts

    def _settle_idf(self, token: str, rows: Rows) -> None:
        frequency = np.count_nonzero(self._chunks.living().take(rows)) if self._chunks.dead else len(rows)
        self._idf[token] = math.log((len(self) + 1) / frequency) if frequency else 0.0

    def _norms(self) -> NDArray[np.float64]:
        """Of each row: what its length puts against the count of a term."""
        norms = np.array(self._chunks.lengths, dtype=np.float64)
        norms *= self.k1 * self.b * len(self) / self._chunks.total_length
        norms += self.k1 * (1 - self.b)
        return norms

    def _weights(self, question_tokens: Sequence[str]) -> dict[str, float]:
        with self._lock:
            highest = math.log(max(len(self), 1) + 1)
            return {token: self.idf(token) or highest for token in question_tokens}


def _best(total: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """Rows of the ``k`` highest scores above 0, and of all that tie with the last, which chunk ids then decide."""
    groups = len(total) // GROUP
    grouped = total[: groups * GROUP].reshape(GROUP, groups)
    highest = grouped.max(axis=0, initial=0.0)
    # The highest of each group: k groups reach the k-th of them, so k rows do, and no lower row is among the best.
    bound = float(np.partition(highest, groups - k)[groups - k]) if groups >= k else 0.0
    bound = max(bound, LEAST)
    promising = np.flatnonzero(highest >= bound)
    within, group = np.nonzero(grouped[:, promising] >= bound)
    rest = np.flatnonzero(total[groups * GROUP :] >= bound)
    rows = np.concatenate((within * groups + promising[group], rest + groups * GROUP))
    if len(rows) > k:
        scores = total[rows]
        rows = rows[scores >= np.partition(scores, -k)[-k]]
    return rows
