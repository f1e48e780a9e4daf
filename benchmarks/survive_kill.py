"""Kills the worker and empties Redis in the middle of an ingestion, and counts what is there at the end.

Usage: python -m benchmarks.survive_kill FOLDER [--url URL] [--state-dir DIR]

The local run must be up. FOLDER/corpus.jsonl goes in as one batch; when a third is done, the worker and its children
get SIGKILL and Redis is flushed. The supervisor starts a new worker, the reconciler rings again. Afterwards every
document must be there once, every chunk must have its vector, and no job may wait or run.
"""

import argparse
import json
import os
import signal
import time
import uuid
from pathlib import Path

import httpx
import psutil
import redis

from benchmarks.sending import read_jsonl
from services.local.state import RunFolder
from services.shared.catalog import chunks, indexes
from services.shared.catalog.engine import Catalog
from services.shared.contracts.ids import SpaceId
from services.shared.index.chroma import VectorIndex
from services.shared.kit.settings import StateSettings


def kill_worker(folder: RunFolder) -> None:
    """SIGKILL for the worker and its children."""
    run = folder.live()
    pid = next((part.pid for part in run.parts if part.name == "worker"), None) if run else None
    if pid is None:
        raise SystemExit("no worker runs on this state folder; start it with `ragstone up --background`")
    process = psutil.Process(pid)
    for victim in [process, *process.children(recursive=True)]:
        os.kill(victim.pid, signal.SIGKILL)


def port_of(folder: RunFolder, name: str) -> int:
    """Port of a part of the run."""
    run = folder.live()
    assert run is not None
    port = next(part.port for part in run.parts if part.name == name)
    assert port is not None
    return port


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--state-dir", type=Path, default=Path(".ragstone"))
    options = parser.parse_args()
    documents = read_jsonl(options.folder / "corpus.jsonl")
    folder = RunFolder(options.state_dir)
    space = SpaceId(f"kill-{uuid.uuid4().hex[:8]}")
    client = httpx.Client(base_url=options.url, headers={"Ragstone-Space": space}, timeout=60)
    lines = "\n".join(json.dumps({"id": row["_id"], "title": row["title"], "text": row["text"]}) for row in documents)
    sent = client.post("/v1/documents", content=lines.encode(), headers={"Content-Type": "application/x-ndjson"})
    job_id = sent.raise_for_status().json()["jobs"][0]["id"]
    killed_at = None
    began = time.perf_counter()
    while True:
        job = client.get(f"/v1/jobs/{job_id}").raise_for_status().json()
        if killed_at is None and job["done"] >= len(documents) / 3:
            kill_worker(folder)
            redis.Redis(port=port_of(folder, "redis")).flushall()
            killed_at = job["done"]
            print(f"killed and flushed at {killed_at} of {len(documents)}", flush=True)
        if job["state"] not in ("queued", "running"):
            break
        time.sleep(0.5)
    catalog = Catalog(StateSettings(state_dir=options.state_dir, database_url=None).catalog_url)
    with catalog.read() as tx:
        live_documents, live_chunks = chunks.counts(tx, space)
        index = indexes.serving(tx, space)
    assert index is not None
    vectors = VectorIndex(f"http://127.0.0.1:{port_of(folder, 'chroma')}", index).count(None)
    counts = client.get("/v1/jobs").json()["counts"]
    print(f"job: {job['state']}, {job['attempts']} attempts, {job['result']}, {time.perf_counter() - began:.0f} s")
    print(f"documents {live_documents} of {len(documents)}, chunks {live_chunks}, vectors {vectors}, jobs {counts}")


if __name__ == "__main__":
    main()
