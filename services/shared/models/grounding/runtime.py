"""The grounding model at work: the shipped weights, checked, and what they say of rows of features. NumPy alone."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from services.shared.contracts.errors import ErrorCode, RagstoneError
from services.shared.models.grounding.features import FEATURES
from services.shared.models.grounding.reading import Rows
from services.shared.models.grounding.weights import MANIFEST, WEIGHTS, Manifest, Stage, Weights
from services.shared.models.signed import DamagedError, read_signed

SHIPPED = Path(__file__).parent / "shipped"
"""Made by ``python -m benchmarks.groundedness_train``; see ``docs/groundedness.md``."""

ODDS_AT_MOST = 30.0
"""Log odds beyond this are certainty, and would overflow."""


class Judge:
    """Trained weights. Threads may share them."""

    def __init__(self, weights: Weights, manifest: Manifest) -> None:
        self.weights = weights
        self.manifest = manifest
        self._mean = np.array(weights.mean)
        self._scale = np.array(weights.scale)

    def judge(self, rows: Rows) -> Rows:
        """(pairs, 2): probabilities that the evidence supports, and that it contradicts, of rows of ``FEATURES``."""
        if not len(rows):
            return np.empty((0, 2))
        inputs = np.clip((rows - self._mean) / self._scale, -self.weights.cut, self.weights.cut)
        supported = _chance(inputs, self.weights.supported)
        contradicted = (1 - supported) * _chance(inputs, self.weights.contradicted)
        return np.stack([supported, contradicted], axis=1)


@lru_cache(maxsize=1)
def shipped() -> Judge:
    """The model that comes with the product, read once a process. Raises: RagstoneError (model_unavailable)."""
    return load(SHIPPED)


def load(folder: Path) -> Judge:
    """Read a model; one whose file is damaged, or made for other features, is refused.

    Raises: RagstoneError (model_unavailable).
    """
    try:
        manifest, weights = read_signed(
            folder / MANIFEST, folder / WEIGHTS, Manifest, Weights, digest_of=lambda found: found.sha256
        )
    except DamagedError as error:
        raise _refused(folder, str(error)) from error
    if tuple(weights.features) != FEATURES:
        raise _refused(folder, "it was trained on other features than this version computes")
    return Judge(weights, manifest)


def _chance(inputs: Rows, stage: Stage) -> Rows:
    odds = inputs @ np.array(stage.weights) + stage.intercept
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -ODDS_AT_MOST, ODDS_AT_MOST))))


def _refused(folder: Path, why: str) -> RagstoneError:
    return RagstoneError(
        ErrorCode.MODEL_UNAVAILABLE,
        f"The grounding model in {folder} cannot be used: {why}; reinstall Ragstone.",
    )
