"""How long from starting the retriever's process to its first passages, the index being there.

Run: python -m benchmarks.cold_start [--starts 5] [--chunks 5000] [--state-dir DIR] [--backend auto torch]

Starts Chroma over a folder of its own and fills one space (a folder that is given is kept and filled once); a first
retriever leaves its BM25 snapshot, as any that ran before has. Then `python -m services.retriever` is started again
and again, and asked over HTTP as soon as its port answers. Prints a Markdown table: seconds to the open port, to the
first passages, and to passages of both indexes, by the clock; processor time of the process until then; its memory.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import httpx
import psutil

from benchmarks.search_latency import chroma
from benchmarks.search_material import Material, fill, material
from services.local.ports import free_port
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from services.shared.kit.settings import EmbedderSettings, StateSettings
from services.shared.models.export import export
from services.shared.models.loader import load_embedder

PATIENCE_S = 180.0
SPACE = SpaceId("main")
GOAL_S = 2.0


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--chunks", type=int, default=5000)
    parser.add_argument("--state-dir", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--backend", nargs="+", default=["auto", "torch"])
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with ExitStack() as stack:
        folder = options.state_dir or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        export(EmbedderSettings())
        asked = filled(folder, options.chunks, options.data, chroma_url := stack.enter_context(chroma(folder)))
        print("| backend | port open | first passages | of both indexes | processor time | resident |")
        print("|---|---|---|---|---|---|")
        for backend in options.backend:
            Start(folder, chroma_url, backend, asked.questions[0])
            starts = [Start(folder, chroma_url, backend, asked.questions[n + 1]) for n in range(options.starts)]
            cells = [
                f"{median(one[n] for one in (start.seconds for start in starts)):.2f} s "
                f"({min(start.seconds[n] for start in starts):.2f})"
                for n in range(4)
            ]
            print(f"| {backend} | {' | '.join(cells)} | {starts[-1].resident_mb:.0f} MB |", flush=True)
        print(f"\nMedian of {options.starts} (quickest), {options.chunks:,} chunks; at most {GOAL_S:.0f} s are wanted.")


def filled(folder: Path, chunks: int, data: Path, chroma_url: str) -> Material:
    """The space, filled; and questions about it."""
    catalog = Catalog(StateSettings(state_dir=folder, database_url=None).catalog_url)
    catalog.migrate()
    mixed_of = material(data, load_embedder(EmbedderSettings()), folder / "embedded.npy")
    fill(catalog, chroma_url, SPACE, chunks, mixed_of)
    catalog.close()
    return mixed_of


class Start:
    """One start of the retriever, and what it took."""

    def __init__(self, folder: Path, chroma_url: str, backend: str, question: str) -> None:
        port = free_port()
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_STATE")}
        environment = {
            **own,
            "RAGSTONE_STATE_DIR": str(folder),
            "RAGSTONE_CHROMA_URL": chroma_url,
            "RAGSTONE_RETRIEVER_PORT": str(port),
            "RAGSTONE_EMBEDDER_BACKEND": backend,
        }
        with (folder / "retriever.log").open("ab") as log, httpx.Client(timeout=60, trust_env=False) as client:
            began = time.perf_counter()
            process = subprocess.Popen(
                [sys.executable, "-m", "services.retriever"], stdout=log, stderr=log, env=environment
            )
            try:
                url = f"http://127.0.0.1:{port}/retrieve"
                body = {"space": SPACE, "question": question}
                opened = first = 0.0
                while True:
                    answer = _asked(client, url, body)
                    now = time.perf_counter() - began
                    if now > PATIENCE_S or process.poll() is not None:
                        raise SystemExit(f"the retriever gave no passages; see {folder / 'retriever.log'}")
                    if answer is None:
                        time.sleep(0.005)
                        continue
                    opened = opened or now
                    found = answer.json()
                    first = first or (now if found.get("passages") else 0.0)
                    ranks = {name for passage in found.get("passages", ()) for name in passage["ranks"]}
                    if {"vector:0", "bm25:0"} <= ranks:
                        break
                times = psutil.Process(process.pid).cpu_times()
                self.seconds = (opened, first, now, times.user + times.system)
                self.resident_mb = psutil.Process(process.pid).memory_info().rss / 1e6
            finally:
                process.terminate()
                process.wait(30)


def _asked(client: httpx.Client, url: str, body: dict[str, str]) -> httpx.Response | None:
    """The answer; None while nobody listens."""
    try:
        return client.post(url, json=body)
    except httpx.ConnectError:
        return None


if __name__ == "__main__":
    main()
