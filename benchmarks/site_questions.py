"""A folder of pages and a file of questions through the running system: gold page found, answered, abstained.

Usage: python -m benchmarks.site_questions QUESTIONS.jsonl [--url URL] [--space NAME]

The folder is ingested beforehand with ``ragstone ingest FOLDER --space NAME``. Each question has text, answerable,
gold (document ids) and evidence (sentences that hold the answer).
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

import httpx

_SPACE = re.compile(r"\s+")


def plain(text: str) -> str:
    """Text without Markdown emphasis and with single spaces, for comparing evidence."""
    return _SPACE.sub(" ", re.sub(r"[*_`]", "", text)).strip().lower()


def judge(answer: dict[str, Any], question: dict[str, Any]) -> str:
    """What became of one question."""
    if answer["status"] != "answered":
        return "abstained (right)" if not question["answerable"] else "abstained (wrong)"
    if not question["answerable"]:
        return "answered an unanswerable question"
    said = plain(answer["text"] + " " + " ".join(citation["quote"] for citation in answer["citations"]))
    held = any(plain(evidence) in said for evidence in question["evidence"])
    held = held or any(plain(expected) in said for expected in question["answers"])
    return "answered with the evidence" if held else "answered otherwise"


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--space", default="main")
    options = parser.parse_args()
    client = httpx.Client(base_url=options.url, headers={"Ragstone-Space": options.space}, timeout=120)
    outcomes: dict[str, int] = {}
    gold_found = answerable = 0
    for line in options.questions.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        found = client.post("/v1/search", json={"question": question["text"]}).raise_for_status().json()
        answer = client.post("/v1/ask", json={"question": question["text"]}).raise_for_status().json()
        outcome = judge(answer, question)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        documents = [passage["document_id"] for passage in found["passages"]]
        hit = bool(set(documents) & set(question["gold"]))
        if question["answerable"]:
            answerable += 1
            gold_found += hit
        print(f"{question['_id']:6} gold={'yes' if hit else 'no':3} {outcome}: {question['text']}")
        print(f"       -> {answer['text'][:300]}")
    print(f"\ngold page among the passages: {gold_found} of {answerable} answerable questions")
    for outcome, count in sorted(outcomes.items()):
        print(f"{outcome}: {count}")


if __name__ == "__main__":
    main()
