"""Evaluations: what is asked, how each question came out, and what it comes to."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from services.shared.contracts.base import Record, Request, Response
from services.shared.contracts.golden import QUESTIONS_MAX, Question
from services.shared.contracts.ids import JobId
from services.shared.contracts.search import TOP_K_MAX, Stages


class Subject(StrEnum):
    """Which half of the system is evaluated."""

    ALL = "all"
    RETRIEVAL = "retrieval"
    ANSWERS = "answers"


class EvaluationRequest(Request):
    """``POST /v1/evaluations``: evaluate the space in the background.

    Without ``questions`` the approved and unflagged questions of the space's golden set are asked.
    """

    subject: Subject = Subject.ALL
    questions: list[Question] | None = Field(default=None, max_length=QUESTIONS_MAX)
    name: str = Field(default="golden", max_length=200, description="Name of the question set, shown in the report")
    top_k: int = Field(default=10, ge=5, le=TOP_K_MAX, description="Passages asked for when retrieval is judged")
    ablate: bool = Field(default=False, description="Ask again with stages switched off")
    judge: bool = Field(default=True, description="Ask the judge model too, where one is set")
    against: str | None = Field(
        default=None, description="Id of an earlier evaluation, or last: the newest one of these questions"
    )
    seed: int = Field(default=0, ge=0, description="Of the resampling")
    risk: float = Field(default=0.05, gt=0, lt=1, description="Share of wrong answers that the threshold may allow")


class Variant(Record):
    """A way to run retrieval: a row of the ablation."""

    name: str
    stages: Stages


class Review(Record):
    """What one reviewer says of one answer. It sees no more than its kind allows."""

    reviewer: str = Field(description="accuracy, validity or checks")
    by: str = Field(description="rule, embedding or judge")
    passed: bool
    score: float = Field(description="0 to 1")
    notes: list[str] = Field(default_factory=list, description="What is wrong, each in a few words")


class Outcome(Record):
    """How one question came out, whole: enough to count everything again without asking again."""

    question_id: str
    variant: str = Field(default="full", description="Name of the way that retrieval was run")
    values: dict[str, float] = Field(default_factory=dict, description="Metric to value; absent where it has no sense")
    gate: str | None = None
    answerable: float | None = Field(default=None, description="The verdict's probability")
    ranking: list[str] = Field(default_factory=list, description="Passages found, best first: document id > section")
    status: str | None = None
    reason: str | None = None
    text: str | None = None
    confidence: float | None = None
    citations: list[str] = Field(default_factory=list, description="document id: quote")
    writer: str | None = Field(default=None, description="writer and model that wrote it")
    degraded: list[str] = Field(default_factory=list)
    reviews: list[Review] = Field(default_factory=list)
    timings_ms: dict[str, float] = Field(default_factory=dict, description="Stage to time; find.* of search, ask.* ")
    missing_gold: list[str] = Field(
        default_factory=list, description="Gold that stands in no live document: document id: quote"
    )
    seq: int | None = Field(default=None, description="The catalog's change number that the last answer saw")
    error: str | None = Field(default=None, description="Why there is no outcome")


class Estimate(Record):
    """A mean over questions with its 95 % interval: Wilson's for a share, else the bootstrap's."""

    mean: float
    low: float
    high: float
    n: int = Field(description="Questions for which the metric has sense")


class Row(Record):
    """A row of the table by kind: metric to estimate."""

    name: str
    n: int
    values: dict[str, Estimate]


class AblationRow(Record):
    """One way to run retrieval, and what it adds to the row before (paired by question)."""

    name: str
    values: dict[str, Estimate]
    added: dict[str, Estimate] = Field(
        default_factory=dict, description="Difference to the row before; empty in the first"
    )
    p50_ms: float
    p95_ms: float


class RiskPoint(Record):
    threshold: float
    coverage: float = Field(description="Share of questions answered at this threshold")
    risk: float = Field(description="Share of those that are wrong")


class RiskCoverage(Record):
    """Selective answering: what share is wrong when only the surest are answered (El-Yaniv and Wiener 2010)."""

    points: list[RiskPoint]
    area: float = Field(description="Area under the curve; lower is better")
    allowed: float = Field(description="The chosen risk")
    threshold: float | None = Field(description="Least confidence that keeps to it; null when none does")
    coverage: float = Field(description="Share answered at that threshold")


class ReliabilityBin(Record):
    low: float
    high: float
    n: int
    said: float = Field(description="Mean probability that was stated")
    was: float = Field(description="Share that was right")


class Reliability(Record):
    """Is a stated probability one? Expected calibration error and Brier score."""

    of: str = Field(description="confidence or answerable")
    bins: list[ReliabilityBin]
    ece: float
    brier: float


class Latency(Record):
    stage: str
    n: int
    p50_ms: float
    p95_ms: float


class Agreement(Record):
    """Do two reviewers say the same? Cohen's kappa is null where one of them never differs."""

    reviewer: str
    first: str
    second: str
    n: int
    share: float
    kappa: float | None
    differ: list[str] = Field(default_factory=list, description="Ids of the questions they judge differently")


class Change(Record):
    """One metric in two runs, paired by question."""

    metric: str
    before: float
    after: float
    difference: Estimate = Field(description="After minus before, at the level of the veto")
    worse: bool = Field(description="The whole interval lies below zero")
    better: bool


class QuestionChange(Record):
    """A question that came out differently."""

    question_id: str
    text: str
    better: bool
    metrics: dict[str, tuple[float, float]] = Field(description="Metric to (before, after)")
    before: str | None = Field(description="What was answered")
    after: str | None


class Comparison(Record):
    """Two runs, question by question."""

    before_id: str
    after_id: str
    paired: int = Field(description="Questions in both runs, of which both expect the same")
    only_before: int
    only_after: int
    changes: list[Change] = Field(description="Metrics of the veto that both runs have; empty: nothing was compared")
    questions: list[QuestionChange]
    gave_in: list[str] = Field(
        default_factory=list, description="Questions that should be declined, were, and are answered now"
    )
    vetoed: bool = Field(
        description="A metric got worse beyond its interval or a question gave in; false when nothing was compared"
    )
    level: float = Field(description="Of each interval, such that all together are at 95 % (Bonferroni)")


class Evaluation(Record):
    """A finished evaluation, whole."""

    id: str
    space: str
    name: str
    subject: Subject
    created_at: datetime
    seed: int
    fingerprint: str = Field(description="Of the questions: equal ones may be compared whole")
    questions: list[Question]
    system: dict[str, Any] = Field(description="Versions, index, embedder, writer, judge, settings that decide")
    outcomes: list[Outcome]
    summary: Row
    by_kind: list[Row]
    ablation: list[AblationRow] = Field(default_factory=list)
    risk_coverage: RiskCoverage | None = None
    reliability: list[Reliability] = Field(default_factory=list)
    latency: list[Latency] = Field(default_factory=list)
    agreement: list[Agreement] = Field(default_factory=list)
    comparison: Comparison | None = None


class EvaluationBrief(Response):
    """An evaluation in a list."""

    id: str
    job_id: JobId
    name: str
    subject: Subject
    fingerprint: str
    questions: int
    finished: bool
    vetoed: bool | None = Field(description="null when it was compared with nothing")
    metrics: dict[str, float] = Field(description="Means over all questions; empty while it runs")
    created_at: datetime


class EvaluationList(Response):
    items: list[EvaluationBrief]
    next_cursor: str | None


class StartedEvaluation(Response):
    """202 of ``POST /v1/evaluations``."""

    id: str
    job_id: JobId
    questions: int
