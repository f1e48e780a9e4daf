"""A BM25 index on disk: one file of NumPy arrays and JSON, written in one step and never trusted blindly."""

import json
import os
import tempfile
import time
import zipfile
from contextlib import suppress
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

LITTER_AFTER_S = 3600
"""A half-written file of this age belongs to a process that was killed."""


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
    # A name of its own for each writing: processes in two containers may have one process id.
    handle, name = tempfile.mkstemp(prefix=f"{FILE}.", dir=folder)
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
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return found.seq, Stored(chunks, postings)


def _sweep(folder: Path) -> None:
    for path in folder.glob(f"{FILE}.*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > LITTER_AFTER_S:
                path.unlink()


def _json_bytes(value: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def _from_json_bytes(value: NDArray[np.uint8]) -> Any:
    return json.loads(value.tobytes())
