"""Distances of other embedders on the scale of all-MiniLM-L6-v2, for which gate and critic are fitted.

Run: python -m benchmarks.embedder_scales EMBEDDER [DATA]   (DATA holds qa/squad2-dev9 and qa/hotpotqa-200)

The questions are those of ``benchmarks.gate_fit``. A distance is moved and stretched so that the nearest passages'
mean and spread over all questions of squad2-dev9 become those of MiniLM; hotpotqa-200 is held out.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.gate_fit import Array, Asked, auroc, evidence, hotpot, squad
from services.retriever.domain.gate import Evidence, answerable_by_lists
from services.retriever.domain.limits import GATE_DISTANCE
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.embedders import Embedders
from services.shared.models.source import MINILM


def main(name: str, data: Path) -> None:
    """Print the scale, and what the gate makes of each kind of question by it and without it."""
    embedders = Embedders(EmbedderSettings())
    base, other = embedders.new(MINILM), embedders.new(name)
    rows, asked = squad(data / "qa" / "squad2-dev9")
    wanted, own = evidence(base, rows, asked), evidence(other, rows, asked)
    factor = float(distances(wanted).std() / distances(own).std())
    shift = float(distances(own).mean() - distances(wanted).mean() / factor)
    print(
        f"{name}: Scale(shift={shift:.3f}, factor={factor:.2f}); 0.55 is {shift + GATE_DISTANCE / factor:.3f} of its\n"
    )
    table(
        "squad2-dev9", asked, {MINILM: wanted, f"{name}, as it is": own, f"{name}, scaled": scaled(own, shift, factor)}
    )
    rows, asked = hotpot(data / "qa" / "hotpotqa-200")
    wanted, own = evidence(base, rows, asked), evidence(other, rows, asked)
    table(
        "hotpotqa-200", asked, {MINILM: wanted, f"{name}, as it is": own, f"{name}, scaled": scaled(own, shift, factor)}
    )


def scaled(seen: Sequence[Evidence], shift: float, factor: float) -> list[Evidence]:
    """The same with the distances of MiniLM's scale."""
    return [replace(one, distance=near) for one, near in zip(seen, (distances(seen) - shift) * factor, strict=True)]


def distances(seen: Sequence[Evidence]) -> Array:
    """Of the nearest passage of each question."""
    return np.array([one.distance for one in seen], dtype=np.float64)


def table(data: str, asked: Sequence[Asked], by_model: dict[str, list[Evidence]]) -> None:
    """By model and kind: the nearest passages' distances, and how many are near enough for the gate."""
    kinds = np.array([one.kind for one in asked])
    print(f"| {data} | kind | 10 % | median | 90 % | passes by distance | answerable, mean | AUROC |")
    print("|---|---|---|---|---|---|---|---|")
    for name, seen in by_model.items():
        likely = np.array([answerable_by_lists(one) for one in seen])
        for kind in dict.fromkeys(kinds):
            of = kinds == kind
            near = distances(seen)[of]
            cells = [f"{value:.3f}" for value in np.quantile(near, (0.1, 0.5, 0.9))]
            cells += [f"{(near <= GATE_DISTANCE).mean():.3f}", f"{likely[of].mean():.3f}"]
            both = of | (kinds == "answerable")
            cells.append("" if kind == "answerable" else f"{auroc(likely[both], kinds[both] == 'answerable'):.3f}")
            print(f"| {name} | {kind} | {' | '.join(cells)} |")
    print()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2] if len(sys.argv) > 2 else "../shared/data"))
