"""A BM25 index on disk: one file of NumPy arrays and JSON, written in one step and never trusted blindly."""

import json
import os
import tempfile
import zipfile
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.shared.contracts.ids import ChunkId, DocumentId
from services.shared.index.analyser import ANALYSER_VERSION

FILE = "bm25.npz"
FORMAT = 1
"""Rises when the arrays change their meaning."""


@dataclass(frozen=True)
class Header:
    """What a snapshot is a snapshot of."""

    format: int
    analyser: str
    index_id: str
    seq: int


@dataclass(frozen=True)
class StoredChunk:
    """What an index knows of a chunk beside its tokens."""

    chunk_id: ChunkId
    document_id: DocumentId
    type: str | None
    tags: list[str]


@dataclass(frozen=True)
class Stored:
    """An inverted index in flat columns.

    ``lengths[r]`` is the number of tokens of ``chunks[r]``; ``pairs`` are (row, count) of the first term, then
    those of the second …, ``sizes`` of them each.
    """

    chunks: list[StoredChunk]
    lengths: NDArray[np.float64]
    terms: list[str]
    sizes: NDArray[np.int64]
    pairs: NDArray[np.int32]


EMPTY = Stored([], np.zeros(0), [], np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int32))


def header(*, index_id: str, seq: int) -> Header:
    """The header of a snapshot that is written now."""
    return Header(FORMAT, ANALYSER_VERSION, index_id, seq)


def write(folder: Path, header: Header, stored: Stored) -> None:
    """Replace the folder's snapshot; a crash leaves the old one, and of several writers the last one counts."""
    folder.mkdir(parents=True, exist_ok=True)
    # A name of its own for each writing: processes in two containers may have one process id.
    handle, name = tempfile.mkstemp(prefix=f"{FILE}.", dir=folder)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                header=_json_bytes(asdict(header)),
                chunks=_json_bytes([astuple(chunk) for chunk in stored.chunks]),
                terms=_json_bytes(stored.terms),
                lengths=stored.lengths,
                sizes=stored.sizes,
                pairs=stored.pairs,
            )
        fresh.replace(folder / FILE)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def read(folder: Path, *, index_id: str) -> tuple[int, Stored] | None:
    """(seq, content) of the folder's snapshot; None when it is missing, damaged, or of something else."""
    try:
        with np.load(folder / FILE, allow_pickle=False) as file:
            found = Header(**_from_json_bytes(file["header"]))
            if found != header(index_id=index_id, seq=found.seq):
                return None
            stored = Stored(
                chunks=[StoredChunk(*columns) for columns in _from_json_bytes(file["chunks"])],
                lengths=file["lengths"],
                terms=_from_json_bytes(file["terms"]),
                sizes=file["sizes"],
                pairs=file["pairs"],
            )
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return found.seq, stored


def _json_bytes(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _from_json_bytes(value: NDArray[np.uint8]) -> Any:
    return json.loads(value.tobytes())
