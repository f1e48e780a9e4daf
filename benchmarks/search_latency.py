"""How long /v1/search takes through gateway and retriever, beside bare embedding and a bare Chroma query.

Run: python -m benchmarks.search_latency [--chunks 5000 200000] [--state-dir DIR] [--data DATA] [--rounds 60]

Starts Chroma, the retriever and the gateway on free ports over a folder of its own, and fills one space for each
size (200,000 chunks take a while; a folder that is given is kept and filled once). Then one client asks, warm: each
round asks everything once, in a new order, with questions that were not asked before. Prints a Markdown table, and
the processor time that a search takes in each process: that says more on a machine where others work too.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil

from benchmarks.search_material import Material, fill, material
from services.local.ports import free_port
from services.shared.catalog import indexes
from services.shared.catalog.engine import Catalog
from services.shared.contracts.errors import RagstoneError
from services.shared.contracts.ids import SpaceId
from services.shared.index.chroma import ping
from services.shared.kit.settings import EmbedderSettings, StateSettings
from services.shared.models.embedder import Embedder
from services.shared.models.loader import load_embedder

PATIENCE_S = 900.0
WARM_UP = 5
BUSY = 50
"""Searches over which processor time is measured."""

FILTERS: dict[str, dict[str, Any] | None] = {
    "search": None,
    "type, 1 %": {"type": "rare"},
    "type, 10 %": {"type": "some"},
    "type, 89 %": {"type": "most"},
    "tag, 2 %": {"tags": ["shelf-7"]},
    "tag, 50 %": {"tags": ["even"]},
    "one document": {"document_id": "document-000007"},
}

Ask = Callable[[str], object]


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=[5000, 200_000])
    parser.add_argument("--state-dir", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--fill-only", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with ExitStack() as stack:
        folder = options.state_dir or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        catalog = Catalog(StateSettings(state_dir=folder, database_url=None).catalog_url)
        catalog.migrate()
        embedder = load_embedder(EmbedderSettings())
        mixed_of = material(options.data, embedder, folder / "embedded.npy")
        chroma_url, server = stack.enter_context(chroma_process(folder))
        for size in options.chunks:
            fill(catalog, chroma_url, space_of(size), size, mixed_of)
        if options.fill_only:
            return
        gateway_url, started = stack.enter_context(services(folder, chroma_url))
        client = stack.enter_context(httpx.Client(base_url=gateway_url, timeout=PATIENCE_S, trust_env=False))
        asking = {
            size: arms(client, space_of(size), embedder, mixed_of, collection(catalog, chroma_url, space_of(size)))
            for size in options.chunks
        }
        print_table(measure(asking, mixed_of.questions, options.rounds))
        print_processor_time(asking, mixed_of.questions[::-1][:BUSY], {**started, "Chroma": server})


def space_of(size: int) -> SpaceId:
    """The space that holds so many chunks."""
    return SpaceId(f"chunks-{size}")


def arms(client: httpx.Client, space: SpaceId, embedder: Embedder, mixed_of: Material, bare: Any) -> dict[str, Ask]:
    """What is timed on one space."""
    vectors = cycle(mixed_of.vectors[::7])

    def embed(question: str) -> object:
        return embedder.embed_questions([question])

    def query(question: str) -> object:
        return bare.query(query_embeddings=next(vectors)[None, :], n_results=10, include=["distances"])

    def searching(filters: dict[str, Any] | None) -> Ask:
        def search(question: str) -> object:
            answer = client.post(
                "/v1/search", json={"question": question, "filters": filters}, headers={"Ragstone-Space": space}
            )
            return answer.raise_for_status().json()["passages"]

        return search

    return {"embed": embed, "chroma": query, **{name: searching(wish) for name, wish in FILTERS.items()}}


def measure(asking: dict[int, dict[str, Ask]], questions: list[str], rounds: int) -> dict[int, dict[str, list[float]]]:
    """Milliseconds of every call, by size and by what was asked."""
    fresh = cycle(questions)
    taken: dict[int, dict[str, list[float]]] = {size: {name: [] for name in ways} for size, ways in asking.items()}
    every = [(size, name, ask) for size, ways in asking.items() for name, ask in ways.items()]
    order = random.Random(4)
    for number in range(WARM_UP + rounds):
        order.shuffle(every)
        for size, name, ask in every:
            question = next(fresh)
            began = time.perf_counter()
            ask(question)
            if number >= WARM_UP:
                taken[size][name].append(1000 * (time.perf_counter() - began))
    return taken


def print_table(taken: dict[int, dict[str, list[float]]]) -> None:
    """One row for each thing that was timed: p50 and p95 for each size, and the ratio to the bare parts."""
    sizes = list(taken)
    heads = [f"{size:,}: p50 / p95 ms" for size in sizes] + [f"{size:,}: of bare parts" for size in sizes]
    print(f"| asked | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    bare = {size: median(ways["embed"]) + median(ways["chroma"]) for size, ways in taken.items()}
    for name in taken[sizes[0]]:
        times = [f"{median(taken[size][name]):.1f} / {quantiles(taken[size][name], n=20)[-1]:.1f}" for size in sizes]
        shares = [f"{median(taken[size][name]) / bare[size]:.2f}" for size in sizes]
        print(f"| {name} | {' | '.join(times + shares)} |")
    for size in sizes:
        limit = 1.5 * bare[size] + 8
        print(f"\n{size:,} chunks: bare parts {bare[size]:.1f} ms, 1.5 times and 8 ms more {limit:.1f} ms, ", end="")
        print(f"search {median(taken[size]['search']):.1f} ms")


def print_processor_time(asking: dict[int, dict[str, Ask]], questions: list[str], pids: dict[str, int]) -> None:
    """Milliseconds of processor time that one unfiltered search takes, by process; and of one bare embedding."""
    parts = ["embed", *pids]
    print(f"\n| processor time, ms | {' | '.join(parts)} |\n|---|{'---|' * len(parts)}")
    for size, ways in asking.items():
        began = time.process_time()
        for question in questions:
            ways["embed"](question)
        spent = [1000 * (time.process_time() - began) / len(questions)]
        before = [busy(pid) for pid in pids.values()]
        for question in questions:
            ways["search"](question)
        spent += [1000 * (busy(pid) - was) / len(questions) for pid, was in zip(pids.values(), before, strict=True)]
        print(f"| {size:,} | {' | '.join(f'{one:.1f}' for one in spent)} |")


def busy(pid: int) -> float:
    """Seconds of processor time of a process so far."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def collection(catalog: Catalog, chroma_url: str, space: SpaceId) -> Any:
    """The space's collection as Chroma's own client has it."""
    import chromadb

    with catalog.read() as tx:
        row = indexes.serving(tx, space)
    assert row is not None
    parts = urlsplit(chroma_url)
    return chromadb.HttpClient(host=str(parts.hostname), port=parts.port or 80).get_collection(
        row.collection, embedding_function=None
    )


@contextmanager
def chroma(folder: Path) -> Iterator[str]:
    """A Chroma server over the folder; its address."""
    with chroma_process(folder) as (url, _):
        yield url


@contextmanager
def chroma_process(folder: Path) -> Iterator[tuple[str, int]]:
    """A Chroma server over the folder; its address and process id."""
    port = free_port()
    command = [str(Path(sys.executable).parent / "chroma"), "run", "--path", str(folder / "chroma")]
    with process([*command, "--host", "127.0.0.1", "--port", str(port)], folder, {}) as pid:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                ping(url)
                break
            except RagstoneError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        yield url, pid


@contextmanager
def services(folder: Path, chroma_url: str) -> Iterator[tuple[str, dict[str, int]]]:
    """A retriever and a gateway over the folder; the gateway's address, and the process ids."""
    retriever, gateway = free_port(), free_port()
    environment = {
        "RAGSTONE_STATE_DIR": str(folder),
        "RAGSTONE_CHROMA_URL": chroma_url,
        "RAGSTONE_RETRIEVER_PORT": str(retriever),
        "RAGSTONE_RETRIEVER_URL": f"http://127.0.0.1:{retriever}",
        "RAGSTONE_RETRIEVER_TIMEOUT_S": str(PATIENCE_S),
        "RAGSTONE_PORT": str(gateway),
        "HF_HUB_OFFLINE": "1",
    }
    with (
        process([sys.executable, "-m", "services.retriever"], folder, environment) as one,
        process([sys.executable, "-m", "services.gateway"], folder, environment) as other,
    ):
        for url in (f"http://127.0.0.1:{retriever}/readyz", f"http://127.0.0.1:{gateway}/healthz"):
            wait_for(url)
        yield f"http://127.0.0.1:{gateway}", {"gateway": other, "retriever": one}


def wait_for(url: str) -> None:
    """Until the address answers 200."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            if httpx.get(url, timeout=10, trust_env=False).status_code == httpx.codes.OK:
                return
        except httpx.HTTPError:
            pass
        if time.monotonic() > deadline:
            raise SystemExit(f"{url} never became ready; see the logs in the state folder")
        time.sleep(0.1)


@contextmanager
def process(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[int]:
    """A process whose output goes to the folder, stopped at the end; its id."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("RAGSTONE_", "DATABASE_"))}
    name = command[-1].rsplit(".", 1)[-1] if "-m" in command else "chroma"
    with (folder / f"{name}.log").open("ab") as log:
        started = subprocess.Popen(command, stdout=log, stderr=log, env={**own, **environment})
        try:
            yield started.pid
        finally:
            started.terminate()
            started.wait(30)


if __name__ == "__main__":
    main()
