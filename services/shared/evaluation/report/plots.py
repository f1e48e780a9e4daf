"""The report's plots: each takes an evaluation and gives an inline SVG, or nothing where there is nothing to draw."""

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from services.shared.contracts.evaluation import Estimate, Evaluation, Reliability, RiskCoverage, Row
from services.shared.evaluation.report import words
from services.shared.evaluation.report.drawing import ACCENT, BAD, GROUND, INK, LINE, QUIET, bare, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

WIDTH = 4.9
"""Inches of 72 units, as wide as a phone's column: text stays readable there, and grows elsewhere."""
KINDS_MOST = 30
_STAGE_WIDE = 30
"""A stage is one word, which nobody wants to see broken."""
_NAME_WIDE = 18
_NAME_LINES = 2
ANSWERS = (words.RIGHT, words.SCORE)
RANKINGS = (words.NDCG, words.RECALL)


def kinds(evaluation: Evaluation, metrics: Sequence[str] = ANSWERS) -> str:
    """Bars with interval whiskers: one panel per metric that the evaluation has, one bar per kind and one for all."""
    rows = [*evaluation.by_kind[:KINDS_MOST], evaluation.summary.model_copy(update={"name": "all"})]
    present = [metric for metric in metrics if metric in evaluation.summary.values]
    if not evaluation.by_kind or not present:
        return ""

    def paint(figure: "Figure") -> None:
        panels = figure.subplots(1, len(present), squeeze=False)[0]
        for place, (axes, metric) in enumerate(zip(panels, present, strict=True)):
            _bars(axes, rows, metric)
            bare(axes, [_named(words.kind(row.name)) for row in rows] if place == 0 else None)

    told = " and ".join(words.brief(metric) for metric in present)
    name = f"kinds-{present[0].partition('@')[0]}"
    return draw(name, (WIDTH, 0.8 + 0.36 * len(rows)), f"{told} by kind of question", _said(rows, present[0]), paint)


def ablation(evaluation: Evaluation, metric: str = words.NDCG) -> str:
    """Per way to run retrieval its mean, and beside it the paired difference to the one before."""
    rows = evaluation.ablation
    means = [row.values.get(metric) for row in rows]
    added = [row.added.get(metric) for row in rows]
    if not any(means):
        return ""

    def paint(figure: "Figure") -> None:
        left, right = figure.subplots(1, 2)
        _whiskered(left, means, [ACCENT] * len(rows))
        left.set_title(_wrapped(words.brief(metric)))
        bare(left, [_named(words.one_line(row.name)) for row in rows])
        _whiskered(right, added, [_tone(metric, one) for one in added])
        right.axvline(0, color=QUIET, linewidth=1)
        right.set_title("difference to\nthe row above")
        bare(right)

    told = "; ".join(
        f"{words.one_line(row.name)} {words.value(metric, mean.mean)}"
        for row, mean in zip(rows, means, strict=True)
        if mean is not None
    )
    title = f"{words.brief(metric)} as stages are added"
    return draw(f"ablation-{metric.partition('@')[0]}", (WIDTH, 0.9 + 0.42 * len(rows)), title, told, paint)


def risk_coverage(evaluation: Evaluation) -> str:
    """Share of wrong answers against share answered, with the allowed risk and the threshold that keeps to it."""
    curve = evaluation.risk_coverage
    if curve is None or not curve.points:
        return ""
    told = (
        f"From {words.percent(curve.points[0].coverage)} to {words.percent(curve.points[-1].coverage)} answered; "
        f"area under the curve {words.plain(curve.area)}."
    )
    return draw("risk", (WIDTH, 3.9), "Risk and coverage", told, lambda figure: _risk(figure.subplots(), curve))


def reliability(evaluation: Evaluation, of: str) -> str:
    """Stated against observed share, the diagonal that a calibrated number lies on, and how many stated it."""
    found = next((one for one in evaluation.reliability if one.of == of), None)
    if found is None or not any(part.n for part in found.bins):
        return ""
    place = [one.of for one in evaluation.reliability].index(of)
    told = f"Expected calibration error {words.plain(found.ece)}, Brier score {words.plain(found.brier)}."
    title = f"Reliability of {words.kind(of)}"
    return draw(f"reliability-{place}", (WIDTH, 3.9), title, told, lambda figure: _diagram(figure, found))


def latency(evaluation: Evaluation) -> str:
    """From the median to the 95th percentile per stage, on a logarithmic scale."""
    stages = [one for one in evaluation.latency if one.n and one.p50_ms > 0 and math.isfinite(one.p95_ms)]
    if not stages:
        return ""

    def paint(figure: "Figure") -> None:
        axes = figure.subplots()
        axes.set_xscale("log")
        for place, one in enumerate(stages):
            axes.plot([one.p50_ms, one.p95_ms], [place, place], color=ACCENT, linewidth=3, alpha=0.45, clip_on=False)
            axes.plot(one.p50_ms, place, "o", color=ACCENT, markersize=7, clip_on=False)
            axes.plot(one.p95_ms, place, "o", markerfacecolor=GROUND, color=ACCENT, markersize=7, clip_on=False)
        axes.xaxis.set_major_formatter(lambda number, _: f"{number:g} ms" if number < 1000 else f"{number / 1000:g} s")
        axes.xaxis.set_minor_locator(_nothing())
        bare(axes, [_named(words.one_line(one.stage), _STAGE_WIDE) for one in stages])

    told = "; ".join(f"{one.stage} {words.milliseconds(one.p50_ms)}" for one in stages)
    size = (WIDTH, 0.6 + 0.36 * len(stages))
    return draw("latency", size, "Time per stage, median (full) and 95th percentile (hollow)", told, paint)


def comparison(evaluation: Evaluation) -> str:
    """Difference of every metric to the run before, in hundredths, with its interval and the line of no change."""
    compared = evaluation.comparison
    if compared is None or not compared.changes:
        return ""
    changed = [change for change in compared.changes if math.isfinite(change.difference.mean)]

    def paint(figure: "Figure") -> None:
        axes = figure.subplots()
        tones = [BAD if change.worse else ACCENT if change.better else QUIET for change in changed]
        _whiskered(axes, [_hundredfold(change.difference) for change in changed], tones)
        axes.axvline(0, color=QUIET, linewidth=1)
        axes.set_xlabel("after minus before, in hundredths")
        bare(axes, [_named(words.brief(change.metric), 22) for change in changed])

    told = "; ".join(
        f"{words.label(change.metric)} {words.difference(change.metric, change.difference.mean)}" for change in changed
    )
    size = (WIDTH, 0.9 + 0.46 * len(changed))
    return draw("comparison", size, "Change of each metric against the run before", told, paint)


def _bars(axes: "Axes", rows: list[Row], metric: str) -> None:
    for place, row in enumerate(rows):
        one = row.values.get(metric)
        if one is None or one.n == 0 or not math.isfinite(one.mean):
            continue
        last = place == len(rows) - 1
        tone = BAD if one.mean < 0 else INK if last else ACCENT
        axes.barh(place, one.mean, height=0.58, color=tone, alpha=0.8, linewidth=0)
        axes.plot([one.low, one.high], [place, place], color=QUIET, linewidth=1.8, clip_on=False)
        axes.plot([one.low, one.high], [place, place], "|", color=QUIET, markersize=7, clip_on=False)
    low, high = words.bounds(metric)
    axes.set_xlim(low, high)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axvline(0, color=LINE, linewidth=1.4)
    ticks = [low + step * (high - low) / 2 for step in range(3)]
    axes.set_xticks(ticks, [_tick(metric, tick) for tick in ticks])
    axes.set_title(_wrapped(words.brief(metric)))


def _tick(metric: str, number: float) -> str:
    return words.percent(number) if words.is_share(metric) else f"{number:g}".replace("-", "−")


def _whiskered(axes: "Axes", estimates: list[Estimate | None], tones: list[str]) -> None:
    """A dot is hollow where its whisker is quiet: shape tells what colour tells."""
    for place, (one, tone) in enumerate(zip(estimates, tones, strict=True)):
        if one is None or not math.isfinite(one.mean):
            continue
        inside = GROUND if tone == QUIET else tone
        axes.plot([one.low, one.high], [place, place], color=tone, linewidth=2)
        axes.plot(one.mean, place, "o", color=tone, markerfacecolor=inside, markersize=7)
    axes.set_ylim(-0.6, len(estimates) - 0.4)
    axes.margins(x=0.08)
    axes.locator_params(axis="x", nbins=5)


def _risk(axes: "Axes", curve: RiskCoverage) -> None:
    points = sorted(curve.points, key=lambda point: point.coverage)
    axes.plot(
        [point.coverage for point in points],
        [point.risk for point in points],
        color=ACCENT, linewidth=2.2, drawstyle="steps-post", clip_on=False,
    )  # fmt: skip
    axes.axhline(curve.allowed, color=BAD, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.text(0.01, curve.allowed, f"allowed {words.percent(curve.allowed)}", color=BAD, va="bottom", fontsize=10)
    if curve.threshold is not None:
        at = min(points, key=lambda point: abs(point.coverage - curve.coverage))
        axes.axvline(curve.coverage, color=INK, linewidth=1, linestyle=(0, (1, 2)))
        axes.plot(at.coverage, at.risk, "o", color=INK, markersize=8, clip_on=False, zorder=5)
        left = curve.coverage > 0.5
        axes.annotate(
            f"confidence ≥ {words.plain(curve.threshold, 2)}",
            (curve.coverage, 1), xycoords=("data", "axes fraction"), xytext=(-6 if left else 6, -4),
            textcoords="offset points", ha="right" if left else "left", va="top", fontsize=10,
        )  # fmt: skip
    axes.set_xlim(0, 1)
    axes.set_ylim(0, max(curve.allowed * 2, *(point.risk for point in points)) * 1.1)
    axes.grid(True, axis="y")
    axes.locator_params(axis="y", nbins=5)
    axes.xaxis.set_major_formatter(lambda number, _: words.percent(number))
    axes.yaxis.set_major_formatter(lambda number, _: words.percent(number))
    axes.set_xlabel("share of questions answered")
    axes.set_ylabel("share of those wrong")


def _diagram(figure: "Figure", one: Reliability) -> None:
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    parts = [part for part in one.bins if part.n]
    upper.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle=(0, (4, 3)))
    for part in parts:
        upper.plot([part.said, part.said], [part.said, part.was], color=BAD, linewidth=1.4, alpha=0.7)
    upper.plot([part.said for part in parts], [part.was for part in parts], "o-", color=ACCENT, clip_on=False)
    upper.set_xlim(0, 1)
    upper.set_ylim(0, 1)
    upper.grid(True, axis="both")
    upper.set_ylabel("came true")
    upper.yaxis.set_major_formatter(lambda number, _: words.percent(number))
    for part in parts:
        width = part.high - part.low
        lower.bar(part.low + width / 2, part.n, width=width * 0.86, color=LINE, linewidth=0)
        lower.text(part.low + width / 2, part.n, str(part.n), ha="center", va="bottom", fontsize=9, color=QUIET)
    lower.set_yticks([])
    lower.margins(y=0.35)
    lower.set_ylabel("questions")
    lower.set_xlabel(f"stated {words.kind(one.of)}")
    lower.xaxis.set_major_formatter(lambda number, _: words.percent(number))


def _tone(metric: str, added: Estimate | None) -> str:
    if added is None or not words.excludes_zero(added):
        return QUIET
    return ACCENT if words.gain(metric, added.mean) > 0 else BAD


def _hundredfold(one: Estimate) -> Estimate:
    return Estimate(mean=one.mean * 100, low=one.low * 100, high=one.high * 100, n=one.n)


def _wrapped(title: str) -> str:
    """Over a panel that is a third of the drawing wide."""
    return "\n".join(wrap(title, 20))


def _named(name: str, wide: int = _NAME_WIDE) -> str:
    """A row's name on two lines at most."""
    return "\n".join(wrap(name, wide, max_lines=_NAME_LINES, placeholder="…"))


def _said(rows: list[Row], metric: str) -> str:
    told = [
        f"{words.kind(row.name)} {words.value(metric, row.values[metric].mean)}" for row in rows if metric in row.values
    ]
    return f"{words.label(metric)}: {'; '.join(told)}"


def _nothing() -> "NullLocator":
    from matplotlib.ticker import NullLocator as Nowhere

    return Nowhere()
