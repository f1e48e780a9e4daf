"""What a BM25 index knows of its chunks beside their terms, in columns: a chunk is a row."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.index.filters import Wanted


class Description(NamedTuple):
    """What filters ask about; the chunks of a version share one."""

    document_id: DocumentId
    type: str | None
    tags: tuple[str, ...]


@dataclass(frozen=True)
class ChunkColumns:
    """Live chunks: ``lengths[r]`` tokens in ``ids[r]``, described by ``descriptions[described[r]]``."""

    ids: list[ChunkId]
    lengths: NDArray[np.int32]
    described: NDArray[np.int32]
    descriptions: list[Description]


NO_CHUNKS = ChunkColumns([], np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32), [])


@dataclass(frozen=True)
class FrozenChunks:
    """The columns at one moment, dead rows and all."""

    ids: list[ChunkId]
    alive: NDArray[np.bool_]
    lengths: NDArray[np.int32]
    described: NDArray[np.int32]
    descriptions: list[Description]


class Chunks:
    """A row is given once; what is removed stays in the columns, dead."""

    def __init__(self, columns: ChunkColumns = NO_CHUNKS) -> None:
        self.ids = list(columns.ids)
        self.row_of = {id: row for row, id in enumerate(self.ids)}
        self.alive = bytearray(b"\x01") * len(self.ids)
        self.lengths = _column(columns.lengths)
        self.total_length = int(columns.lengths.sum(dtype=np.int64))
        self._described = _column(columns.described)
        self._descriptions: list[Description] = []
        self._number_of: dict[Description, int] = {}
        self._of_document: dict[str, list[int]] = {}
        self._of_type: dict[str, list[int]] = {}
        self._of_tag: dict[str, list[int]] = {}
        for description in columns.descriptions:
            self._number(description)

    def __len__(self) -> int:
        """How many rows there are, dead ones too."""
        return len(self.ids)

    @property
    def dead(self) -> int:
        """How many rows are dead."""
        return len(self.ids) - len(self.row_of)

    def append(self, id: ChunkId, length: int, description: Description) -> int:
        """Enter a chunk whose id is not there; its row."""
        row = len(self.ids)
        self.ids.append(id)
        self.row_of[id] = row
        self.alive.append(1)
        self.lengths.append(length)
        self.total_length += length
        self._described.append(self._number(description))
        return row

    def remove(self, id: ChunkId) -> bool:
        """Mark a chunk as dead; False when there is none of this id."""
        row = self.row_of.pop(id, None)
        if row is None:
            return False
        self.alive[row] = 0
        self.total_length -= self.lengths[row]
        return True

    def of_document(self, document_id: DocumentId) -> list[ChunkId]:
        """The live chunks of a document."""
        described, living = np.frombuffer(self._described, dtype=np.int32), self.living()
        its = (np.flatnonzero((described == number) & living) for number in self._of_document.get(document_id, ()))
        return [self.ids[row] for rows in its for row in rows]

    def living(self) -> NDArray[np.bool_]:
        """Of each row: is it alive? A view, which must be let go of before the next chunk is entered."""
        return np.frombuffer(self.alive, dtype=np.bool_)

    def passing(self, wish: Wanted) -> NDArray[np.bool_]:
        """Of each row: does it pass the filters? Dead rows may."""
        passing = np.ones(len(self._descriptions), dtype=np.bool_)
        if wish.types is not None:
            passing &= self._marked(self._of_type.get(name, ()) for name in wish.types)
        if wish.documents is not None:
            passing &= self._marked(self._of_document.get(id, ()) for id in wish.documents)
        for tag in wish.tags:
            passing &= self._marked([self._of_tag.get(tag, ())])
        return passing[np.frombuffer(self._described, dtype=np.int32)]

    def freeze(self) -> FrozenChunks:
        """A copy that nothing changes any more."""
        return FrozenChunks(
            list(self.ids),
            self.living().copy(),
            np.array(self.lengths, dtype=np.int32),
            np.array(self._described, dtype=np.int32),
            list(self._descriptions),
        )

    def _marked(self, groups: Iterable[Sequence[int]]) -> NDArray[np.bool_]:
        marks = np.zeros(len(self._descriptions), dtype=np.bool_)
        for numbers in groups:
            marks[np.asarray(numbers, dtype=np.intp)] = True
        return marks

    def _number(self, description: Description) -> int:
        number = self._number_of.get(description)
        if number is None:
            number = self._number_of[description] = len(self._descriptions)
            self._descriptions.append(description)
            self._of_document.setdefault(description.document_id, []).append(number)
            if description.type is not None:
                self._of_type.setdefault(description.type, []).append(number)
            for tag in description.tags:
                self._of_tag.setdefault(tag, []).append(number)
        return number


def live_columns(frozen: FrozenChunks) -> ChunkColumns:
    """The live chunks alone, with the descriptions that they use."""
    if frozen.alive.all():
        ids = frozen.ids
    else:
        ids = [id for id, lives in zip(frozen.ids, frozen.alive.tolist(), strict=True) if lives]
    used, described = np.unique(frozen.described[frozen.alive], return_inverse=True)
    return ChunkColumns(
        ids=ids,
        lengths=frozen.lengths[frozen.alive],
        described=described.astype(np.int32),
        descriptions=[frozen.descriptions[number] for number in used],
    )


def _column(values: NDArray[np.int32]) -> "array[int]":
    column = array("i")
    column.frombytes(values.tobytes())
    return column
