"""The probability that passages answer a question: a logistic function of the retriever's features, fitted.

Cross-fitted: each question's own probability comes from a fit that saw no question of the same group.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from services.shared.contracts.calibration import Logistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Truth = NDArray[np.bool_]

FOLDS = 5
STRENGTH = 0.3
"""Inverse of the L2 penalty on standardised weights. On the sample site anything from 0.1 to 1 does as well; more
features are left out for want of a clear sign the nearer it is to 1."""


@dataclass(frozen=True)
class Fit:
    """What was fitted, and what the fits that did not see a question say of it."""

    logistic: Logistic
    held_out: list[float]
    """Of each row, in the rows' order."""
    fold: list[int]
    left_out: list[str]
    """Features that some row lacks, that never change, or that spoke against what they say alone."""


def fit(rows: Sequence[Mapping[str, float]], truth: Sequence[bool], groups: Sequence[str], seed: int) -> Fit:
    """Logistic regression on standardised features, folded back into raw weights.

    Both classes weigh the same, however many rows each has. A feature whose weight has the other sign than its own
    relation to the truth stands in for something else (a suppressor), and turns a better value into a worse verdict
    where content differs: the one that does so most is taken out, and the rest is fitted anew.

    Rows of one group are in one fold. Raises ValueError without two rows and two groups of each class.
    """
    import numpy as np
    from sklearn.model_selection import StratifiedGroupKFold

    for side in (True, False):
        if len({group for group, was in zip(groups, truth, strict=True) if was is side}) < 2:
            raise ValueError("too few groups to hold one out")
    names = sorted(set.intersection(*(set(row) for row in rows)))
    told = np.array([[row[name] for name in names] for row in rows], dtype=np.float64).reshape(len(rows), len(names))
    is_so = np.array(truth, dtype=bool)
    logistic = _trained(told, is_so, names)
    held_out, fold = np.full(len(rows), 0.5), np.zeros(len(rows), dtype=int)
    smallest = min(len(set(np.array(groups)[is_so == side])) for side in (True, False))
    splits = StratifiedGroupKFold(min(FOLDS, smallest), shuffle=True, random_state=seed)
    for n, (seen, unseen) in enumerate(splits.split(told, is_so, groups)):
        fold[unseen] = n
        if len(set(is_so[seen])) == 2:
            part = _trained(told[seen], is_so[seen], names)
            held_out[unseen] = [probability(part, dict(zip(names, told[row], strict=True))) for row in unseen]
    everywhere = {name for row in rows for name in row}
    return Fit(logistic, held_out.tolist(), fold.tolist(), sorted(everywhere - set(logistic.weights)))


def probability(logistic: Logistic, features: Mapping[str, float]) -> float:
    """As the retriever computes it; a feature that is not there counts nothing."""
    sum_ = logistic.intercept + sum(weight * features.get(name, 0.0) for name, weight in logistic.weights.items())
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, sum_))))


def _trained(told: "Numbers", is_so: "Truth", names: Sequence[str]) -> Logistic:
    import numpy as np

    finite = np.isfinite(told).all(axis=0)
    spread = np.where(finite, np.where(np.isfinite(told), told, 0.0).std(axis=0), 0.0)
    used = [place for place in range(len(names)) if spread[place] > 1e-9]
    while used:
        weights, intercept, middle = _weights(told[:, used], is_so, spread[used])
        alone = told[is_so][:, used].mean(axis=0) - told[~is_so][:, used].mean(axis=0)
        against = np.where(weights * alone < 0, np.abs(weights), 0.0)
        if not against.any():
            raw = weights / spread[used]
            return Logistic(
                intercept=float(intercept - (raw * middle).sum()),
                weights={names[place]: float(weight) for place, weight in zip(used, raw, strict=True)},
            )
        used.pop(int(against.argmax()))
    return Logistic(intercept=0.0, weights={})


def _weights(told: "Numbers", is_so: "Truth", spread: "Numbers") -> tuple["Numbers", float, "Numbers"]:
    """Weights of standardised features, the intercept, and the means that were taken off."""
    from sklearn.linear_model import LogisticRegression

    middle: Numbers = told.mean(axis=0)
    model: Any = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=2000)
    model.fit((told - middle) / spread, is_so)
    return model.coef_[0], float(model.intercept_[0]), middle
