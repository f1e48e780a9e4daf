"""A BM25 index on disk: one file of NumPy arrays and JSON, written in one step and never trusted blindly."""

import fcntl
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.shared.index.analyser import ANALYSER_VERSION
from services.shared.index.bm25_chunks import NO_CHUNKS, ChunkColumns, Description
from services.shared.index.bm25_postings import NO_POSTINGS, Flat

FILE = "bm25.npz"
FORMAT = 2
"""Rises when the arrays change their meaning."""


_UNREADABLE = (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile)
"""What NumPy raises for files that are none of ours, or damaged."""


@dataclass(frozen=True)
class Header:
    """What a snapshot is a snapshot of."""

    format: int
    analyser: str
    index_id: str
    seq: int


@dataclass(frozen=True)
class Stored:
    """An index of live chunks alone, in flat columns."""

    chunks: ChunkColumns
    postings: Flat


EMPTY = Stored(NO_CHUNKS, NO_POSTINGS)


def header(*, index_id: str, seq: int) -> Header:
    """The header of a snapshot that is written now."""
    return Header(FORMAT, ANALYSER_VERSION, index_id, seq)


def write(folder: Path, header: Header, stored: Stored) -> None:
    """Replace the folder's snapshot; a crash leaves the old one, and of several writers the last one counts."""
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    with _turn(folder):
        # A name of its own for each writing: processes in two containers may have one process id.
        handle, name = tempfile.mkstemp(prefix=f"{FILE}.", dir=folder)
        # Held while it is written, so that others can tell it from what a killed process left behind.
        fcntl.flock(handle, fcntl.LOCK_EX)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                header=_json_bytes(asdict(header)),
                ids=_json_bytes(stored.chunks.ids),
                lengths=stored.chunks.lengths,
                described=stored.chunks.described,
                descriptions=_json_bytes(stored.chunks.descriptions),
                terms=_json_bytes(stored.postings.terms),
                starts=stored.postings.starts,
                rows=stored.postings.rows,
                counts=stored.postings.counts,
            )
            file.flush()
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
            chunks = ChunkColumns(
                ids=_from_json_bytes(file["ids"]),
                lengths=file["lengths"],
                described=file["described"],
                descriptions=[
                    Description(document_id, type, tuple(tags))
                    for document_id, type, tags in _from_json_bytes(file["descriptions"])
                ],
            )
            postings = Flat(
                terms=_from_json_bytes(file["terms"]),
                starts=file["starts"],
                rows=file["rows"],
                counts=file["counts"],
            )
    except _UNREADABLE:
        return None
    return found.seq, Stored(chunks, postings)


def reached(folder: Path) -> int | None:
    """The change that the folder's snapshot is level with; None when there is none, or no process can use it."""
    try:
        with np.load(folder / FILE, allow_pickle=False) as file:
            found = Header(**_from_json_bytes(file["header"]))
    except _UNREADABLE:
        return None
    return found.seq if found == header(index_id=found.index_id, seq=found.seq) else None


def drop(folder: Path) -> None:
    """Take the folder's snapshot away, and what killed processes left of theirs."""
    with suppress(OSError):
        (folder / FILE).unlink(missing_ok=True)
    _sweep(folder)


def _sweep(folder: Path) -> None:
    """Take half-written files away that nobody writes any more."""
    with suppress(OSError), _turn(folder):
        for path in folder.glob(f"{FILE}.*"):
            with suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Nobody else begins a file in the folder, or looks for abandoned ones, meanwhile."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _json_bytes(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _from_json_bytes(value: NDArray[np.uint8]) -> Any:
    return json.loads(value.tobytes())
