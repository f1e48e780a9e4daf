"""Fitting the critic and the weights of answerability. The only module here that needs scikit-learn.

The critic learns from questions as they were asked: which of their candidates is the passage they were written for.
Answerability learns from these and from questions that nothing answers: their passage, or its whole article, left
out; and questions of other collections. What the critic says of a training question comes from a critic that has
not seen any question of the same document, so that answerability does not learn from a critic that knows too much.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from services.shared.contracts.calibration import Logistic
from services.shared.models.critic.answerability import NAMES, answerability
from services.shared.models.critic.features import FEATURES, Compared, Rows, rows
from services.shared.models.critic.runtime import SURE
from services.shared.models.critic.weights import Net, Weights

FOLDS = 5
UNITS, NETS = 16, 3
DECAY, RATE, EPOCHS, BATCH = 1.0, 4e-3, 30, 512
CUT = 5.0
ANSWERABILITY_C = 0.1
"""Inverse strength of the penalty on the weights of answerability, over standardised features."""

LEFT_OUT_SHARE = 0.25
"""Of the weight of all questions that nothing answers. What betrays a left-out passage (few shared words) speaks
against questions that are put in other words, so it is not to outweigh what betrays a stranger."""

FOR_CALIBRATION = frozenset({"unknown", "missing_chosen"})
"""Features that the product's own weights leave out: in these data sets, where unanswerable questions are real ones of
other places, a word that no chunk holds means nothing, and its weight would speak for the question. An owner's
calibration also asks for names that occur nowhere, and weighs them."""

Labels = NDArray[np.bool_]


class Kind(StrEnum):
    """How a training question was asked."""

    ASKED = "asked"
    """As it is, of its own collection."""
    UNANSWERABLE = "unanswerable"
    """The same, but its author wrote it so that its passage does not answer it."""
    LEFT_OUT = "left_out"
    """The passage that it was written for is left out."""
    ARTICLE_OUT = "article_out"
    """The whole article of that passage is left out."""
    FOREIGN = "foreign"
    """A question of another collection."""


@dataclass(frozen=True)
class Lesson:
    """A question with its candidates and, for each of them, whether it is the passage that was meant."""

    source: str
    """The collection that it was asked of."""
    group: str
    """Questions of one article belong to one group, wherever they are asked; a fold has it whole or not at all."""
    kind: Kind
    compared: Compared
    relevant: tuple[bool, ...]


@dataclass(frozen=True)
class Fitted:
    """The nets and their inputs' mean and scale, before their outputs are made probabilities."""

    mean: Rows
    scale: Rows
    nets: tuple[Net, ...]

    def odds(self, found: Rows) -> Rows:
        """Log odds of the nets' mean, of rows of ``FEATURES``."""
        inputs = np.clip((found - self.mean) / self.scale, -CUT, CUT)
        chances = np.zeros(len(found))
        for net in self.nets:
            hidden = np.maximum(inputs @ np.array(net.hidden) + np.array(net.hidden_bias), 0.0)
            chances += 1 / (1 + np.exp(-(hidden @ np.array(net.out) + net.out_bias)))
        mean = (chances / len(self.nets)).clip(SURE, 1 - SURE)
        return np.asarray(np.log(mean / (1 - mean)))


def train(lessons: Sequence[Lesson], seed: int) -> Weights:
    """Fit everything. The same lessons and seed give the same weights on the same machine."""
    asked = [one for one in lessons if one.kind is Kind.ASKED]
    folds = folds_of(asked, seed)
    chances = _unseen_chances(lessons, asked, folds, seed)
    own = np.concatenate([odds for one, odds in zip(lessons, chances, strict=True) if one.kind is Kind.ASKED])
    slope, intercept = _platt(own, labels_of(asked))
    whole = fit_nets(rows_of(asked), labels_of(asked), seed)
    relevant = [1 / (1 + np.exp(-(slope * odds + intercept))) for odds in chances]
    return Weights(
        features=list(FEATURES),
        mean=whole.mean.tolist(),
        scale=whole.scale.tolist(),
        cut=CUT,
        nets=list(whole.nets),
        platt_slope=slope,
        platt_intercept=intercept,
        answerability=fit_answerability(lessons, relevant),
    )


def folds_of(lessons: Sequence[Lesson], seed: int) -> dict[str, int]:
    """The fold of each group, dealt out in an order that the seed decides."""
    groups = sorted({one.group for one in lessons})
    order = np.random.default_rng(seed).permutation(len(groups))
    return {groups[int(place)]: turn % FOLDS for turn, place in enumerate(order)}


def rows_of(lessons: Sequence[Lesson]) -> Rows:
    """Every candidate's features."""
    return np.concatenate([rows(one.compared) for one in lessons])


def labels_of(lessons: Sequence[Lesson]) -> Labels:
    """Of every candidate: is it the passage that was meant?"""
    return np.array([relevant for one in lessons for relevant in one.relevant], dtype=np.bool_)


def fit_nets(found: Rows, relevant: Labels, seed: int) -> Fitted:
    """Several small nets from different beginnings: their mean is steadier than any of them."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    mean, scale = found.mean(axis=0), found.std(axis=0) + SURE
    inputs = np.clip((found - mean) / scale, -CUT, CUT)
    nets = []
    for number in range(NETS):
        model = MLPClassifier(
            (UNITS,),
            alpha=DECAY,
            learning_rate_init=RATE,
            max_iter=EPOCHS,
            batch_size=min(BATCH, len(inputs)),
            random_state=seed * NETS + number,
        )
        with warnings.catch_warnings():
            # It is to stop after so many rounds: more of them fit the training questions better, and others worse.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(inputs, relevant)
        (hidden, out), (hidden_bias, out_bias) = model.coefs_, model.intercepts_
        nets.append(
            Net(
                hidden=hidden.tolist(),
                hidden_bias=hidden_bias.tolist(),
                out=out[:, 0].tolist(),
                out_bias=float(out_bias[0]),
            )
        )
    return Fitted(mean, scale, tuple(nets))


def fit_answerability(lessons: Sequence[Lesson], relevant: Sequence[Rows]) -> Logistic:
    """Logistic regression; answerable or not weigh alike, and within each every source."""
    from sklearn.linear_model import LogisticRegression

    described = [answerability(one.compared, chances) for one, chances in zip(lessons, relevant, strict=True)]
    names = [name for name in NAMES if name not in FOR_CALIBRATION]
    found = np.array([[features[name] for name in names] for features in described])
    answered = np.array([one.kind is Kind.ASKED for one in lessons])
    weight = _weights(lessons)
    mean, scale = found.mean(axis=0), found.std(axis=0) + SURE
    model = LogisticRegression(C=ANSWERABILITY_C, max_iter=5000).fit((found - mean) / scale, answered, weight)
    weights = model.coef_[0] / scale
    return Logistic(
        intercept=float(model.intercept_[0] - weights @ mean),
        weights={name: float(value) for name, value in zip(names, weights, strict=True)},
    )


def _weights(lessons: Sequence[Lesson]) -> Rows:
    """What each lesson weighs for answerability; 1 on average."""
    parts = {Kind.ASKED: 1.0, Kind.LEFT_OUT: LEFT_OUT_SHARE}
    kinds = [(one.source, one.kind if one.kind in parts else None) for one in lessons]
    shares = {kind: parts.get(kind[1] or Kind.FOREIGN, 1 - LEFT_OUT_SHARE) / kinds.count(kind) for kind in set(kinds)}
    weight = np.array([shares[kind] for kind in kinds])
    return np.asarray(weight * len(weight) / weight.sum())


def _unseen_chances(lessons: Sequence[Lesson], asked: Sequence[Lesson], folds: dict[str, int], seed: int) -> list[Rows]:
    """Of each lesson the log odds of its candidates, by nets that saw no question of its group."""
    nets = []
    for fold in range(FOLDS):
        rest = [one for one in asked if folds[one.group] != fold]
        nets.append(fit_nets(rows_of(rest), labels_of(rest), seed))
    return [nets[folds.get(one.group, 0)].odds(rows(one.compared)) for one in lessons]


def _platt(odds: Rows, relevant: Labels) -> tuple[float, float]:
    """Slope and intercept that make log odds a probability."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1e6).fit(odds[:, None], relevant)
    return float(model.coef_[0, 0]), float(model.intercept_[0])
