"""Memory of a worker over many small documents, and how often its models are loaded.

Usage: python -m benchmarks.ingest_memory [--documents N] [--ways jobs batch] [--every N]

A stack of its own, as in ``benchmarks.ingest_speed``. Made-up documents of one chunk each go in as one NDJSON body or
as one job each; whenever another ``--every`` of them are live, the resident memory of the worker's child, which holds
the model, of the process that reads files, and of the worker's parent is printed.
"""

import argparse
import json
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil

from benchmarks.ingest_speed import Site, until
from services.shared.catalog import chunks
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId

READER = "services.ingestor.adapters.parsing.child"
DOCUMENTS_IN_REQUEST = 50
WORDS = ("pump", "valve", "hall", "lamp", "gate", "filter", "motor", "sensor", "tank", "crane", "belt", "fan")


def documents(number: int) -> Iterator[dict[str, str]]:
    """Small ones, no two alike."""
    for n in range(number):
        about = " ".join(WORDS[(n // step) % len(WORDS)] for step in (1, 7, 31, 101))
        text = f"# Note {n}\n\nThe {about} number {n} was looked at on day {n % 365} and found in order."
        yield {"id": f"note-{n}", "text": text}


def send(client: httpx.Client, way: str, number: int) -> None:
    """As one batch, or as a job each."""
    if way == "batch":
        body = "\n".join(json.dumps(one) for one in documents(number)).encode()
        headers = {"Content-Type": "application/x-ndjson"}
        client.post("/v1/documents", content=body, headers=headers).raise_for_status()
        return
    waiting: list[tuple[str, bytes]] = []
    for one in documents(number):
        waiting.append((f"{one['id']}.md", one["text"].encode()))
        if len(waiting) == DOCUMENTS_IN_REQUEST:
            files = [("files", (name, data, "text/markdown")) for name, data in waiting]
            client.post("/v1/documents", files=files).raise_for_status()
            waiting = []


def resident_mb(pid: int) -> dict[str, int]:
    """Of the worker's processes, by what they are; nothing of one that ends just now."""
    found = {"parent": psutil.Process(pid).memory_info().rss}
    for process in psutil.Process(pid).children(recursive=True):
        try:
            name = "reader" if READER in process.cmdline() else "worker"
            found[name] = max(found.get(name, 0), process.memory_info().rss)
        except psutil.NoSuchProcess:
            continue
    return {name: size // 1_000_000 for name, size in found.items()}


def watch(site: Site, way: str, number: int, every: int) -> None:
    """Send, and print a line for each part that is live."""
    space = SpaceId(f"memory-{uuid.uuid4().hex[:8]}")
    catalog = Catalog(f"sqlite:///{site.folder / 'catalog.db'}")

    def live() -> int:
        with catalog.read() as tx:
            return chunks.counts(tx, space)[0]

    with httpx.Client(base_url=site.url, timeout=300, headers={"Ragstone-Space": space}) as client:
        began = time.perf_counter()
        send(client, way, number)
        for goal in range(every, number + 1, every):
            until(lambda goal=goal: live() >= goal, 1800, every_s=0.3)
            told = ", ".join(f"{name} {size} MB" for name, size in sorted(resident_mb(site.pid("worker0")).items()))
            print(f"{way}: {goal} documents after {time.perf_counter() - began:.0f} s: {told}", flush=True)
    catalog.close()


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--every", type=int, default=500)
    parser.add_argument("--ways", nargs="+", choices=["batch", "jobs"], default=["batch", "jobs"])
    parser.add_argument("--code", type=Path, default=Path.cwd())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), options.code)
        with site.running(1):
            for way in options.ways:
                watch(site, way, options.documents, options.every)
        loads = (site.folder / "worker0.log").read_text(errors="replace").count("embedder_loaded")
    print(f"models were loaded {loads} time(s)")


if __name__ == "__main__":
    main()
