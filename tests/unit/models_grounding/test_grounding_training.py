"""Fitting: signs are kept, and folds hold groups together."""

import numpy as np

from services.shared.models.grounding.features import FEATURES, LIKENESS
from services.shared.models.grounding.runtime import Judge
from services.shared.models.grounding.training import CONTRADICTED, SILENT, SUPPORTED, Lesson, folds_of, train
from services.shared.models.grounding.weights import Manifest

DENIAL = FEATURES.index("denial")
HELD = FEATURES.index("held_best")


def lessons(number: int = 300) -> list[Lesson]:
    """Support where the words are held and nothing is denied; "similarity" misleads: it is high where it should not."""
    dice = np.random.default_rng(0)
    found = []
    for place in range(number):
        label = (SUPPORTED, CONTRADICTED, SILENT)[place % 3]
        values = dice.normal(0.3, 0.05, len(FEATURES))
        values[HELD] = dice.normal(0.9 if label != SILENT else 0.3, 0.1)
        values[DENIAL] = float(label == CONTRADICTED)
        values[FEATURES.index("similarity")] = dice.normal(0.5 if label == SUPPORTED else 0.9, 0.1)
        found.append(Lesson(values.tolist(), label, f"group {place % 40}", "set"))
    return found


def test_weights_keep_the_signs_of_their_features() -> None:
    weights = train(lessons()).supported.weights
    assert all(weight >= 0 for weight in weights[: len(LIKENESS)])
    assert all(weight <= 0 for weight in weights[len(LIKENESS) :])
    assert weights[FEATURES.index("similarity")] == 0


def test_what_was_learnt_tells_the_labels_apart() -> None:
    found = lessons()
    blank = Manifest(sha256="", seed=0, embedder="", revision="", sources=[], held_out={}, versions={})
    values = Judge(train(found), blank).judge(np.array([one.row for one in found]))
    label = np.array([one.label for one in found])
    assert values[label == SUPPORTED, 0].min() > values[label == CONTRADICTED, 0].max()
    assert values[label == CONTRADICTED, 1].mean() > 0.6 > 0.4 > values[label == SILENT, 1].mean()
    assert (values.sum(axis=1) <= 1 + 1e-9).all()


def test_training_twice_gives_the_same() -> None:
    assert train(lessons()) == train(lessons())


def test_a_group_is_in_one_fold() -> None:
    found = lessons()
    folds = folds_of(found, 5, seed=1)
    assert len({(one.group, int(fold)) for one, fold in zip(found, folds, strict=True)}) == 40
    assert set(folds) == {0, 1, 2, 3, 4}
