"""The critic at work: the shipped weights, checked, and what they say of a question's candidates. NumPy alone."""

import math
from functools import lru_cache
from pathlib import Path

import numpy as np

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.models.critic.answerability import NAMES
from services.shared.models.critic.features import FEATURES, Compared, Rows, rows
from services.shared.models.critic.weights import MANIFEST, WEIGHTS, Manifest, Weights
from services.shared.models.signed import DamagedError, read_signed

SHIPPED = Path(__file__).parent / "shipped"
"""Made by ``ragstone critic train``; see ``docs/critic.md``."""

SURE = 1e-9
"""Probabilities are kept this far from 0 and 1, so that their log odds are finite."""


class Critic:
    """A trained critic. Threads may share it."""

    def __init__(self, weights: Weights, manifest: Manifest) -> None:
        self.weights = weights
        self.manifest = manifest
        self._mean = np.array(weights.mean)
        self._scale = np.array(weights.scale)
        # The nets side by side are one: a product for all of them instead of one for each.
        self._hidden = np.concatenate([np.array(net.hidden) for net in weights.nets], axis=1)
        self._hidden_bias = np.concatenate([np.array(net.hidden_bias) for net in weights.nets])
        self._out = np.zeros((self._hidden.shape[1], len(weights.nets)))
        begin = 0
        for place, net in enumerate(weights.nets):
            self._out[begin : begin + len(net.out), place] = net.out
            begin += len(net.out)
        self._out_bias = np.array([net.out_bias for net in weights.nets])

    def judge(self, compared: Compared) -> list[float]:
        """Each candidate's probability of being relevant to the question, in their order."""
        return [float(chance) for chance in self.judge_rows(rows(compared))]

    def judge_rows(self, found: Rows) -> Rows:
        """The same for rows of ``FEATURES``."""
        if not len(found):
            return np.empty(0)
        inputs = np.clip((found - self._mean) / self._scale, -self.weights.cut, self.weights.cut)
        hidden = np.maximum(inputs @ self._hidden + self._hidden_bias, 0.0)
        mean = _sigmoid(hidden @ self._out + self._out_bias).mean(axis=1).clip(SURE, 1 - SURE)
        odds = np.log(mean / (1 - mean))
        return _sigmoid(self.weights.platt_slope * odds + self.weights.platt_intercept)

    def answerable(self, features: dict[str, float]) -> float:
        """Probability that the candidates answer the question, for an index that was not calibrated."""
        fitted = self.weights.answerability
        summed = math.fsum(weight * features.get(name, 0.0) for name, weight in fitted.weights.items())
        return float(_sigmoid(np.array(fitted.intercept + summed)))


@lru_cache(maxsize=1)
def shipped() -> Critic:
    """The critic that comes with the product, read once a process. Raises: RagstoneError (model_unavailable)."""
    return load(SHIPPED)


def load(folder: Path) -> Critic:
    """Read a critic; one whose file is damaged, or made for other features, is refused.

    Raises: RagstoneError (model_unavailable).
    """
    try:
        manifest, weights = read_signed(
            folder / MANIFEST, folder / WEIGHTS, Manifest, Weights, digest_of=lambda found: found.sha256
        )
    except DamagedError as error:
        raise _refused(folder, str(error)) from error
    if tuple(weights.features) != FEATURES or not set(weights.answerability.weights) <= set(NAMES):
        raise _refused(folder, "it was trained on other features than this version computes")
    return Critic(weights, manifest)


def _sigmoid(odds: Rows) -> Rows:
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -700, 700))))


def _refused(folder: Path, why: str) -> RagstoneError:
    return RagstoneError(
        ErrorCode.MODEL_UNAVAILABLE,
        f"The critic in {folder} cannot be used: {why}; reinstall Ragstone, or make it anew by ragstone critic train.",
    )
