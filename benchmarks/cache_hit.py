"""Milliseconds of an answer that is given again, beside the same one made anew.

Run: python -m benchmarks.cache_hit [--url URL] [--space NAME] [--rounds N]

For a running Ragstone that holds corpus/, with the extractive writer (RAGSTONE_WRITER=extractive). The questions are
those of evals/questions.jsonl that are answered; each is asked anew and again in turns, one client at a time.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles

import httpx

QUESTIONS = Path(__file__).parents[1] / "evals" / "questions.jsonl"
MOST = 30
KEPT_WITHIN_S = 1.0
"""An answer is kept right after it was sent."""


def ask(client: httpx.Client, question: str, *, fresh: bool) -> tuple[float, bool, str]:
    """Milliseconds as the client sees them, whether it was given before, and what became of it."""
    headers = {"Cache-Control": "no-cache"} if fresh else {}
    began = time.perf_counter()
    response = client.post("/v1/ask", json={"question": question}, headers=headers)
    took = 1000 * (time.perf_counter() - began)
    answer = response.raise_for_status().json()
    return took, answer["cached"], answer["status"]


def kept(client: httpx.Client, question: str) -> bool:
    """Is the question answered, and its answer given again?"""
    if ask(client, question, fresh=False)[2] != "answered":
        return False
    deadline = time.monotonic() + KEPT_WITHIN_S
    while time.monotonic() < deadline:
        if ask(client, question, fresh=False)[1]:
            return True
        time.sleep(0.05)
    return False


def told(name: str, took: Sequence[float]) -> str:
    """A line for people."""
    late = quantiles(took, n=20)[-1]
    return f"{name}: median {median(took):.1f} ms, 95th percentile {late:.1f} ms, n {len(took)}"


def main() -> None:
    """Ask, and print two lines."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--url", default="http://127.0.0.1:8000")
    words.add_argument("--space", default="main")
    words.add_argument("--rounds", type=int, default=5)
    given = words.parse_args()
    headers = {"Ragstone-Space": given.space}
    anew: list[float] = []
    again: list[float] = []
    with httpx.Client(base_url=given.url, headers=headers, timeout=60, trust_env=False) as client:
        texts = [json.loads(line)["text"] for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
        questions = [text for text in texts[: 2 * MOST] if kept(client, text)][:MOST]
        for _ in range(given.rounds):
            for question in questions:
                anew.append(ask(client, question, fresh=True)[0])
                took, cached, _ = ask(client, question, fresh=False)
                if cached:
                    again.append(took)
    print(f"{len(questions)} questions, {given.rounds} rounds")
    print(told("made anew", anew))
    print(told("given again", again))


if __name__ == "__main__":
    main()
