"""Which questions ask for the same: similarity alone, the rules for words, and both.

Run: python -m benchmarks.same_questions [EMBEDDER]

The rules and the threshold were chosen with evals/same_questions.jsonl in sight; same_questions_held_out.jsonl was
written after the rules, and the threshold was looked at on both. Wrongly joined is a share of the pairs that ask for
different things, joined one of those that ask for the same.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from services.gateway.domain.same_question import SAME_FROM, may_be_same
from services.retriever.domain.scale import scale_of
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.embedders import Embedders
from services.shared.models.source import MINILM

Array = NDArray[np.float64]
EVALS = Path(__file__).parents[1] / "evals"
PAIRS = ("same_questions.jsonl", "same_questions_held_out.jsonl")
THRESHOLDS = (0.6, 0.65, 0.7, SAME_FROM, 0.8, 0.85, 0.9)


def main(embedder: str) -> None:
    """Print a table for each set of pairs, and the pairs that both ways together get wrong."""
    model = Embedders(EmbedderSettings()).new(embedder)
    for name in PAIRS:
        pairs = [json.loads(line) for line in (EVALS / name).read_text(encoding="utf-8").splitlines()]
        # As in the retriever's POST /score: the one as a question, the other as a text.
        ones = np.asarray(model.embed_questions([pair["one"] for pair in pairs]), dtype=np.float64)
        others = np.asarray(model.embed_documents([pair["other"] for pair in pairs]), dtype=np.float64)
        scale = scale_of(embedder)
        near = np.array([1 - scale.common(1 - float(one @ other)) for one, other in zip(ones, others, strict=True)])
        print(f"## {name}, {embedder}\n")
        table(pairs, near)


def table(pairs: list[dict[str, Any]], near: Array) -> None:
    """By threshold, for similarity alone and with the rules."""
    allowed = np.array([may_be_same(pair["one"], pair["other"]) for pair in pairs])
    same = np.array([pair["same"] for pair in pairs])
    print(
        f"{same.sum()} pairs ask for the same, {(~same).sum()} do not; the rules let {allowed[same].sum()} and "
        f"{allowed[~same].sum()} of them through\n"
    )
    print("| joined from | similarity alone: joined | wrongly joined | with the rules: joined | wrongly joined |")
    print("|---|---|---|---|---|")
    for threshold in THRESHOLDS:
        alone, both = near >= threshold, (near >= threshold) & allowed
        cells = [f"{way[kind].mean():.1%}" for way in (alone, both) for kind in (same, ~same)]
        print(f"| {threshold:g} | {' | '.join(cells)} |")
    print()
    joined = (near >= SAME_FROM) & allowed
    for place in np.flatnonzero(joined != same):
        pair = pairs[place]
        why = "joined" if joined[place] else "kept apart" if allowed[place] else "kept apart by the rules"
        print(f"{why}: {pair['one']} / {pair['other']} ({near[place]:.2f})")
    print()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else MINILM)
