"""Ranking of a BEIR-style folder through the running system: nDCG@10 of vectors, BM25 and both fused.

Usage: python -m benchmarks.ir_through_system FOLDER [--url URL] [--space NAME] [--limit N] [--no-ingest]

FOLDER holds corpus.jsonl, queries.jsonl and qrels.tsv. Documents are sent as one NDJSON batch, one document an
abstract; each question asks /v1/search for 100 passages, which are folded to their documents (best passage
first). Prints a Markdown table and documents per second from sending to the job's end.
"""

import argparse
import json
import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import httpx

RUNS: dict[str, dict[str, bool]] = {
    "vectors": {"bm25": False, "gate": False, "diversity": False},
    "BM25": {"vector": False, "gate": False, "diversity": False},
    "fused": {"gate": False, "diversity": False},
}


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """All rows of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Grades by question and document."""
    grades: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        question, document, grade = line.split("\t")
        grades.setdefault(question, {})[document] = int(grade)
    return grades


def ndcg_at(ranked: Iterable[str], grades: Mapping[str, int], cut: int = 10) -> float:
    """Normalised discounted cumulative gain with linear gains, as trec_eval's ndcg_cut."""
    gained = sum(grades.get(document, 0) / math.log2(n + 2) for n, document in enumerate(list(ranked)[:cut]))
    ideal = sum(
        grade / math.log2(n + 2)
        for n, grade in enumerate(sorted((g for g in grades.values() if g), reverse=True)[:cut])
    )
    return gained / ideal if ideal else 0.0


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


def rank(client: httpx.Client, question: str, stages: dict[str, bool]) -> list[str]:
    """Documents for a question, best first."""
    answer = client.post("/v1/search", json={"question": question, "top_k": 100, "stages": stages})
    answer.raise_for_status()
    return list(dict.fromkeys(passage["document_id"] for passage in answer.json()["passages"]))


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--space", default="bench")
    parser.add_argument("--limit", type=int, default=0, help="questions to ask; 0 is all")
    parser.add_argument("--no-ingest", action="store_true")
    options = parser.parse_args()
    grades = read_qrels(options.folder / "qrels.tsv")
    questions = [row for row in read_jsonl(options.folder / "queries.jsonl") if row["_id"] in grades]
    questions = questions[: options.limit or None]
    client = httpx.Client(base_url=options.url, headers={"Ragstone-Space": options.space}, timeout=120)
    if not options.no_ingest:
        ingest(client, read_jsonl(options.folder / "corpus.jsonl"))
    print("| lists | nDCG@10 | recall@100 | ms a question |\n|---|---|---|---|")
    for name, stages in RUNS.items():
        began = time.perf_counter()
        rankings = [rank(client, row["text"], stages) for row in questions]
        elapsed_ms = 1000 * (time.perf_counter() - began) / len(questions)
        ndcg = sum(ndcg_at(r, grades[q["_id"]]) for r, q in zip(rankings, questions, strict=True)) / len(questions)
        found = [
            len(set(r[:100]) & {d for d, g in grades[q["_id"]].items() if g})
            / max(1, sum(1 for g in grades[q["_id"]].values() if g))
            for r, q in zip(rankings, questions, strict=True)
        ]
        print(f"| {name} | {ndcg:.4f} | {sum(found) / len(found):.4f} | {elapsed_ms:.1f} |", flush=True)


if __name__ == "__main__":
    main()
