"""The report's tables as values: what Markdown and HTML both show, decided once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.shared.contracts.evaluation import AblationRow, Estimate, Evaluation, RiskPoint, Row
from services.shared.evaluation.names import METRICS
from services.shared.evaluation.report import words

BETTER, WORSE = "better", "worse"
POINTS_MOST = 12
"""Rows of the risk-coverage table: the plot shows all of them."""

_FIRST = (words.RIGHT, words.SCORE, "accuracy", "supported", "citation_precision", "citation_recall", "validity")


@dataclass(frozen=True)
class Cell:
    """``note`` is the quieter second line; ``tone`` is better, worse or nothing; ``questions`` are ids to point to."""

    text: str
    note: str = ""
    tone: str = ""
    questions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """The first column heads its rows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def metrics_of(rows: Iterable[Row | AblationRow]) -> list[str]:
    """Metrics that occur, answers before retrieval, in the order of the table of names where it knows them."""
    present = list(dict.fromkeys(metric for row in rows for metric in row.values))
    return sorted(present, key=place)


def place(metric: str) -> int:
    """Where it is shown."""
    known = [*_FIRST, *METRICS]
    return known.index(metric) if metric in known else len(known)


def key_figures(evaluation: Evaluation) -> Table:
    """Every metric over all questions."""
    rows = [
        (
            Cell(words.label(metric)),
            Cell(words.value(metric, estimate.mean)),
            Cell(words.interval(metric, estimate)),
            Cell(str(estimate.n)),
        )
        for metric in metrics_of([evaluation.summary])
        for estimate in [evaluation.summary.values[metric]]
    ]
    return Table(
        "Means over the questions for which the metric has sense", ("Metric", "Mean", "95 % interval", "n"), tuple(rows)
    )


def by_kind(evaluation: Evaluation) -> Table | None:
    """A row per kind, and all of them last."""
    if not evaluation.by_kind:
        return None
    metrics = metrics_of([evaluation.summary, *evaluation.by_kind])
    rows = [
        (Cell(words.kind(row.name)), Cell(str(row.n)), *(_estimate(row, metric) for metric in metrics))
        for row in evaluation.by_kind
    ]
    whole = evaluation.summary
    rows.append((Cell("all"), Cell(str(whole.n)), *(_estimate(whole, metric) for metric in metrics)))
    columns = ("Kind", "n", *(words.brief(metric) for metric in metrics))
    return Table("Mean and 95 % interval by kind of question", columns, tuple(rows))


def ablation(evaluation: Evaluation) -> Table | None:
    """A row per way to run retrieval with what it adds to the row before."""
    if not evaluation.ablation:
        return None
    metrics = metrics_of(evaluation.ablation)
    rows = [
        (
            Cell(words.one_line(row.name)),
            *(_added(row, metric) for metric in metrics),
            Cell(words.milliseconds(row.p50_ms)),
            Cell(words.milliseconds(row.p95_ms)),
        )
        for row in evaluation.ablation
    ]
    columns = ("Retrieval", *(words.brief(metric) for metric in metrics), "p50", "p95")
    caption = "Mean, and difference to the row above with its paired 95 % interval; ▲ ▼ where that excludes zero"
    return Table(caption, columns, tuple(rows))


def risk_coverage(evaluation: Evaluation) -> Table | None:
    """Some points of the curve, evenly picked."""
    curve = evaluation.risk_coverage
    if curve is None or not curve.points:
        return None
    rows = [
        (Cell(words.plain(point.threshold, 2)), Cell(words.percent(point.coverage)), Cell(words.percent(point.risk)))
        for point in _picked(curve.points, POINTS_MOST)
    ]
    columns = ("Confidence at least", "Share answered", "Share of those wrong")
    return Table("Points of the risk-coverage curve", columns, tuple(rows))


def reliability(evaluation: Evaluation, of: str) -> Table | None:
    """The bins of one reliability diagram."""
    found = [one for one in evaluation.reliability if one.of == of]
    if not found:
        return None
    rows = [
        (
            Cell(f"{words.plain(part.low, 2)} to {words.plain(part.high, 2)}"),
            Cell(str(part.n)),
            Cell(words.percent(part.said)),
            Cell(words.percent(part.was)),
        )
        for part in found[0].bins
        if part.n
    ]
    columns = ("Stated", "n", "Mean stated", "Came true")
    return Table(f"Stated and observed share: {words.kind(of)}", columns, tuple(rows))


def latency(evaluation: Evaluation) -> Table | None:
    """Half of the questions were faster than p50, 19 of 20 than p95."""
    rows = [
        (
            Cell(words.one_line(one.stage)),
            Cell(str(one.n)),
            Cell(words.milliseconds(one.p50_ms)),
            Cell(words.milliseconds(one.p95_ms)),
        )
        for one in evaluation.latency
    ]
    columns = ("Stage", "n", "p50", "p95")
    return Table("Time per stage: median and 95th percentile", columns, tuple(rows)) if rows else None


def agreement(evaluation: Evaluation) -> Table | None:
    """Per reviewer, how far two ways to judge agree."""
    rows = [
        (
            Cell(words.kind(one.reviewer)),
            Cell(f"{words.kind(one.first)} and {words.kind(one.second)}"),
            Cell(str(one.n)),
            Cell(words.percent(one.share)),
            Cell("–" if one.kappa is None else words.plain(one.kappa, 2)),
            Cell("" if one.differ else "none", questions=tuple(one.differ)),
        )
        for one in evaluation.agreement
    ]
    columns = ("Reviewer", "Judged by", "n", "Same verdict", "Cohen's kappa", "Judged differently")
    return Table("Whether two ways to judge say the same", columns, tuple(rows)) if rows else None


def changes(evaluation: Evaluation) -> Table | None:
    """Per metric before, after and the difference at the level of the veto."""
    if evaluation.comparison is None or not evaluation.comparison.changes:
        return None
    level = words.percent(evaluation.comparison.level, 2)
    rows = []
    for change in evaluation.comparison.changes:
        tone, verdict = (
            (WORSE, "✗ worse") if change.worse else (BETTER, "✓ better") if change.better else ("", "no clear change")
        )
        rows.append(
            (
                Cell(words.label(change.metric)),
                Cell(verdict, tone=tone),
                Cell(words.value(change.metric, change.before)),
                Cell(words.value(change.metric, change.after)),
                Cell(
                    words.difference(change.metric, change.difference.mean),
                    words.difference_interval(change.metric, change.difference),
                ),
                Cell(str(change.difference.n)),
            )
        )
    columns = ("Metric", "Verdict", "Before", "After", f"Difference and {level} interval", "n")
    return Table("Both runs, paired by question", columns, tuple(rows))


def system(evaluation: Evaluation) -> Table | None:
    """What ran: versions, models and settings, nested ones by dotted name."""
    rows = tuple((Cell(name), Cell(held)) for name, held in _flat("", evaluation.system))
    return Table("What ran", ("Setting", "Value"), rows) if rows else None


def _flat(prefix: str, held: object) -> list[tuple[str, str]]:
    if isinstance(held, dict) and held:
        return [row for key, inner in held.items() for row in _flat(f"{prefix}.{key}".lstrip("."), inner)]
    return [(words.one_line(prefix), words.setting(held))] if prefix else []


def _estimate(row: Row, metric: str) -> Cell:
    estimate = row.values.get(metric)
    if estimate is None or estimate.n == 0:
        return Cell("–")
    of = "" if estimate.n == row.n else f" · n {estimate.n}"
    return Cell(words.value(metric, estimate.mean), words.interval(metric, estimate) + of)


def _added(row: AblationRow, metric: str) -> Cell:
    estimate, added = row.values.get(metric), row.added.get(metric)
    if estimate is None or estimate.n == 0:
        return Cell("–")
    if added is None:
        return Cell(words.value(metric, estimate.mean))
    sign, tone = _mark(metric, added)
    note = f"{sign}{words.difference(metric, added.mean)} ({words.difference_interval(metric, added)})"
    return Cell(words.value(metric, estimate.mean), note, tone)


def _mark(metric: str, added: Estimate) -> tuple[str, str]:
    if not words.excludes_zero(added):
        return "", ""
    return ("▲ " if added.low > 0 else "▼ ", BETTER if words.gain(metric, added.mean) > 0 else WORSE)


def _picked(items: Sequence[RiskPoint], most: int) -> list[RiskPoint]:
    if len(items) <= most:
        return list(items)
    places = {round(step * (len(items) - 1) / (most - 1)) for step in range(most)}
    return [items[place] for place in sorted(places)]
