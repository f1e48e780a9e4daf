"""What the stages decide by: set by hand, else calibrated for this index, else the product's own value."""

from dataclasses import dataclass

from services.retriever.domain.fusion import Fusion
from services.retriever.domain.plan import Tuning
from services.retriever.domain.scale import COMMON, Scale
from services.shared.contracts.calibration import Calibration, Logistic, Thresholds
from services.shared.contracts.search import FusionName

GATE_DISTANCE = 0.55
"""For an index with no calibration, on the common scale; from the personal-notes system, which used
all-MiniLM-L6-v2."""

BM25_FLOOR = 0.1
"""Hand-set; see docs/benchmarks.md for what a higher one costs."""

CRITIC_CUT = 0.001
"""Under it the critic is sure. On Cranfield and Medline, where a question has many relevant passages and the critic
was taught one, it drops none of them at 0.001, and 3 % at 0.01."""


DEFAULT_FUSION = Fusion.RELATIVE
"""Ranked better than reciprocal ranks on the collections of ``benchmarks/fusion.py``."""


@dataclass(frozen=True)
class Limits:
    """The values in force for one call.

    ``logistic`` is the calibration's, None where there is none or it is not enforced; ``answerable`` belongs to the
    probability that it gives, and is None where nothing is turned away by probability.
    """

    gate_distance: float
    gate_coverage: float
    bm25_floor: float
    critic_cut: float
    fusion: Fusion
    answerable: float | None
    logistic: Logistic | None
    scale: Scale = COMMON
    """Of the index's embedder. ``gate_distance`` is the embedder's own."""


def limits_for(
    tuning: Tuning, calibration: Calibration | None, asked: FusionName | None = None, scale: Scale = COMMON
) -> Limits:
    """Settle every value; ``asked`` is the call's own wish for the fusion, ``scale`` that of the index's embedder."""
    fitted = calibration.thresholds if calibration else Thresholds()
    by_hand = tuning.answerable is not None
    # A limit by hand is read off the calibration's own probabilities, so it is held against these.
    in_force = calibration if calibration and (calibration.enforced or by_hand) else None
    return Limits(
        gate_distance=_first(tuning.gate_distance, fitted.gate_distance, scale.own(GATE_DISTANCE)),
        gate_coverage=tuning.gate_coverage,
        bm25_floor=_first(tuning.bm25_floor, fitted.bm25_floor, BM25_FLOOR),
        critic_cut=_first(tuning.critic_cut, fitted.critic_cut, CRITIC_CUT),
        fusion=Fusion(asked or tuning.fusion or fitted.fusion or DEFAULT_FUSION),
        answerable=tuning.answerable if by_hand or in_force is None else fitted.answerable,
        logistic=in_force.answerability if in_force else None,
        scale=scale,
    )


def _first(by_hand: float | None, fitted: float | None, default: float) -> float:
    return by_hand if by_hand is not None else fitted if fitted is not None else default
