"""How Ragstone grows: with more workers, with more retrievers, and with more content.

Usage: python -m benchmarks.scale workers|retrievers|growth [--catalogs sqlite postgresql] [--documents N] [--seconds N]

Every measurement starts a Ragstone of its own on free ports with the settings' defaults; a PostgreSQL is thrown away
afterwards (tests/with_postgres.sh). ``workers``: made-up documents of one chunk each go in as one job a document, with
1, 2 and 3 workers. ``retrievers``: eight clients search all the time, with 1 retriever and with 2, each behind a
gateway of its own. ``growth``: what the catalog, Chroma, the snapshot and the processes take at two sizes. Prints
Markdown.
"""

import argparse
import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

import httpx
import psutil
from sqlalchemy import text

from services.shared.catalog import chunks
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from tests.chaos.cluster import Cluster
from tests.e2e.postgres import database_for, postgres_server

SPACE = SpaceId("main")
WARM = 40
FILES_IN_REQUEST = 50
CLIENTS = 8
PATIENCE_S = 1800.0
WORDS = ("pump", "valve", "hall", "lamp", "gate", "filter", "motor", "sensor", "tank", "crane", "belt", "fan")
SENTENCES = (
    "The {about} number {n} was looked at on day {day} and found in order.",
    "Its {about} pressure stood at {n} units, and the {about} was oiled and closed again.",
    "Whoever opens the {about} next should write the number {n} into the book of the hall.",
)


def document(n: int) -> tuple[str, str]:
    """A small one, none like another: some 90 words, which are one chunk."""
    about = " ".join(WORDS[(n // step) % len(WORDS)] for step in (1, 7, 31, 101))
    lines = [line.format(about=about, n=n, day=n % 365) for line in SENTENCES]
    return f"note-{n}", f"# Note {n}\n\n" + " ".join(lines)


@contextmanager
def running(catalog: str, copies: dict[str, int]) -> Iterator[tuple[Cluster, Catalog]]:
    """A ready Ragstone, and its catalog."""
    with tempfile.TemporaryDirectory() as name, postgres_server() as server:
        settings = {}
        if catalog == "postgresql":
            assert server is not None, "PostgreSQL is not installed"
            settings["DATABASE_URL"] = database_for(server, Path(name))
        cluster = Cluster(Path(name) / "state", copies=copies, settings=settings)
        opened = Catalog(cluster.catalog_url)
        try:
            cluster.start()
            yield cluster, opened
        finally:
            opened.close()
            cluster.stop()


def live(catalog: Catalog) -> int:
    """Documents that answer."""
    with catalog.read() as tx:
        return chunks.counts(tx, SPACE)[0]


def until_live(catalog: Catalog, number: int) -> None:
    """Wait for so many."""
    deadline = time.monotonic() + PATIENCE_S
    while live(catalog) < number:
        assert time.monotonic() < deadline, f"{live(catalog)} of {number} documents are live"
        time.sleep(0.1)


def send_files(url: str, numbers: Sequence[int]) -> None:
    """One job a document."""
    with httpx.Client(base_url=url, timeout=300) as client:
        for at in range(0, len(numbers), FILES_IN_REQUEST):
            some = [document(n) for n in numbers[at : at + FILES_IN_REQUEST]]
            files = [("files", (f"{id}.md", words.encode(), "text/markdown")) for id, words in some]
            client.post("/v1/documents", files=files).raise_for_status()


def send_batch(url: str, numbers: Sequence[int]) -> None:
    """One job for all."""
    lines = [json.dumps({"id": id, "text": words}) for id, words in (document(n) for n in numbers)]
    with httpx.Client(base_url=url, timeout=300) as client:
        headers = {"Content-Type": "application/x-ndjson"}
        client.post("/v1/documents", content="\n".join(lines), headers=headers).raise_for_status()


def workers(catalogs: Sequence[str], documents: int) -> None:
    """Documents a second."""
    print("| catalog | workers | documents a second |\n|---|---|---|")
    for name, number in itertools.product(catalogs, (1, 2, 3)):
        with running(name, {"worker": number}) as (cluster, catalog):
            # Each has its model after its first documents.
            warm = WARM * number
            send_files(cluster.site.url, range(warm))
            until_live(catalog, warm)
            time.sleep(1)
            began = time.perf_counter()
            send_files(cluster.site.url, range(warm, warm + documents))
            until_live(catalog, warm + documents)
            print(f"| {name} | {number} | {documents / (time.perf_counter() - began):.1f} |", flush=True)


def retrievers(catalogs: Sequence[str], documents: int, seconds: float) -> None:
    """Searches a second."""
    print("| catalog | retrievers | searches a second | median ms | 95 % ms |\n|---|---|---|---|---|")
    for name, number in itertools.product(catalogs, (1, 2)):
        with running(name, {"retriever": number, "gateway": number}) as (cluster, catalog):
            send_batch(cluster.site.url, range(documents))
            until_live(catalog, documents)
            urls = cluster.urls("gateway")
            for url in urls:
                search(url, 3, CLIENTS // number, 0)
            with ThreadPoolExecutor(number) as pool:
                each = [pool.submit(search, url, seconds, CLIENTS // number, n) for n, url in enumerate(urls)]
                took = [ms for one in each for ms in one.result()]
            late = quantiles(took, n=100)[94]
            print(f"| {name} | {number} | {len(took) / seconds:.1f} | {median(took):.0f} | {late:.0f} |", flush=True)


def search(url: str, seconds: float, clients: int, first: int) -> list[float]:
    """Milliseconds of each search that so many clients made in this time, one after the other."""
    over = time.monotonic() + seconds

    def one(n: int) -> list[float]:
        took: list[float] = []
        with httpx.Client(base_url=url, timeout=60) as client:
            for question in itertools.count(first + n, 97):
                if time.monotonic() > over:
                    return took
                began = time.perf_counter()
                about = WORDS[question % len(WORDS)]
                body = {"question": f"Which {about} stood at {question % 900} units?"}
                client.post("/v1/search", json=body).raise_for_status()
                took.append((time.perf_counter() - began) * 1000)
        return took

    with ThreadPoolExecutor(clients) as pool:
        return [ms for mine in pool.map(one, range(clients)) for ms in mine]


def growth(catalogs: Sequence[str], sizes: Sequence[int]) -> None:
    """What each part takes at two sizes."""
    print("| catalog | chunks | what | MB | per 1,000 chunks more |\n|---|---|---|---|---|")
    for name in catalogs:
        before: dict[str, float] = {}
        at = 0
        with running(name, {}) as (cluster, catalog):
            for size in sizes:
                send_batch(cluster.site.url, range(at, size))
                until_live(catalog, size)
                search(cluster.site.url, 5, 2, 0)
                time.sleep(15)
                for what, mb in taken(cluster, catalog).items():
                    more = f"{(mb - before[what]) / (size - at) * 1000:.2f}" if what in before else ""
                    print(f"| {name} | {size} | {what} | {mb:.1f} | {more} |", flush=True)
                    before[what] = mb
                at = size


def taken(cluster: Cluster, catalog: Catalog) -> dict[str, float]:
    """MB on disk and in memory."""
    state = cluster.site.state_dir
    found = {
        "catalog": catalog_mb(cluster, catalog),
        "originals": folder_mb(state / "blobs"),
        "Chroma on disk": folder_mb(state / "chroma"),
        "BM25 snapshot": folder_mb(state / "bm25"),
    }
    for name in ("retriever", "worker", "chroma", "gateway", "redis"):
        found[f"{name} in memory"] = memory_mb(cluster.member(name).pid)
    return found


def catalog_mb(cluster: Cluster, catalog: Catalog) -> float:
    """Of the database: the file, or what PostgreSQL says."""
    if not cluster.catalog_url.startswith("postgres"):
        catalog.settle(10)
        return (cluster.site.state_dir / "catalog.db").stat().st_size / 1e6
    with catalog.read() as tx:
        return float(tx.execute(text("SELECT pg_database_size(current_database())")).scalar_one()) / 1e6


def folder_mb(folder: Path) -> float:
    """Of all files under it, as they are stored."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 1e6


def memory_mb(pid: int) -> float:
    """Of a process and its children; what they share counts once."""
    process = psutil.Process(pid)
    sizes = [one.memory_full_info().pss for one in (process, *process.children(recursive=True))]
    return sum(sizes) / 1e6


def main() -> None:
    """Run a measurement from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["workers", "retrievers", "growth"])
    parser.add_argument("--catalogs", nargs="+", choices=["sqlite", "postgresql"], default=["sqlite", "postgresql"])
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--sizes", nargs=2, type=int, default=[2000, 8000])
    options = parser.parse_args()
    run: dict[str, Callable[[], None]] = {
        "workers": lambda: workers(options.catalogs, options.documents),
        "retrievers": lambda: retrievers(options.catalogs, options.documents, options.seconds),
        "growth": lambda: growth(options.catalogs, options.sizes),
    }
    run[options.what]()


if __name__ == "__main__":
    main()
