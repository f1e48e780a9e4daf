"""Can the system's own numbers and its reviewers be trusted: risk, calibration, agreement, time."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from services.shared.contracts.evaluation import (
    Agreement,
    Latency,
    Reliability,
    ReliabilityBin,
    RiskCoverage,
    RiskPoint,
)

BINS = 10
CERTAINTY = 0.95
"""With which a threshold keeps to the allowed risk."""


def risk_coverage(cases: Sequence[tuple[float, bool, bool]], allowed: float) -> RiskCoverage:
    """What share would be wrong if only the surest answers were given; a case is (confidence, right, answered).

    One point for each confidence that was stated, highest first; answers of equal confidence stand and fall
    together. Coverage is the share of all cases, so it ends where the system fell silent by itself. ``area`` is the
    mean risk over the answered cases (AURC, Geifman, Uziel and El-Yaniv 2019), which silence alone does not lower.

    ``threshold`` is the least confidence at which the risk is at most ``allowed`` **with 95 % certainty**, not just
    in these cases: ten right answers of ten do not show that one of twenty at most is wrong. The bound is that of
    Clopper and Pearson (1934), its certainty shared among the log2 of the number of thresholds that are looked at
    (as Geifman and El-Yaniv 2017 do); where confidence says nothing and the risk is just too high, simulation lets
    a threshold pass in under 5 % of the runs. So it takes cases: for a risk of 5 %, about 100 answers without one
    error. With fewer there is none, whatever the curve looks like.
    """
    answered = sorted(((said, right) for said, right, given in cases if given), key=lambda case: -case[0])
    points: list[RiskPoint] = []
    wrongs: list[tuple[int, int]] = []
    wrong = n = 0
    area = 0.0
    for said, group in groupby(answered, key=lambda case: case[0]):
        alike = [right for _, right in group]
        n += len(alike)
        wrong += alike.count(False)
        area += len(alike) * wrong / n
        points.append(RiskPoint(threshold=said, coverage=n / len(cases), risk=wrong / n))
        wrongs.append((wrong, n))
    doubt = (1 - CERTAINTY) / max(1, math.ceil(math.log2(max(1, len(points)))))
    kept = [point for point, (bad, of) in zip(points, wrongs, strict=True) if _most(bad, of, doubt) <= allowed]
    return RiskCoverage(
        points=points,
        area=area / n if n else 0.0,
        allowed=allowed,
        threshold=kept[-1].threshold if kept else None,
        coverage=kept[-1].coverage if kept else 0.0,
    )


def _most(wrong: int, n: int, doubt: float) -> float:
    """Upper bound of a share of which ``wrong`` of ``n`` were seen, exceeded with probability ``doubt`` at most."""
    from scipy.special import betaincinv

    return 1.0 if wrong == n else float(betaincinv(wrong + 1, n - wrong, 1 - doubt))


def reliability(of: str, pairs: Sequence[tuple[float, bool]]) -> Reliability:
    """What was said against what was: ten bins of equal width, empty ones left out; a bin holds its lower end.

    ``ece`` is the mean distance of the two over the bins, by their cases (Naeini, Cooper and Hauskrecht 2015);
    ``brier`` the mean squared distance over the cases. Both are 0 without cases.
    """
    binned: dict[int, list[tuple[float, bool]]] = {}
    for said, was in pairs:
        binned.setdefault(min(BINS - 1, max(0, math.floor(said * BINS))), []).append((said, was))
    bins = [
        ReliabilityBin(
            low=place / BINS,
            high=(place + 1) / BINS,
            n=len(inside),
            said=math.fsum(said for said, _ in inside) / len(inside),
            was=sum(was for _, was in inside) / len(inside),
        )
        for place, inside in sorted(binned.items())
    ]
    n = max(1, len(pairs))
    return Reliability(
        of=of,
        bins=bins,
        ece=math.fsum(one.n * abs(one.said - one.was) for one in bins) / n,
        brier=math.fsum((said - was) ** 2 for said, was in pairs) / n,
    )


def agreement(reviewer: str, first: str, second: str, verdicts: Sequence[tuple[str, bool, bool]]) -> Agreement | None:
    """How often two ways to review say the same of an answer; a verdict is (question id, first's, second's).

    Kappa (Cohen 1960) leaves out what chance would bring about; it is null where one of the two always says the
    same, since chance then explains everything. None without verdicts.
    """
    if not verdicts:
        return None
    ones, others = [one for _, one, _ in verdicts], [other for _, _, other in verdicts]
    kappa = None
    if len(set(ones)) == len(set(others)) == 2:
        from sklearn.metrics import cohen_kappa_score

        kappa = float(cohen_kappa_score(ones, others))
    differ = [question_id for question_id, one, other in verdicts if one != other]
    return Agreement(
        reviewer=reviewer,
        first=first,
        second=second,
        n=len(verdicts),
        share=1 - len(differ) / len(verdicts),
        kappa=kappa,
        differ=differ,
    )


def latency(timings_ms: Iterable[Mapping[str, float]]) -> list[Latency]:
    """Median and 95th percentile of each stage over the questions that went through it, by name."""
    stages: dict[str, list[float]] = {}
    for timings in timings_ms:
        for stage, ms in timings.items():
            stages.setdefault(stage, []).append(ms)
    return [
        Latency(stage=stage, n=len(times), p50_ms=percentile(times, 50), p95_ms=percentile(times, 95))
        for stage, times in sorted(stages.items())
    ]


def percentile(times_ms: Sequence[float], share: float) -> float:
    """Between the neighbours, linearly, rounded to a tenth of a millisecond; 0 without times."""
    import numpy as np

    return round(float(np.percentile(times_ms, share)), 1) if times_ms else 0.0
