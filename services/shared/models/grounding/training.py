"""Fitting the weights. The only module here that needs SciPy.

Logistic regression whose weights keep the signs of their features. Without this, a fit on scientific abstracts
learns that a claim in many of the evidence's words is a suspicious one, and is wrong about everything else.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.shared.models.grounding.features import FAULTS, FEATURES, LIKENESS
from services.shared.models.grounding.reading import Rows
from services.shared.models.grounding.weights import Stage, Weights

SUPPORTED, CONTRADICTED, SILENT = "supported", "contradicted", "not_enough_info"

CUT = 4.0
PENALTY = {SUPPORTED: 0.2, CONTRADICTED: 0.1}
"""Of the squared weights, beside the mean loss."""

SHARES = {SUPPORTED: 0.5, CONTRADICTED: 0.25, SILENT: 0.25}
"""Of all weight, however many pairs there are of each label."""

FREE = frozenset(
    {"similarity_best", "held_best", "aligned", "aligned_least", "foreign_aligned", "foreign_least", "copied"}
)
"""Likeness that may speak either way once a claim is known not to be supported: a contradiction is close."""


@dataclass(frozen=True)
class Lesson:
    """A pair as it is learnt from."""

    row: Sequence[float]
    label: str
    group: str
    """Pairs of one claim, or of one text, are in one fold."""
    source: str


def train(lessons: Sequence[Lesson]) -> Weights:
    """Fit both stages. The same lessons give the same weights on the same machine."""
    rows = np.array([one.row for one in lessons])
    label = np.array([one.label for one in lessons])
    weight = _weights(label)
    mean = np.average(rows, axis=0, weights=weight)
    scale = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=weight)) + 1e-6
    inputs = np.clip((rows - mean) / scale, -CUT, CUT)
    rest = label != SUPPORTED
    return Weights(
        features=list(FEATURES),
        mean=mean.tolist(),
        scale=scale.tolist(),
        cut=CUT,
        supported=_fit(inputs, label == SUPPORTED, weight, _support_signs(), PENALTY[SUPPORTED]),
        contradicted=_fit(
            inputs[rest], label[rest] == CONTRADICTED, weight[rest], _contradiction_signs(), PENALTY[CONTRADICTED]
        ),
    )


def folds_of(lessons: Sequence[Lesson], folds: int, seed: int) -> NDArray[np.intp]:
    """The fold of each lesson; a group is in one fold."""
    groups = sorted({one.group for one in lessons})
    order = np.random.default_rng(seed).permutation(len(groups))
    fold = {groups[int(place)]: turn % folds for turn, place in enumerate(order)}
    return np.array([fold[one.group] for one in lessons], dtype=np.intp)


def _support_signs() -> list[tuple[float | None, float | None]]:
    return [(0.0, None)] * len(LIKENESS) + [(None, 0.0)] * len(FAULTS)


def _contradiction_signs() -> list[tuple[float | None, float | None]]:
    likeness = [(None, None) if name in FREE else (0.0, 0.0) for name in LIKENESS]
    faults = [(0.0, 0.0) if name.startswith("foreign_") else (0.0, None) for name in FAULTS]
    return [*likeness, *faults]


def _weights(label: NDArray[np.str_]) -> Rows:
    """What each lesson weighs; 1 in all."""
    weight = np.zeros(len(label))
    for name, share in SHARES.items():
        weight[label == name] = share / max(int((label == name).sum()), 1)
    return np.asarray(weight / weight.sum())


def _fit(
    inputs: Rows,
    positive: NDArray[np.bool_],
    weight: Rows,
    signs: Sequence[tuple[float | None, float | None]],
    penalty: float,
) -> Stage:
    from scipy.optimize import minimize

    weight = weight / weight.sum()
    target = np.where(positive, 1.0, -1.0)

    def loss(values: Rows) -> tuple[float, Rows]:
        odds = target * (inputs @ values[1:] + values[0])
        pull = -weight * target / (1 + np.exp(odds))
        slope = np.concatenate([[pull.sum()], pull @ inputs + penalty * values[1:]])
        return float(weight @ np.logaddexp(0, -odds) + penalty / 2 * (values[1:] @ values[1:])), slope

    bounds = [(None, None), *signs]
    values = minimize(loss, np.zeros(inputs.shape[1] + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    return _sharpened(inputs, target, weight, values)


def _sharpened(inputs: Rows, target: Rows, weight: Rows, values: Rows) -> Stage:
    """Platt's method: the penalty makes the odds too timid to be probabilities; one factor puts that right."""
    from scipy.optimize import minimize

    odds = inputs @ values[1:]

    def loss(pair: Rows) -> float:
        return float(weight @ np.logaddexp(0, -target * (pair[0] * odds + pair[1])))

    factor, intercept = minimize(loss, np.array([1.0, values[0]]), method="Nelder-Mead").x
    return Stage(weights=(factor * values[1:]).tolist(), intercept=float(intercept))
