"""Is a claim supported by a text? Rules alone, model alone and both, on two data sets and on the product's own pairs.

Run: python -m benchmarks.groundedness DATA   (DATA as for benchmarks.groundedness_train; three minutes on one core)

Rules: a claim without a fault is supported; a fault contradicts where the evidence holds half of the claim's words.
Model: supported from a threshold on; of the rest, contradicted from another threshold on. Both thresholds are fitted
on one set and used on the other. Whatever is said of SciFact is cross-validated, in five folds by claim; of
Climate-FEVER and of the own pairs the shipped weights never saw a pair.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.groundedness_train import auc, blank, cross_validated, first
from benchmarks.grounding_material import CLIMATE, SCIFACT, Pair, lessons, own, people
from services.generator.domain.facts import faults
from services.generator.domain.terms import overlap
from services.shared.contracts.grounding import Pair as Asked
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.grounding.features import FEATURES
from services.shared.models.grounding.grounder import Grounder, Reader
from services.shared.models.grounding.reading import Rows
from services.shared.models.grounding.runtime import Judge, shipped
from services.shared.models.grounding.training import CONTRADICTED, SILENT, SUPPORTED, Lesson, train
from services.shared.models.loader import load_embedder

LABELS = (SUPPORTED, CONTRADICTED, SILENT)
SHARED_WORDS = 0.5
STEPS = np.linspace(0.02, 0.98, 97)
TIMED = 60

Labels = NDArray[np.str_]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Exam:
    """A set of pairs with all that is held of them."""

    name: str
    lessons: list[Lesson]
    label: Labels
    kind: Labels
    faulty: Bools
    """A rule objects."""
    near: Bools
    """The evidence holds half of the claim's words."""
    values: Rows
    """The model's two probabilities."""

    def supported(self, way: str, threshold: float) -> Bools:
        """By rules, model or both."""
        model = self.values[:, 0] >= threshold
        return {"rules": ~self.faulty, "model": model, "both": model & ~self.faulty}[way]

    def judged(self, way: str, threshold: float, against: float) -> Labels:
        """The label of each pair; ``against`` is the threshold of a contradiction among what is not supported."""
        share = self.values[:, 1] / np.maximum(1 - self.values[:, 0], 1e-9)
        denied = {"rules": self.faulty & self.near, "model": share >= against}
        denied["both"] = denied["model"] | denied["rules"]
        rest = np.where(denied[way], CONTRADICTED, SILENT)
        return np.asarray(np.where(self.supported(way, threshold), SUPPORTED, rest))

    def balanced(self, way: str, threshold: float) -> float:
        """Mean of the shares of supported and of other pairs that are held for what they are."""
        said, right = self.supported(way, threshold), self.label == SUPPORTED
        return float((said[right].mean() + (~said[~right]).mean()) / 2)

    def recalls(self, way: str, threshold: float, against: float) -> list[float]:
        """Of each label the share that is found."""
        said = self.judged(way, threshold, against)
        return [float((said[self.label == one] == one).mean()) for one in LABELS]


def main(data: Path) -> None:
    """Print the tables."""
    reader = Reader(load_embedder(EmbedderSettings()))
    written, climate_pairs, own_pairs = people(data / SCIFACT), people(data / CLIMATE), own()
    scifact_lessons = lessons(reader, written, views=True)
    climate_lessons = lessons(reader, climate_pairs, views=False)
    judge = shipped()
    scifact = exam("SciFact (folds)", written, scifact_lessons, cross_validated(scifact_lessons))
    climate = exam("Climate-FEVER", climate_pairs, climate_lessons, judged(judge, first(climate_lessons)))
    own_lessons = lessons(reader, own_pairs, views=False)
    owned = exam("own pairs", own_pairs, own_lessons, judged(judge, first(own_lessons)))
    print("| supported against the rest, area under the ROC curve | SciFact (folds) | Climate-FEVER | own pairs |")
    print("|---|---|---|---|")
    likest = FEATURES.index("similarity_best")
    for name, column in (("cosine of the likest sentence", likest), ("model", None)):
        areas = [
            auc(one.lessons, one.values[:, 0] if column is None else np.array([row.row[column] for row in one.lessons]))
            for one in (scifact, climate, owned)
        ]
        print(f"| {name} | " + " | ".join(f"{area:.3f}" for area in areas) + " |")
    table([(scifact, climate), (climate, scifact), (scifact, owned), (climate, owned), (owned, climate)])
    other_direction(scifact_lessons, climate_lessons, scifact, climate)
    by_threshold((scifact, climate, owned))
    by_kind(owned)
    speed(Grounder(reader, judge), own_pairs)


def exam(name: str, pairs: Sequence[Pair], found: Sequence[Sequence[Lesson]], values: Rows) -> Exam:
    """What rules and model hold of the pairs; one without words is left out."""
    readable = [pair for pair, own_lessons in zip(pairs, found, strict=True) if own_lessons]
    return Exam(
        name=name,
        lessons=first(found),
        label=np.array([pair.label for pair in readable]),
        kind=np.array([pair.kind for pair in readable]),
        faulty=np.array([bool(faults(pair.claim, pair.evidence)) for pair in readable]),
        near=np.array([overlap(pair.claim, pair.evidence) >= SHARED_WORDS for pair in readable]),
        values=values,
    )


def judged(judge: Judge, found: Sequence[Lesson]) -> Rows:
    """The model's probabilities."""
    return judge.judge(np.array([one.row for one in found]))


def fitted(on: Exam, way: str) -> tuple[float, float]:
    """The thresholds that are best on a set: first of support, then of contradiction."""
    threshold = _best(lambda value: on.balanced(way, value))
    return threshold, _best(lambda value: float(np.mean(on.recalls(way, threshold, value))))


def _best(figure: Callable[[float], float]) -> float:
    """The middle of the values that do best: the edge of a plateau is a matter of luck."""
    figures = np.array([figure(float(value)) for value in STEPS])
    return float(np.median(STEPS[figures >= figures.max() - 1e-9]))


def table(directions: Sequence[tuple[Exam, Exam]]) -> None:
    """Thresholds of one set, figures of the other."""
    print(
        "\n| thresholds fitted on | figures on | way | balanced accuracy | supported | contradicted | silent | mean |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for fit, on in directions:
        for way in ("rules", "model", "both"):
            threshold, against = fitted(fit, way)
            recalls = on.recalls(way, threshold, against)
            said = "" if way == "rules" else f" (from {threshold:.2f}; {against:.2f})"
            figures = " | ".join(f"{one:.3f}" for one in (on.balanced(way, threshold), *recalls, np.mean(recalls)))
            print(f"| {fit.name} | {on.name} | {way}{said} | {figures} |")


def other_direction(
    scifact_lessons: Sequence[Sequence[Lesson]],
    climate_lessons: Sequence[Sequence[Lesson]],
    scifact: Exam,
    climate: Exam,
) -> None:
    """Weights that learnt from Climate-FEVER, never shipped, on all of SciFact: nothing is cross-validated there."""
    judge = Judge(train(first(climate_lessons)), blank())
    folds = cross_validated(climate_lessons)
    there = Exam(**{**vars(scifact), "name": "SciFact", "values": judged(judge, first(scifact_lessons))})
    here = Exam(**{**vars(climate), "name": "Climate-FEVER (folds)", "values": folds})
    print(f"\nLearnt from Climate-FEVER instead: AUC on SciFact {auc(there.lessons, there.values[:, 0]):.3f}")
    table([(here, there)])


def by_threshold(exams: Sequence[Exam]) -> None:
    """Rules and model together at fixed thresholds: kept of what is supported, let through of what is not."""
    print("\n| both, threshold | " + " | ".join(f"{one.name}: kept, let through" for one in exams) + " |")
    print("|---|" + "---|" * len(exams))
    for threshold in (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7):
        cells = []
        for one in exams:
            said, right = one.supported("both", threshold), one.label == SUPPORTED
            cells.append(f"{said[right].mean():.2f}, {said[~right].mean():.2f}")
        print(f"| {threshold} | " + " | ".join(cells) + " |")


def by_kind(owned: Exam) -> None:
    """Own pairs: what each kind's claims are held for, the model at one half."""
    print(
        "\n| own pairs | pairs | rules object | model under 0.5 | either | contradicted by the model |\n|---|"
        + "---|" * 5
    )
    for kind in sorted(set(owned.kind)):
        mine = owned.kind == kind
        low = owned.values[mine, 0] < 0.5
        denied = (owned.judged("model", 0.5, 0.5)[mine] == CONTRADICTED).sum()
        both = (low | owned.faulty[mine]).sum()
        print(f"| {kind} | {mine.sum()} | {owned.faulty[mine].sum()} | {low.sum()} | {both} | {denied} |")


def speed(grounder: Grounder, pairs: Sequence[Pair]) -> None:
    """One pair at a time, as a writer asks."""
    took, spent = [], []
    for pair in pairs[:TIMED]:
        began, used = time.perf_counter(), time.process_time()
        grounder.ground([Asked(claim=pair.claim, evidence=pair.evidence)])
        took.append(1000 * (time.perf_counter() - began))
        spent.append(1000 * (time.process_time() - used))
    print(f"\none pair: {np.median(took):.1f} ms (p95 {np.quantile(took, 0.95):.1f}), {np.median(spent):.1f} ms of CPU")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
