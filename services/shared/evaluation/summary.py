"""From outcomes to an Evaluation: every number of the report, and nothing that has to be asked again."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import combinations, pairwise
from typing import Any

from services.shared.contracts.evaluation import (
    AblationRow,
    Agreement,
    Estimate,
    Evaluation,
    EvaluationRequest,
    Outcome,
    Reliability,
    Review,
    RiskCoverage,
    Row,
)
from services.shared.contracts.golden import Behaviour, Question, fingerprint
from services.shared.evaluation.comparison import compare
from services.shared.evaluation.names import METRICS, SEARCH_TIME
from services.shared.evaluation.statistics import difference, estimate
from services.shared.evaluation.trust import agreement, latency, percentile, reliability, risk_coverage
from services.shared.evaluation.variants import FULL, VARIANTS

_REVIEWERS = ("accuracy", "validity", "checks")
_BY = ("rule", "embedding", "judge")


def summarise(
    *,
    evaluation_id: str,
    space: str,
    request: EvaluationRequest,
    questions: Sequence[Question],
    outcomes: Sequence[Outcome],
    system: Mapping[str, Any],
    created_at: datetime,
    before: Evaluation | None = None,
) -> Evaluation:
    """Everything that the outcomes come to, and against ``before`` if there is one.

    Whatever there are outcomes of is counted: one half of the system, some of the questions, or none. A question
    that failed has no values, so it is in no mean but that of ``errors``, which is there when any failed; ``n`` of
    each estimate says how many it is of. The request's own ``questions`` are not read.
    """
    known = {question.id: question for question in questions}
    outcomes = [outcome for outcome in outcomes if outcome.question_id in known]
    full = [outcome for outcome in outcomes if outcome.variant == FULL.name]
    evaluation = Evaluation(
        id=evaluation_id,
        space=space,
        name=request.name,
        subject=request.subject,
        created_at=created_at,
        seed=request.seed,
        fingerprint=fingerprint(questions),
        questions=list(questions),
        system=dict(system),
        outcomes=outcomes,
        summary=_row("all", full, request.seed),
        by_kind=_by_kind(known, full, request.seed),
        ablation=_ablation(outcomes, request.seed),
        risk_coverage=_risk_coverage(full, request.risk),
        reliability=_reliability(known, full),
        latency=latency(outcome.timings_ms for outcome in full),
        agreement=_agreement(full),
    )
    if before is None:
        return evaluation
    return evaluation.model_copy(update={"comparison": compare(before, evaluation, request.seed)})


def brief_metrics(evaluation: Evaluation) -> dict[str, float]:
    """Metric to its mean over all questions, in the order of the table."""
    values = evaluation.summary.values
    return {name: values[name].mean for name in METRICS if name in values}


def _row(name: str, outcomes: Sequence[Outcome], seed: int) -> Row:
    values = _estimates(outcomes, seed)
    failed = [float(outcome.error is not None) for outcome in outcomes]
    if any(failed):
        values["errors"] = estimate(failed, seed)
    return Row(name=name, n=len(outcomes), values=values)


def _estimates(outcomes: Sequence[Outcome], seed: int) -> dict[str, Estimate]:
    columns = {name: [one.values[name] for one in outcomes if name in one.values] for name in METRICS}
    return {name: estimate(column, seed, least=METRICS[name].low) for name, column in columns.items() if column}


def _by_kind(questions: Mapping[str, Question], full: Sequence[Outcome], seed: int) -> list[Row]:
    """A row for each kind that was asked, in the order in which the questions name them."""
    kinds: dict[str, list[Outcome]] = {question.kind: [] for question in questions.values()}
    for outcome in full:
        kinds[questions[outcome.question_id].kind].append(outcome)
    return [_row(kind, inside, seed) for kind, inside in kinds.items() if inside]


def _ablation(outcomes: Sequence[Outcome], seed: int) -> list[AblationRow]:
    """A row for each way that retrieval was run, in the order of ``VARIANTS``; none when nothing was switched off."""
    runs = {variant.name: [one for one in outcomes if one.variant == variant.name] for variant in VARIANTS}
    runs = {name: run for name, run in runs.items() if run}
    if not runs.keys() - {FULL.name}:
        return []
    added: list[dict[str, Estimate]] = [{}]
    added += [_added(earlier, later, seed) for earlier, later in pairwise(runs.values())]
    return [_ablation_row(name, run, gained, seed) for (name, run), gained in zip(runs.items(), added, strict=True)]


def _ablation_row(name: str, run: Sequence[Outcome], added: dict[str, Estimate], seed: int) -> AblationRow:
    times = [one.timings_ms[SEARCH_TIME] for one in run if SEARCH_TIME in one.timings_ms]
    return AblationRow(
        name=name,
        values=_estimates(run, seed),
        added=added,
        p50_ms=percentile(times, 50),
        p95_ms=percentile(times, 95),
    )


def _added(earlier: Sequence[Outcome], later: Sequence[Outcome], seed: int) -> dict[str, Estimate]:
    """The difference of two runs in each metric, over the questions for which both have it."""
    before = {outcome.question_id: outcome.values for outcome in earlier}
    added = {}
    for metric in METRICS:
        pairs = [
            (before[one.question_id][metric], one.values[metric])
            for one in later
            if metric in one.values and metric in before.get(one.question_id, {})
        ]
        if pairs:
            added[metric] = difference([old for old, _ in pairs], [new for _, new in pairs], seed)
    return added


def _risk_coverage(full: Sequence[Outcome], allowed: float) -> RiskCoverage | None:
    """Over the questions whose answer can be told right from wrong; one that failed is one not answered."""
    asked = [one for one in full if "right" in one.values and one.confidence is not None]
    if not asked:
        return None
    cases = [(one.confidence or 0.0, one.values["right"] > 0, one.status == "answered") for one in asked]
    cases += [(0.0, False, False) for one in full if one.error is not None]
    return risk_coverage(cases, allowed)


def _reliability(questions: Mapping[str, Question], full: Sequence[Outcome]) -> list[Reliability]:
    """Of the confidence of answers, and of the verdict's probability that the content answers at all.

    What should be declined says nothing of the second: it may well stand in the content.
    """
    confidence = [
        (one.confidence, one.values["right"] > 0)
        for one in full
        if one.confidence is not None and one.status == "answered" and "right" in one.values
    ]
    answerable = [
        (one.answerable, behaviour is Behaviour.ANSWER)
        for one in full
        if one.answerable is not None and (behaviour := questions[one.question_id].behaviour) is not Behaviour.DECLINE
    ]
    stated = {"confidence": confidence, "answerable": answerable}
    return [reliability(of, pairs) for of, pairs in stated.items() if pairs]


def _agreement(full: Sequence[Outcome]) -> list[Agreement]:
    """Of each reviewer, every two ways in which it judged the same answers."""
    found = []
    for reviewer in _REVIEWERS:
        verdicts = [(one.question_id, _verdicts(one.reviews, reviewer)) for one in full]
        for first, second in combinations(_BY, 2):
            both = [(asked, by[first], by[second]) for asked, by in verdicts if first in by and second in by]
            found.append(agreement(reviewer, first, second, both))
    return [one for one in found if one is not None]


def _verdicts(reviews: Sequence[Review], reviewer: str) -> dict[str, bool]:
    return {review.by: review.passed for review in reviews if review.reviewer == reviewer}
