"""Which chunks hold which term how often: one long array for all terms, and small appendices for what came since."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]


@dataclass(frozen=True)
class Flat:
    """Postings in flat columns: those of ``terms[n]`` lie from ``starts[n]`` to ``starts[n + 1]``, rows ascending.

    ``counts`` has the smallest unsigned type that holds them all.
    """

    terms: list[str]
    starts: NDArray[np.int64]
    rows: Rows
    counts: NDArray[np.unsignedinteger]


NO_POSTINGS = Flat([], np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint8))


@dataclass(frozen=True)
class Frozen:
    """The postings at one moment, not yet one array; ``late`` holds rows and counts of 32 bits each."""

    numbers: Mapping[str, int]
    base: Flat
    late: dict[str, tuple[bytes, bytes]]


class Postings:
    """Rows are only ever appended, each higher than all before it; the caller knows which of them are alive."""

    def __init__(self, base: Flat = NO_POSTINGS) -> None:
        self._base = base
        self._number_of = {term: number for number, term in enumerate(base.terms)}
        self._late: dict[str, tuple[array[int], array[int]]] = {}
        self._late_size = 0

    @property
    def mostly_late(self) -> bool:
        """Is more than a quarter of the postings in appendices, which cost more to keep and to read?"""
        return self._late_size * 4 > self._late_size + len(self._base.rows)

    def append(self, row: int, counts: Mapping[str, int]) -> None:
        """Enter a row under each of its terms."""
        late = self._late
        for term, count in counts.items():
            posting = late.get(term)
            if posting is None:
                posting = late[term] = (array("i"), array("i"))
            posting[0].append(row)
            posting[1].append(count)
        self._late_size += len(counts)

    def of(self, term: str) -> tuple[Rows, NDArray[np.integer]]:
        """The rows that hold the term, ascending, and how often each does."""
        rows, counts = self._of_base(term)
        late = self._late.get(term)
        if late is None:
            return rows, counts
        # Copies, as an array that is looked into cannot grow.
        late_rows, late_counts = np.array(late[0], dtype=np.int32), np.array(late[1], dtype=np.int32)
        if not len(rows):
            return late_rows, late_counts
        return np.concatenate((rows, late_rows)), np.concatenate((counts, late_counts))

    def freeze(self) -> Frozen:
        """What ``merged`` needs, copied as far as it may change."""
        late = {term: (rows.tobytes(), counts.tobytes()) for term, (rows, counts) in self._late.items()}
        return Frozen(self._number_of, self._base, late)

    def _of_base(self, term: str) -> tuple[Rows, NDArray[np.integer]]:
        number = self._number_of.get(term)
        if number is None:
            return NO_POSTINGS.rows, NO_POSTINGS.counts
        start, end = self._base.starts[number], self._base.starts[number + 1]
        return self._base.rows[start:end], self._base.counts[start:end]


def merged(frozen: Frozen, alive: NDArray[np.bool_]) -> Flat:
    """One array of the live rows, which are numbered anew, in the order that they had."""
    flat = _with_late(frozen) if frozen.late else frozen.base
    if alive.all():
        return flat
    kept = alive[flat.rows]
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(kept, dtype=np.int64)))[flat.starts]
    held = np.diff(starts) > 0
    renumbered = np.cumsum(alive, dtype=np.int32) - np.int32(1)
    return Flat(
        terms=[term for term, any_left in zip(flat.terms, held.tolist(), strict=True) if any_left],
        # A term without rows begins where the next one does.
        starts=np.append(starts[:-1][held], starts[-1]),
        rows=renumbered[flat.rows[kept]],
        counts=flat.counts[kept],
    )


def _with_late(frozen: Frozen) -> Flat:
    base, number_of = frozen.base, frozen.numbers
    known = len(base.terms)
    # New terms come after the known ones, in the order that they came in.
    ordered = sorted(frozen.late, key=lambda term: number_of.get(term, known))
    new = [term for term in ordered if term not in number_of]
    late = [frozen.late[term] for term in ordered]
    late_rows = np.frombuffer(b"".join(rows for rows, _ in late), dtype=np.int32)
    late_counts = np.frombuffer(b"".join(counts for _, counts in late), dtype=np.int32)
    sizes = np.array([len(rows) // late_rows.itemsize for rows, _ in late], dtype=np.int64)
    numbers = np.concatenate(
        (
            np.array([number_of[term] for term in ordered[: len(ordered) - len(new)]], dtype=np.int64),
            np.arange(known, known + len(new), dtype=np.int64),
        )
    )
    total = np.zeros(known + len(new), dtype=np.int64)
    total[:known] = np.diff(base.starts)
    ends = np.cumsum(total)
    places = np.repeat(ends[numbers], sizes)
    total[numbers] += sizes
    counts = np.insert(base.counts.astype(np.int32), places, late_counts)
    return Flat(
        terms=base.terms + new,
        starts=np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(total))),
        rows=np.insert(base.rows, places, late_rows),
        counts=counts.astype(np.min_scalar_type(counts.max(initial=0))),
    )
