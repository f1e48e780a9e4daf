"""What an index takes on Chroma's disk, and what comes back when it is removed, as a Markdown table.

Run: python -m benchmarks.index_disk [CHUNKS]
"""

import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.search_latency import chroma
from services.shared.catalog.indexes import EmbedderSpec, IndexRow
from services.shared.contracts.ids import ChunkId, DocumentId, IndexId, SpaceId, VersionId
from services.shared.index.chroma import VectorIndex, VectorItem
from services.shared.index.chroma_folder import sweep
from services.shared.index.collections import drop
from services.shared.kit.logs import configure_logs
from services.shared.kit.settings import LogSettings

CHUNKS = 20_000
GROUP = 512
MB = 1e6


def main(chunks: int) -> None:
    """Two indexes, one removed, a third one in its place, and Chroma's own vacuum at the end."""
    configure_logs("benchmark", LogSettings(log_level="WARNING"))
    print("| step | SQLite file, MB | folders of vectors, MB | seconds |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "chroma"
        with chroma(Path(name)) as url:
            row(folder, f"{chunks} chunks, 384 wide", fill(url, "first", 384, chunks))
            row(folder, "beside it the same, 768 wide", fill(url, "second", 768, chunks))
            row(folder, "the first one deleted by Chroma", timed(lambda: drop(url, "ragstone-first")))
            row(folder, "its folder swept", timed(lambda: sweep(folder)))
            row(folder, "a third one, 384 wide", fill(url, "third", 384, chunks))
            drop(url, "ragstone-third")
            row(folder, "removed as well", timed(lambda: sweep(folder)))
        vacuum = [str(Path(sys.executable).parent / "chroma"), "vacuum", "--path", str(folder), "--force"]
        done = timed(lambda: subprocess.run(vacuum, check=True, capture_output=True))
        row(folder, "server stopped, chroma vacuum", done)


def fill(url: str, id: str, width: int, chunks: int) -> float:
    """Store random vectors as a worker does; the seconds that it took."""
    spec = EmbedderSpec("random", "0", width, "", "", 256)
    index = VectorIndex(url, IndexRow(IndexId(id), SpaceId("main"), spec, f"ragstone-{id}", datetime.now(UTC)))
    chance = np.random.default_rng(0)
    began = time.monotonic()
    for begin in range(0, chunks, GROUP):
        size = min(GROUP, chunks - begin)
        vectors = chance.normal(size=(size, width)).astype(np.float32)
        version = VersionId(uuid.uuid4().hex)
        items = [
            VectorItem(ChunkId(f"{version}-{n:05d}"), DocumentId(f"document-{begin}"), version, "note", ["a"], "fact")
            for n in range(size)
        ]
        index.upsert(items, vectors)
    return time.monotonic() - began


def timed(step: Callable[[], object]) -> float:
    """How long a step takes, seconds."""
    began = time.monotonic()
    step()
    return time.monotonic() - began


def row(folder: Path, step: str, seconds: float) -> None:
    """What lies in the folder now."""
    records = sum(file.stat().st_size for file in folder.glob("chroma.sqlite3*"))
    vectors = sum(file.stat().st_size for path in folder.iterdir() if path.is_dir() for file in path.iterdir())
    print(f"| {step} | {records / MB:.1f} | {vectors / MB:.1f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CHUNKS)
