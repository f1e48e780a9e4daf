"""A calibration: the thresholds of one index, fitted on questions made from its owner's own content."""

from datetime import datetime

from pydantic import Field

from services.shared.contracts.base import Record, Request, Response
from services.shared.contracts.ids import IndexId
from services.shared.contracts.search import FusionName

RISK = 0.05
"""At most this share of the answered questions should have been turned away."""


class Logistic(Record):
    """Probability = 1 / (1 + exp(-(intercept + sum of weight x feature))), over features by name."""

    intercept: float
    weights: dict[str, float]


class Thresholds(Record):
    """What the retriever decides by; null leaves the product's own value."""

    gate_distance: float | None = Field(default=None, description="Cosine distance above which passages are poor")
    bm25_floor: float | None = Field(default=None, description="Coverage under which a BM25 list is silent")
    critic_cut: float | None = Field(default=None, description="Relevance under which the critic drops a passage")
    answerable: float | None = Field(default=None, description="Probability under which the content does not answer")
    fusion: FusionName | None = Field(default=None, description="What ranked this content's questions best")


class CalibrationRequest(Request):
    """``POST /v1/calibrations``: fit the space's thresholds in the background."""

    risk: float = Field(
        default=RISK, gt=0, lt=1, description="Share of the answered questions that may be ones to turn away"
    )
    seed: int = Field(default=0, ge=0, description="Of the choice of questions")
    questions: int = Field(default=300, ge=60, le=3000, description="Questions of each kind at most")


class Calibration(Record):
    """What was fitted, on what, and what it promises. Belongs to one index; another index begins without."""

    id: str
    index_id: IndexId
    created_at: datetime
    seq: int = Field(description="The catalog's change number that the questions saw")
    chunks: int = Field(description="Live chunks then: a large change makes it stale")
    risk: float = Field(description="The chosen risk")
    expected_risk: float = Field(description="Share of answered questions that should be turned away, held out")
    expected_coverage: float = Field(description="Share of answerable questions that are answered, held out")
    asked: dict[str, int] = Field(description="Questions by kind: answerable, left_out, off_topic")
    auroc: dict[str, float] = Field(description="Answerable against left_out and off_topic, held out")
    thresholds: Thresholds
    enforced: bool = Field(
        default=False,
        description="Whether the gate turns away under thresholds.answerable; false where that would silence too much",
    )
    answerability: Logistic
    notes: list[str] = Field(default_factory=list, description="What an owner should know, e.g. too few questions")


class CalibrationState(Response):
    """``GET /v1/calibrations``: the calibration that is in force."""

    calibration: Calibration | None
    stale: str | None = Field(description="Why it should be made anew; null while it fits")
