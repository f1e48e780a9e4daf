"""How many answers and searches a second, how long each takes, and what the gateway itself costs.

Run: python -m benchmarks.load [--seconds 60] [--clients 1 8 32]

Starts a Ragstone of its own on free ports, with corpus/, the extractive writer and a key, and asks it from this process
for so many seconds with each number of clients: questions made anew, questions that may be given again, and searches.
Then requests to the gateway and to a bare FastAPI application, in turns: what the gateway adds is the difference.
Prints Markdown. 503 ``busy`` is counted apart; anything else but 200 is an error.
"""

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

import httpx
from fastapi import FastAPI

from services.local.ports import free_port

ROOT = Path(__file__).parents[1]
QUESTIONS = [
    json.loads(line)["text"] for line in (ROOT / "evals" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
START_S = 180.0
STOP_S = 30.0
TURNS = 400
"""Requests to each side when the gateway's own cost is measured."""
ANEW = {"Cache-Control": "no-cache"}
UNLIMITED = {
    "RAGSTONE_LIMIT_KEY": "1000000/minute",
    "RAGSTONE_LIMIT_REQUESTS": "1000000/minute",
    "RAGSTONE_ANSWERS_PER_CALLER": "32",
}
WAYS: dict[str, tuple[str, dict[str, str]]] = {
    "answers made anew": ("/v1/ask", ANEW),
    "answers that may be given again": ("/v1/ask", {}),
    "searches": ("/v1/search", {}),
}


@dataclass
class Told:
    """What came back."""

    took_ms: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def row(self) -> str:
        """Of a table."""
        fine, busy = self.statuses["200"], self.statuses["busy"]
        late = quantiles(self.took_ms, n=100)
        figures = f"{median(self.took_ms):.0f} | {late[94]:.0f} | {late[98]:.0f}"
        return f"{fine / self.seconds:.1f} | {figures} | {self.statuses.total() - fine - busy} | {busy}"


def bare() -> FastAPI:
    """What the gateway is compared with."""
    app = FastAPI()

    @app.get("/")
    async def root() -> dict[str, str]:
        return {"role": "admin"}

    return app


@contextmanager
def process(*command: str, **settings: str) -> Iterator[None]:
    """Runs until the block ends."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
    environment.pop("DATABASE_URL", None)
    running = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=ROOT, env={**environment, **settings}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        running.terminate()
        running.wait(STOP_S)


def waited_for(client: httpx.Client, path: str) -> None:
    """Until the address answers 200."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            if client.get(path).status_code == 200:
                return
        except httpx.TransportError:
            pass
        if time.monotonic() > deadline:
            raise SystemExit(f"{client.base_url} did not begin within {START_S:.0f} s")
        time.sleep(0.3)


def filled(client: httpx.Client) -> str:
    """The secret of a key, once every document is in."""
    while True:
        counts = client.get("/v1/jobs").raise_for_status().json()["counts"]
        if counts["succeeded"] and not counts["queued"] + counts["running"]:
            break
        time.sleep(0.5)
    made = client.post("/v1/keys", json={"name": "load", "role": "admin"}).raise_for_status()
    return str(made.json()["secret"])


@asynccontextmanager
async def crowd(url: str, key: str, clients: int) -> AsyncIterator[list[httpx.AsyncClient]]:
    """So many clients, each with a line of its own."""
    headers = {"Authorization": f"Bearer {key}"}
    made = [httpx.AsyncClient(base_url=url, headers=headers, timeout=120, trust_env=False) for _ in range(clients)]
    try:
        yield made
    finally:
        await asyncio.gather(*(client.aclose() for client in made))


async def loaded(clients: Sequence[httpx.AsyncClient], path: str, headers: dict[str, str], seconds: float) -> Told:
    """Every client asks again as soon as it was answered, until the time is over."""
    told = Told()
    began = time.perf_counter()

    async def ask(client: httpx.AsyncClient, first: int) -> None:
        for n in itertools.count(first):
            at = time.perf_counter()
            if at - began > seconds:
                return
            response = await client.post(path, json={"question": QUESTIONS[n % len(QUESTIONS)]}, headers=headers)
            told.took_ms.append(1000 * (time.perf_counter() - at))
            busy = response.status_code == 503 and response.json()["code"] == "busy"
            told.statuses["busy" if busy else str(response.status_code)] += 1

    # Far apart, so that they seldom ask the same at the same time.
    step = max(1, len(QUESTIONS) // len(clients))
    await asyncio.gather(*(ask(client, step * n) for n, client in enumerate(clients)))
    told.seconds = time.perf_counter() - began
    return told


async def added_ms(gateway: httpx.AsyncClient, other: httpx.AsyncClient) -> tuple[float, float, float]:
    """Medians in ms: the bare application, ``/v1/me``, and a search without what it waited for the retriever."""
    plain: list[float] = []
    me: list[float] = []
    search: list[float] = []
    for n in range(TURNS):
        plain.append(await _took_ms(other, "/"))
        me.append(await _took_ms(gateway, "/v1/me"))
        at = time.perf_counter()
        found = await gateway.post("/v1/search", json={"question": QUESTIONS[n % len(QUESTIONS)]})
        took = 1000 * (time.perf_counter() - at)
        search.append(took - found.raise_for_status().json()["timings_ms"]["retrieve"])
    return median(plain), median(me), median(search)


async def _took_ms(client: httpx.AsyncClient, path: str) -> float:
    at = time.perf_counter()
    (await client.get(path)).raise_for_status()
    return 1000 * (time.perf_counter() - at)


async def measured(url: str, key: str, beside: str, sizes: Sequence[int], seconds: float) -> None:
    """Ask, and print both tables."""
    print("| | clients | a second | p50 ms | p95 ms | p99 ms | errors | busy |\n|---|---|---|---|---|---|---|---|")
    for what, (path, headers) in WAYS.items():
        for size in sizes:
            async with crowd(url, key, size) as clients:
                told = await loaded(clients, path, headers, seconds)
            print(f"| {what} | {size} | {told.row()} |", flush=True)
    async with crowd(url, key, 1) as (gateway,), crowd(beside, key, 1) as (other,):
        plain, me, search = await added_ms(gateway, other)
    print("\n| one request | p50 ms | more than the bare one |\n|---|---|---|")
    print(f"| a bare FastAPI route | {plain:.2f} | |")
    print(f"| `/v1/me` with a key | {me:.2f} | {me - plain:.2f} |")
    print(
        f"| `/v1/search` with a key, without the retriever's part | {search:.2f} | {search - plain:.2f} |", flush=True
    )


def main() -> None:
    """Start both, measure, stop both."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--seconds", type=float, default=60.0)
    words.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    given = words.parse_args()
    names = ("", "REDIS_", "CHROMA_", "RETRIEVER_", "GENERATOR_")
    ports = {f"RAGSTONE_{name}PORT": str(free_port()) for name in names}
    beside = free_port()
    corpus = ROOT / "corpus"
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "RAGSTONE_STATE_DIR": folder,
            "RAGSTONE_WRITER": "extractive",
            "RAGSTONE_PROFILE": str(corpus / "profile.yaml"),
            **ports,
            **UNLIMITED,
        }
        url, bare_url = f"http://127.0.0.1:{ports['RAGSTONE_PORT']}", f"http://127.0.0.1:{beside}"
        uvicorn = ("uvicorn", "--factory", "benchmarks.load:bare", "--port", str(beside), "--no-access-log")
        with process("services.local", "up", "--ingest", str(corpus), **settings), process(*uvicorn):
            with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
                waited_for(client, "/readyz")
                key = filled(client)
            with httpx.Client(base_url=bare_url, trust_env=False) as client:
                waited_for(client, "/")
            asyncio.run(measured(url, key, bare_url, given.clients, given.seconds))


if __name__ == "__main__":
    main()
