"""Reading a collection's documents and sending them as one batch, timed."""

import json
import time
from pathlib import Path
from typing import Any

import httpx


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """All rows of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def ingest(client: httpx.Client, documents: list[dict[str, Any]]) -> float:
    """Send one NDJSON batch, wait for its end, and return documents per second."""
    lines = (json.dumps({"id": row["_id"], "title": row["title"] or None, "text": row["text"]}) for row in documents)
    began = time.perf_counter()
    sent = client.post(
        "/v1/documents",
        content="\n".join(lines).encode(),
        headers={"Content-Type": "application/x-ndjson"},
    )
    sent.raise_for_status()
    job_id = sent.json()["jobs"][0]["id"]
    while True:
        job = client.get(f"/v1/jobs/{job_id}").raise_for_status().json()
        if job["state"] not in ("queued", "running"):
            break
        time.sleep(0.5)
    rate = len(documents) / (time.perf_counter() - began)
    print(f"ingested: {job['state']}, {job['result']}, {rate:.1f} documents a second", flush=True)
    return rate
