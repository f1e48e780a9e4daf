"""Collections with judged questions, and nDCG@10, for the benchmarks of ranking."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

DEPTH = 10


@dataclass(frozen=True)
class Judged:
    """A collection: texts (title, line break, body), questions, and for each question the gain of its texts."""

    name: str
    ids: list[str]
    texts: list[str]
    questions: dict[str, str]
    gains: dict[str, dict[str, int]]


def load(folder: Path) -> Judged:
    """Read ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv``; questions without a judgement are left out."""
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    gains: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, text, gain = line.split("\t")
        if int(gain) > 0:
            gains[question][text] = int(gain)
    asked = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    return Judged(
        name=folder.name,
        ids=[row["_id"] for row in corpus],
        texts=[f"{row['title']}\n{row['text']}" for row in corpus],
        questions={row["_id"]: row["text"] for row in asked if row["_id"] in gains},
        gains=dict(gains),
    )


def ndcg(ranked: Sequence[str], gains: Mapping[str, int]) -> float:
    """nDCG@10 of one question, gains counting as they are (as trec_eval does)."""
    best = sorted(gains.values(), reverse=True)
    return _dcg(gains.get(text, 0) for text in ranked) / _dcg(best)


def _dcg(gains: Iterable[int]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in zip(range(DEPTH), gains, strict=False))
