"""Train the grounding model and write the shipped weights.

Run: python -m benchmarks.groundedness_train DATA   (DATA holds grounded/scifact-train-pairs.jsonl and
grounded/climate-fever-a-pairs.jsonl; three minutes on one core)

Learnt from SciFact's training pairs (CC BY 4.0) alone. Climate-FEVER has no stated licence: figures in the manifest
are measured on it, and no weight comes from it.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.grounding_material import CLIMATE, SCIFACT, lessons, own, people
from services.shared.kit.settings import EmbedderSettings
from services.shared.models.embedder import ModelSpec
from services.shared.models.grounding.grounder import Reader
from services.shared.models.grounding.reading import Rows
from services.shared.models.grounding.runtime import SHIPPED, Judge
from services.shared.models.grounding.training import SUPPORTED, Lesson, folds_of, train
from services.shared.models.grounding.weights import MANIFEST, WEIGHTS, Manifest, Source, Weights
from services.shared.models.loader import load_embedder

FOLDS, SEED = 5, 0
DIGITS = 6
"""Significant digits of a weight in the file."""


def main(data: Path) -> None:
    """Read, fit, measure, write."""
    embedder = load_embedder(EmbedderSettings())
    reader = Reader(embedder)
    written = lessons(reader, people(data / SCIFACT), views=True)
    weights = rounded(train([one for found in written for one in found]))
    judge = Judge(weights, described(weights, len(written), embedder.spec))
    figures = {"scifact_folds_auc": auc(first(written), cross_validated(written)[:, 0])}
    for name, pairs in (("climate_fever_auc", people(data / CLIMATE)), ("own_pairs_auc", own())):
        exam = first(lessons(reader, pairs, views=False))
        figures[name] = auc(exam, judge.judge(np.array([one.row for one in exam]))[:, 0])
    write(SHIPPED, weights, judge.manifest.model_copy(update={"held_out": figures}))
    print(figures)


def cross_validated(written: Sequence[Sequence[Lesson]]) -> Rows:
    """Of each pair of a data set, what weights say that saw no pair of its claim."""
    exam = first(written)
    folds = folds_of(exam, FOLDS, SEED)
    values = np.zeros((len(exam), 2))
    for fold in range(FOLDS):
        held = {one.group for one, own_fold in zip(exam, folds, strict=True) if own_fold == fold}
        judge = Judge(train([one for found in written for one in found if one.group not in held]), blank())
        mine = np.flatnonzero(folds == fold)
        values[mine] = judge.judge(np.array([exam[place].row for place in mine]))
    return values


def first(found: Sequence[Sequence[Lesson]]) -> list[Lesson]:
    """Each pair as it is in its data set, without the parts."""
    return [one[0] for one in found if one]


def auc(exam: Sequence[Lesson], values: Rows) -> float:
    """Area under the ROC curve of supported against the rest."""
    from sklearn.metrics import roc_auc_score

    return round(float(roc_auc_score([one.label == SUPPORTED for one in exam], values)), 4)


def rounded(weights: Weights) -> Weights:
    """As they are written: more digits would only differ from machine to machine."""
    text = weights.model_dump_json()
    return Weights.model_validate(json.loads(text, parse_float=lambda number: float(f"{float(number):.{DIGITS}g}")))


def described(weights: Weights, pairs: int, spec: ModelSpec) -> Manifest:
    """The manifest, still without figures."""
    return Manifest(
        sha256=hashlib.sha256(content(weights)).hexdigest(),
        seed=SEED,
        embedder=spec.name,
        revision=spec.revision,
        sources=[Source(name=Path(SCIFACT).stem, licence="CC BY 4.0; abstracts ODC-By 1.0", pairs=pairs)],
        held_out={},
        versions={name: version(name) for name in ("numpy", "scipy")},
    )


def content(weights: Weights) -> bytes:
    """The weights' file."""
    return (json.dumps(weights.model_dump(mode="json"), separators=(",", ":")) + "\n").encode()


def write(into: Path, weights: Weights, manifest: Manifest) -> None:
    """Two files: the weights, and the manifest with their SHA-256."""
    into.mkdir(parents=True, exist_ok=True)
    (into / WEIGHTS).write_bytes(content(weights))
    (into / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


def blank() -> Manifest:
    """Of weights that are never written."""
    return Manifest(sha256="", seed=SEED, embedder="", revision="", sources=[], held_out={}, versions={})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
