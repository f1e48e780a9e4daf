"""An evaluation as one HTML file that asks nothing of the network: style, script and drawings are inside.

Questions and answers are anybody's text: jinja2 escapes all of it, and the page's own policy lets no script run
but the one below and lets nothing be fetched, should an escape ever fail.
"""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from services.shared.contracts.evaluation import Evaluation, QuestionChange, Reliability
from services.shared.evaluation.report import plots, sentences, tables, words
from services.shared.evaluation.report.cases import Case, State, cases, counts
from services.shared.evaluation.report.tables import Table

if TYPE_CHECKING:
    from jinja2 import Template

QUESTIONS_MOST = 500
"""Shown whole, worst first; a file of twenty thousand would open in no browser."""
CHANGES_MOST = 100
CHANGES_OPEN = 8
RANKED_MOST = 10

_CARDS_MOST = 16
_TONES = {State.RIGHT: "good", State.FOUND: "good", State.WRONG: "bad", State.FAILED: "none", State.UNJUDGED: "none"}


@dataclass(frozen=True)
class Card:
    """A key figure. Places are in percent of the metric's range, for the strip that shows the interval."""

    name: str
    value: str
    interval: str
    n: int
    low: float
    high: float
    mean: float


@dataclass(frozen=True)
class Calibration:
    """One reliability diagram with its table."""

    title: str
    told: str
    plot: str
    table: Table | None


def html(evaluation: Evaluation) -> str:
    """The whole report; the same evaluation gives the same bytes."""
    listed = cases(evaluation)
    script, style = _part("report.js"), _part("report.css")
    rendered = _template().render(
        evaluation=evaluation,
        facts=sentences.facts(evaluation),
        notes=sentences.notes(evaluation),
        cards=_cards(evaluation),
        counts=[(state.value, number, _TONES.get(state, "mid")) for state, number in counts(listed)],
        total=len(listed),
        words=words,
        tones={state: _TONES.get(state, "mid") for state in State},
        anchors={case.question.id: case.anchor for case in listed[:QUESTIONS_MOST]},
        tables={
            "kinds": tables.by_kind(evaluation),
            "ablation": tables.ablation(evaluation),
            "risk": tables.risk_coverage(evaluation),
            "latency": tables.latency(evaluation),
            "agreement": tables.agreement(evaluation),
            "changes": tables.changes(evaluation),
            "system": tables.system(evaluation),
        },
        plots={
            "kinds": [plots.kinds(evaluation, metrics) for metrics in (plots.ANSWERS, plots.RANKINGS)],
            "ablation": [plots.ablation(evaluation, metric) for metric in plots.RANKINGS],
            "risk": plots.risk_coverage(evaluation),
            "latency": plots.latency(evaluation),
            "comparison": plots.comparison(evaluation),
        },
        threshold=sentences.threshold(evaluation.risk_coverage) if evaluation.risk_coverage else None,
        calibrations=[_calibration(evaluation, one) for one in evaluation.reliability],
        comparison=_compared(evaluation),
        cases=listed[:QUESTIONS_MOST],
        left_out=max(0, len(listed) - QUESTIONS_MOST),
        # The filter's own entry for all of them has the empty value.
        kinds=list(dict.fromkeys(question.kind for question in evaluation.questions if question.kind)),
        changes_open=CHANGES_OPEN,
        ranked_most=RANKED_MOST,
        judged=_judged,
        is_gold=_is_gold,
        script=script,
        style=style,
        policy=_policy(script),
    )
    # After escaping: none of the page's own markup, style and script holds what this takes out.
    return words.visible(rendered)


def _cards(evaluation: Evaluation) -> list[Card]:
    cards = []
    for metric in tables.metrics_of([evaluation.summary])[:_CARDS_MOST]:
        one = evaluation.summary.values[metric]
        low, high = words.bounds(metric)

        def place(number: float, low: float = low, high: float = high) -> float:
            return round(min(1.0, max(0.0, (number - low) / (high - low))) * 100, 1)

        cards.append(
            Card(
                words.label(metric),
                words.value(metric, one.mean),
                words.interval(metric, one),
                one.n,
                place(one.low),
                place(one.high),
                place(one.mean),
            )
        )
    return cards


def _calibration(evaluation: Evaluation, one: Reliability) -> Calibration:
    told = f"Expected calibration error {words.plain(one.ece)}, Brier score {words.plain(one.brier)}."
    return Calibration(
        words.kind(one.of), told, plots.reliability(evaluation, one.of), tables.reliability(evaluation, one.of)
    )


def _compared(evaluation: Evaluation) -> dict[str, Any] | None:
    """Verdict in words, and the questions that came out differently by direction."""
    comparison = evaluation.comparison
    if comparison is None:
        return None
    title, told = sentences.verdict(comparison)

    def moves(better: bool) -> tuple[list[tuple[QuestionChange, list[str]]], int]:
        changed = [one for one in comparison.questions if one.better is better]
        return [(one, sentences.moved(one)) for one in changed[:CHANGES_MOST]], len(changed)

    return {
        "title": title,
        "told": told,
        "pairing": sentences.pairing(comparison),
        "vetoed": comparison.vetoed,
        "groups": [("Got worse", *moves(False)), ("Got better", *moves(True))],
    }


def _judged(case: Case) -> list[tuple[str, str]]:
    """The question's own values, in words."""
    values = case.outcome.values if case.outcome else {}
    return [(words.brief(name), words.value(name, values[name])) for name in sorted(values, key=tables.place)]


def _is_gold(case: Case, ranked: str) -> bool:
    """Whether the passage is of a document that holds the answer."""
    document = ranked.split(" > ", 1)[0]
    return any(span.document_id == document for span in case.question.gold)


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"


@cache
def _part(name: str) -> str:
    return files("services.shared.evaluation").joinpath("report", name).read_text(encoding="utf-8")


@cache
def _template() -> "Template":
    from jinja2 import DictLoader, Environment, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=DictLoader({"template.html": _part("template.html")}),
    )
    return environment.get_template("template.html")
