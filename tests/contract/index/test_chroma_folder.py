"""What a deleted collection leaves on the disk is taken out beside the running server, and nothing else is."""

import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import psutil
import pytest

from services.shared.index.chroma import VectorIndex
from services.shared.index.chroma_folder import sweep
from services.shared.index.chroma_read import VectorReader
from services.shared.index.collections import drop, listed
from tests.contract.index.vectors import item, row

CHUNKS = 1500
"""A folder is made when a collection holds a thousand."""


@pytest.fixture
def folder(chroma_url: str) -> Path:
    """Of the server at that address, by its command line."""
    port = chroma_url.rsplit(":", 1)[1]
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if port in words and "--path" in words:
            return Path(words[words.index("--path") + 1])
    raise AssertionError("the server is not there")


def filled(chroma_url: str, id: str) -> VectorReader:
    """An index of so many vectors that the server gives it a folder."""
    made = row(id=id)
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(CHUNKS, made.embedder.dimension)).astype(np.float32)
    VectorIndex(chroma_url, made).upsert([item(f"{id}-{n}") for n in range(CHUNKS)], vectors)
    return VectorReader(chroma_url, made)


def folders(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_dir()}


def test_the_folder_of_a_dropped_collection_goes_and_the_others_stay(chroma_url: str, folder: Path) -> None:
    sweep(folder)  # what other tests of this server left
    before = folders(folder)
    going, staying = filled(chroma_url, "going"), filled(chroma_url, "staying")
    assert sweep(folder) == 0, "all of them are in use"
    assert len(folders(folder) - before) == 2
    assert going.count() == CHUNKS
    assert drop(chroma_url, "ragstone-going")
    assert not drop(chroma_url, "ragstone-going")
    assert "ragstone-going" not in listed(chroma_url)
    assert len(folders(folder) - before) == 2, "Chroma leaves it; if this fails the sweep is not needed any more"
    assert sweep(folder) > 10_000
    assert len(folders(folder) - before) == 1
    assert staying.count() == CHUNKS
    assert len(staying.query(np.ones((1, 4), dtype=np.float32), 5)[0]) == 5
    assert drop(chroma_url, "ragstone-staying")
    assert sweep(folder) > 0


def test_what_is_no_segment_is_left_alone(tmp_path: Path) -> None:
    assert sweep(tmp_path / "nowhere") == 0
    (tmp_path / "notes").mkdir()
    unknown = tmp_path / "01234567-89ab-cdef-0123-456789abcdef"
    unknown.mkdir()
    (unknown / "data_level0.bin").write_bytes(b"x" * 100)
    assert sweep(tmp_path) == 0, "without records nothing is known to be unused"
    (tmp_path / "chroma.sqlite3").write_bytes(b"no database")
    assert sweep(tmp_path) == 0
    (tmp_path / "chroma.sqlite3").unlink()
    with sqlite3.connect(tmp_path / "chroma.sqlite3") as connection:
        connection.execute("CREATE TABLE segments (id TEXT)")
    assert sweep(tmp_path) == 100
    assert folders(tmp_path) == {"notes"}


def test_files_that_the_server_keeps_open_give_their_room_back_at_once(tmp_path: Path) -> None:
    unknown = tmp_path / "01234567-89ab-cdef-0123-456789abcdef"
    unknown.mkdir()
    file = unknown / "data_level0.bin"
    file.write_bytes(b"x" * 100_000)
    with sqlite3.connect(tmp_path / "chroma.sqlite3") as connection:
        connection.execute("CREATE TABLE segments (id TEXT)")
    with file.open("rb") as kept:
        sweep(tmp_path)
        assert kept.seek(0, 2) == 0
    assert subprocess.run(["ls", unknown], capture_output=True, check=False).returncode != 0
